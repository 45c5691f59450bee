// GivenKernels: the kernels of a launch whose derivatives are given, not derived, such as those of a
// search whose result follows from the implicit function theorem. They are kernels like every other:
// programs fuse them with what stands around them, ensembles run them in SIMD lanes.
#pragma once

#include <string>
#include <vector>

#include "engine/ir/kernel.hpp"
#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

class GivenKernels {
public:
    virtual ~GivenKernels() = default;
    // Its parameters are those of the forward kernel, and of what is active, by the names that
    // ad/differentiate.hpp gives them: "x.a1" the gradient of x, "x.t1" its tangent, and so on. In
    // an adjoint, a parameter that the forward kernel writes is a Read that may have holds_result.
    // `active`: as in Launch::differentiate_only; empty: everything that has a derivative.
    virtual ir::Kernel kernel(Direction direction,
                              const std::vector<std::string>& active) const = 0;
};

}  // namespace hindcast
