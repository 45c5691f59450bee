// Kernel -> kernel: reverse mode (adjoint) and forward mode (tangent). The results are ordinary
// kernels: the adjoint of an adjoint, or the tangent of an adjoint (Hessian-vector products), needs
// nothing special.
//
// adjoint(K) has K's parameters first (buffers as Read: the version before the launch), then for
// each active one x its adjoint x.a1 with the dual access:
//     Read -> Accumulate      Write, ReadWrite -> ReadWrite      Accumulate, Sum -> Read WriteSlice
//     -> WriteSlice Reduce -> Param         Param -> Reduce
// It adds to the adjoints of inputs; the adjoint of an own element or slice element that was stored
// is taken and cleared. A Sum clears its array first, so the caller clears its adjoint after the
// launch. The second derivative's names are x.a1.a2 and so on. Parameters that no op uses any more
// need not be bound (used_parameters).
//
// tangent(K) is K with a tangent x.t1 of the same access behind the parameters, for each active
// parameter.
#pragma once

#include <string>
#include <vector>

#include "engine/ir/kernel.hpp"

namespace hindcast::ad {

// Tapes (values a loop's adjoint stores per trip) may take this much per work item; beyond it is an
// error.
inline constexpr std::int64_t tape_limit_bytes = std::int64_t{256} * 1024;

// `active` names the real parameters that have adjoints (tangents); empty means all real ones.
ir::Kernel adjoint(const ir::Kernel& kernel, const std::vector<std::string>& active = {});
ir::Kernel tangent(const ir::Kernel& kernel, const std::vector<std::string>& active = {});

// The name of a parameter's adjoint or tangent in adjoint(kernel), tangent(kernel).
std::string adjoint_name(const ir::Kernel& kernel, const std::string& parameter);
std::string tangent_name(const ir::Kernel& kernel, const std::string& parameter);
// The access of the adjoint of a parameter.
ir::Access dual(ir::Access access);
// Per parameter: whether any op uses it.
std::vector<char> used_parameters(const ir::Kernel& kernel);

}  // namespace hindcast::ad
