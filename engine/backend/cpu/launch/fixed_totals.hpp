// The pass behind a launch with sums in fixed point: adds up the integers of all threads, makes
// numbers of the totals, adds them to the target (or stores them), and leaves zeros behind.
#pragma once

#include <cstdint>
#include <span>

#include "engine/backend/binding.hpp"
#include "engine/backend/plan/fixed_point.hpp"

namespace hindcast::backend::cpu {

// The target of the totals of a group of up to four components. An element has `stride` integers in
// memory, of which the group's come first; in f64 its low limbs stand `limb` behind them.
struct TotalsTarget {
    Binding binding;
    FixedScale scale;
    ir::Type type;
    int components, group;  // of the parameter; number of the group
    int stride, limb;
    bool defines;  // stores them, zeros as well

    template <class T>
    T* numbers() const {  // component 0 of the group in element 0
        return static_cast<T*>(binding.data) + 4 * binding.component_stride * group;
    }
};

// For elements begin .. end-1; sources[s]: the group's integers of element 0. Those are zero
// afterward. The values are those of fixed_value(), whatever the machine has.
void add_totals(const TotalsTarget& target, std::span<std::int64_t* const> sources,
                std::int64_t begin, std::int64_t end);

}  // namespace hindcast::backend::cpu
