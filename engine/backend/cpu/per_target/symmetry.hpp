// Kernels that look the same from both ends.
//
// An item that adds to two targets (a spring to its two points) is symmetric if what it adds to one
// end is what it would add to the other with the ends exchanged: f(a, b) on a and f(b, a) on b. A
// loop over targets then need not know which end of the item it is at.
//
// "The same" is exact but for the sign of a zero: b - a is the negative of a - b, but both are +0
// where they meet. A sum that does not start at -0 is not changed by the sign of a zero term.
#pragma once

#include <vector>

#include "engine/backend/plan/plan.hpp"

namespace hindcast::backend::cpu {

// `rows`: of each of these accumulated parameters two, with the same two indices. False where it
// cannot be shown: loops, branches, what is read at other indices that depend on the ends.
bool is_symmetric(const Plan& plan, const std::vector<int>& symbols);

}  // namespace hindcast::backend::cpu
