// EntryTables: the tables of a loop over targets (target_loop.hpp), made once per version of the
// indices, and the copies of what items read in the order of the entries.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/backend/binding.hpp"
#include "engine/backend/cpu/per_target/target_kernel.hpp"
#include "engine/backend/plan/inverse_index.hpp"

namespace hindcast::backend::cpu {

// An own element of the items, in the order of the entries.
struct ColumnCopy {
    Binding from;
    AlignedBuffer<char> memory;
};

struct EntryTable {
    std::vector<std::uint64_t> key;
    std::int64_t slots = 0;
    std::int64_t distance = 0;  // the longest between two ends of an item
    bool fits = false;
    AlignedBuffer<std::int32_t> most;  // entries of a target: the most in 16, at the first
    AlignedBuffer<std::int32_t> degree, item, row, other;
    // [block][slot], where all 16 targets agree: other - target; in symmetric loops also item -
    // target, where the target is the item's first row.
    AlignedBuffer<std::int32_t> run, term_run;
    std::vector<ColumnCopy> copies;  // per column
    // Blocks of targets, so that a walk through all entries reads memory in one stream.
    std::size_t cell(std::int64_t target, std::int64_t slot) const {
        const std::int64_t lane = target % block_targets;
        return static_cast<std::size_t>((target - lane) * slots + slot * block_targets + lane);
    }
    // For so many targets, padded.
    std::int64_t cells(std::int64_t stride) const { return slots * stride; }
};

class EntryTables {
public:
    // The kernel outlives it.
    explicit EntryTables(const TargetKernel& kernel)
        : kernel_(kernel), inverse_(kernel.plan, kernel.symbols.front()) {}

    // The table of a launch, with its copies; nullptr: it cannot be one.
    const EntryTable* find(const Binding* bindings, std::int64_t items);
    // Launches in a row that had to copy real values again.
    int copied() const { return copied_; }

private:
    void make(const Binding* bindings, std::int64_t items, EntryTable& table);
    void find_other_ends(std::int64_t targets, std::int64_t items, EntryTable& table) const;
    template <class F>
    AlignedBuffer<std::int32_t> runs_of(std::int64_t targets, const EntryTable& table,
                                        const F& run) const;
    AlignedBuffer<std::int32_t> neighbor_runs(std::int64_t targets, const EntryTable& table) const;
    AlignedBuffer<std::int32_t> term_runs(std::int64_t targets, const EntryTable& table) const;
    void copy_columns(const Binding* bindings, EntryTable& table);

    const TargetKernel& kernel_;
    InverseIndex inverse_;
    std::vector<std::unique_ptr<EntryTable>> tables_;  // the last one used first
    int copied_ = 0;
};

}  // namespace hindcast::backend::cpu
