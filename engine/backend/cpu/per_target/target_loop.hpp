// Accumulation per target: the loop over items turned into a loop over targets.
//
// If an index is static, the items that add to a target are known before the launch. The kernel
// runs over the targets; each walks through its entries in order of item, evaluates what the item
// adds to it, and stores the sum: the same terms in the same order as the definition, so the
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
#include <utility>
#include <vector>

#include "engine/backend/cpu/per_target/entry_tables.hpp"

namespace hindcast::backend::cpu {

class TargetLoop {
public:
    // `symbols` of the planned kernel have the same rows. `copies`: real values that items read at
    // their own index come from tables; otherwise they are gathered. `reduced`: reduce ops whose
    // terms are stored on the way, each at the first row of its item.
    TargetLoop(const Plan& plan, std::vector<int> symbols, bool copies,
               std::vector<ir::Value> reduced)
        : kernel_(plan, std::move(symbols), copies, std::move(reduced)),
          tables_(kernel_),
          terms_(kernel_.reduced.size()) {}
    TargetLoop(const TargetLoop&) = delete;
    TargetLoop& operator=(const TargetLoop&) = delete;

    // Over the targets. Its parameters are those of the planned kernel and then the tables.
    const ir::Kernel& kernel() const { return kernel_.kernel; }
    // If shifted(): the same for targets in inside() only, a range of those that have all items.
    const ir::Kernel& inner() const { return kernel_.inner; }
    std::pair<std::int64_t, std::int64_t> inside() const;  // of the launch bound last
    bool shifted() const { return kernel_.shifted(); }

    // The bindings of the kernel. `make` finds or makes the tables; without it only counts and
    // strides are right. Empty: this launch cannot run over targets (an array shorter than those,
    // few targets with very many entries).
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
    int copied() const { return tables_.copied(); }

private:
    TargetKernel kernel_;
    EntryTables tables_;
    std::vector<AlignedBuffer<char>> terms_;  // per reduced op
    // Figures of the launch bound last.
    std::int64_t targets_ = 0, items_ = 0, distance_ = 0;
    std::int32_t item_count_ = 0, more_slots_ = 0;
    std::vector<Binding> bindings_;
};

// The loops over targets of a kernel, and the rest, which runs after them and may change their
// input.
struct PerTarget {
    std::vector<std::vector<int>> groups;  // accumulated parameters, by their rows
    std::vector<ir::Value> reduced;        // their terms come from the first group
    ir::Kernel rest;        // without the sums; reads the terms from further parameters
    bool has_rest = false;  // it has effects
};
// Empty groups: all sums stay with the items. `plan` must be for the usual form.
PerTarget split_per_target(const Plan& plan);

}  // namespace hindcast::backend::cpu
