// The types of a kernel's parameters in memory.
#pragma once

#include "engine/ir/kernel.hpp"

namespace hindcast::ir {

// Bound to one element whatever the item: launch parameters and the targets of Reduce.
inline bool is_single(const Parameter& p) {
    return p.access == Access::value || p.access == Access::reduce;
}

// True if a launch leaves the bound array unchanged.
inline bool only_reads(Access access) { return access == Access::read || access == Access::value; }

// The type of one component in memory: single reals are f64 in both precisions.
inline Type memory_type(const Parameter& p) {
    return is_single(p) && is_real(p.type) ? Type::f64 : p.type;
}

}  // namespace hindcast::ir
