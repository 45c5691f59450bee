// Sums of a kernel whose launches have one item: nothing has to be agreed upon with other items.
#pragma once

#include "engine/ir/kernel.hpp"

namespace hindcast::ir {

// True if it adds real numbers at an index that it computes. Even an index known before the launch
// may differ between launches, if it contains the number of the step.
bool adds_at_computed_index(const Kernel& kernel);

// The same kernel with its Accumulate parameters as Exclusive: terms are added one after the other, as
// they come, where sums at any index would else be in fixed point. For launches of one item, and
// parameters that are not bound to the same memory.
Kernel with_own_sums(const Kernel& kernel);

}  // namespace hindcast::ir
