// Accumulation by pulling: the loop over items turned into a loop over targets.
//
// If an index is static, the items that add to a target are known before the launch. The pulled
// kernel runs over the targets; each walks through its entries in order of item, evaluates what the
// item adds to it, and stores the sum: the same terms in the same order as the definition, so the
// same bits, without atomics, scratch memory or a second pass. Every item is evaluated once for
// each of its rows (a spring twice), which pays where an item's own work is small.
//
// The entries stand in tables [block of 16 targets][slot][target], padded so that whole vectors may
// be read: which row of which item, and copies of the values that an item reads at its own index
// (the ends and the rest length of a spring), in the order in which the targets walk. They are made
// once per version of the buffers. All lanes of a vector walk through the same number of slots; a
// padded slot holds the first item's values, is evaluated and is not added.
//
// With two rows, a load at the index of a row is the target's own element for one of them and that
// of the other end for the other: one gather instead of two. It is made one slot ahead, since a
// processor that waits for it cannot look far enough for other work. If the other ends of a block's
// targets lie side by side, as they do in regular meshes, they are loaded as a vector: a table of
// runs, with an entry for each block and slot, tells.
//
// If the item looks the same from both ends (symmetry.hpp), the target is taken for the first of
// them. Only a sum that was -0 and ends at 0 depends on more: its target walks through its entries
// again.
//
// If every row's index is the item plus a constant (the adjoint of a stencil), no table is needed:
// the target's entries are the items at the negative offsets, one copy of the body each. Nearly all
// targets have all their items: they have a kernel without conditions.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/backend/binding.hpp"
#include "engine/backend/plan/inverse_index.hpp"

namespace hindcast::ir {
class Builder;
}

namespace hindcast::backend::cpu {

class TargetLoop {
public:
    // `symbols` of the planned kernel have the same rows. `copies`: real values that items read at
    // their own index come from tables; otherwise they are gathered. `reduced`: reduce ops whose
    // terms are stored on the way, each at the first row of its item.
    TargetLoop(const Plan& plan, std::vector<int> symbols, bool copies,
               std::vector<ir::Value> reduced);

    // Over the targets. Its parameters are those of the planned kernel and then the tables.
    const ir::Kernel& kernel() const { return kernel_; }
    // If shifted(): the same for targets in inside() only, a range of those that have all items.
    const ir::Kernel& inner() const { return inner_; }
    std::pair<std::int64_t, std::int64_t> inside() const;  // of the launch bound last
    bool pays() const { return pays_; }
    bool shifted() const { return !shifts_.empty(); }

    // The bindings of the pulled kernel. `make` finds or makes the tables; without it only counts
    // and strides are right. Empty: this launch cannot be pulled (an array shorter than the
    // targets, few targets with very many entries).
    const std::vector<Binding>& bind(const Binding* bindings, std::int64_t items, bool make);
    Form form(const std::vector<Binding>& bindings) const;
    std::int64_t targets() const { return targets_; }
    // True if buffer `symbol` is read only at the index of the target and of the other ends of its
    // entries, which are at most distance() away in the launch bound last.
    bool reads_near(int symbol) const;
    std::int64_t distance() const { return distance_; }
    // The terms of a reduce op, one per item.
    Binding terms(std::size_t reduced) const;
    // Launches in a row that had to copy real values again.
    int copied() const { return copied_; }

private:
    struct Shift {
        std::int64_t offset;  // index = item + offset
        std::size_t row;
    };
    struct Column {  // an own element of the items, copied in the order of the entries
        int symbol, component, parameter;
    };
    struct Copy {
        const void* data = nullptr;
        std::uint64_t version = 0;
        std::int64_t element_stride = 0, component_stride = 0;
        AlignedBuffer<char> memory;
    };
    struct Table {
        std::vector<std::uint64_t> key;
        std::int64_t slots = 0;
        std::int64_t distance = 0;  // the longest between two ends of an item
        bool fits = false;
        AlignedBuffer<std::int32_t> most;  // entries of a target: the most in 16, at the first
        AlignedBuffer<std::int32_t> degree, item, row, other;
        // [block][slot], where all 16 targets agree: other - target; in mirrored loops also item -
        // target, where the target is the item's first row.
        AlignedBuffer<std::int32_t> run, term_run;
        std::vector<Copy> copies;  // per column
        // Blocks of targets, so that a walk through all entries reads memory in one stream.
        std::size_t cell(std::int64_t target, std::int64_t slot) const {
            const std::int64_t lane = target % block_targets;
            return static_cast<std::size_t>((target - lane) * slots + slot * block_targets + lane);
        }
        // For so many targets, padded.
        std::int64_t cells(std::int64_t stride) const { return slots * stride; }
    };
    static constexpr int block_targets = most_lanes;
    static constexpr std::int32_t no_run = INT32_MIN, no_term = INT32_MIN + 1;
    class Body;

    void walk_all(ir::Builder& builder, bool copies);
    void walk(ir::Builder& builder, Body& body) const;
    bool worth_it() const;
    void find_shifts();
    ir::Kernel record(bool copies, bool checked);
    void make_table(const Binding* bindings, std::int64_t items, Table& table);
    void find_runs(Table& table) const;
    void find_term_runs(Table& table) const;
    void copy_columns(const Binding* bindings, Table& table);
    template <class Word>
    void copy_column(const Binding& from, int component, const Table& table, Word* to) const;

    const Plan& plan_;
    std::vector<int> symbols_;
    const std::vector<Row>& rows_;
    InverseIndex gather_;
    ir::Kernel kernel_, inner_;
    bool pays_ = false;
    bool pairs_ = false;         // two rows: the table `other`
    int other_components_ = 1;   // in which its entries are counted, instead of elements
    bool mirrored_ = false;      // symmetry.hpp; the table `row` holds the item in row 0, else -1
    int passes_ = 1;             // loops over the entries
    std::vector<Shift> shifts_;  // in the order in which a target meets them; empty: tables
    std::int32_t item_count_ = 0;
    std::vector<int> at_target_;  // buffers that are read at the target's index
    std::vector<int> elsewhere_;  // and at others than those of targets
    std::vector<Column> columns_;
    std::vector<ir::Value> reduced_;
    std::vector<AlignedBuffer<char>> terms_;  // per reduced op
    int slots_parameter_ = 0, items_parameter_ = 0, most_ = 0, degree_ = 0, item_ = 0, row_ = 0,
        other_ = 0, run_ = 0, term_run_ = 0, first_terms_ = 0;
    std::int64_t targets_ = 0, items_ = 0, distance_ = 0;
    std::int64_t stride_ = 0;  // targets, padded
    std::int32_t more_slots_ = 0;
    int copied_ = 0;
    std::vector<std::unique_ptr<Table>> tables_;  // the last one used first
    std::vector<Binding> bindings_;
};

// The pulled parts of a kernel, and the rest, which runs after them and may change their input.
struct PerTarget {
    std::vector<std::vector<int>> groups;  // accumulated parameters, by their rows
    std::vector<ir::Value> reduced;        // their terms come from the first group
    ir::Kernel rest;        // without the sums; reads the terms from further parameters
    bool has_rest = false;  // it has effects
};
// Empty groups: nothing is pulled. `plan` must be for the usual form.
PerTarget split_per_target(const Plan& plan);

}  // namespace hindcast::backend::cpu
