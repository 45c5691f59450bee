// Fusion of adjacent launches: calls of a schedule that go over the same items and, but for their
// own elements, do not hand anything to each other become one call, forwards and backwards, with
// the same bits (ir/fuse.hpp states what is legal).
//
// Calls that add to other items' elements in a direction stay alone: such sums are pulled by loops
// over the targets (backend/cpu/per_target/target_loop.hpp), which what else an item computes would
// only slow down. So does a call before which an adjoint's value must be saved that an earlier one
// of the group has just written, and one that is recomputed where its neighbor is not. A group
// ends where it would take long to compile.
#pragma once

#include "engine/runtime/schedule/schedule.hpp"

namespace hindcast {

// For a list whose saves, restores and recomputed calls are settled. `backward`: it has adjoints.
void fuse_calls(Calls& calls, bool backward);

}  // namespace hindcast
