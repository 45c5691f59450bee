// Zero guards: an adjoint multiplies so that 0 stays 0, even against infinity (mulz, mulg, divz). A
// guard is a comparison and a selection for a case that hardly ever comes.
//
// Without its guard such a product is the same, but for the sign of a zero, or it is NaN where it
// should have been 0. Where a NaN reaches a sum, who looks at the sums afterwards knows whether the
// guards were needed.
#pragma once

#include <vector>

#include "engine/ir/kernel.hpp"

namespace hindcast::backend::cpu {

struct Unguarded {
    ir::Kernel kernel;  // the same values, of which other ones are used
    bool changed = false;
};

// Leaves out the guards of which it can be shown: if what one of `sums` (accumulate ops outside all
// regions) adds is not NaN, what `used` effects (these and others) store is the same as with them,
// but for the sign of a zero. Kernels with regions are left as they are.
Unguarded without_guards(const ir::Kernel& kernel, const std::vector<ir::Value>& sums,
                         const std::vector<ir::Value>& used);

}  // namespace hindcast::backend::cpu
