// batch: many copies of one launch as one kernel. The item of the new kernel is the member, and the
// items of the source are a loop inside, so that members lie side by side in SIMD lanes and what
// control flow and indices have in common is computed once:
//
//     kernel K over n items                 batch(K) over B members
//     x[e].c                                X[(e * element_stride + c * component_stride) * B + m]
//
// Each member gets the bits of a launch of its own: an item's sums are added in order of item, a
// reduction goes through the lanes of a chunk as executable.hpp defines it. Parameters that are the
// same for all members stay as they are.
#pragma once

#include <cstdint>
#include <span>

#include "engine/ir/kernel.hpp"

namespace hindcast::ir {

// The layout of one parameter in the batched kernel.
struct BatchParameter {
    bool shared = false;              // one memory for all members: only read
    int buffer = -1;                  // else: the first parameter that is bound to this memory
    std::int64_t element_stride = 0;  // of one member's memory, in scalars
    std::int64_t component_stride = 1;
};

inline constexpr std::int64_t most_batched_items = 1024;  // one chunk of a reduction

// Parameters keep their names and order. A shared one is as in the source; another has one
// component, an element per scalar of a member and member (f64 for a Param or Reduce), and is Read
// or Exclusive. A Sum is not cleared. Throws Error for more items, atomic operations, and a shared
// parameter that is written.
Kernel batch(const Kernel& kernel, std::int64_t items, std::int64_t members,
             std::span<const BatchParameter> parameters);

}  // namespace hindcast::ir
