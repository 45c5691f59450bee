// The derivative column of the op table: one rule per op, linear in the seed, serving reverse and
// forward mode.
#pragma once

#include <vector>

#include "engine/ir/builder.hpp"

namespace hindcast::ad {

// True if the result of an op depends differentiably on operand i.
bool differentiable(const ir::Kernel& kernel, const ir::Op& op, int i);

// True if the derivative by operand i is infinite at some points although the operands and the
// result are finite: for sqrt, cbrt, asin, acos and pow.
bool singular(const ir::Kernel& kernel, const ir::Op& op, int i);

// Records seed * d result / d operand_i and returns it. `operands` and `result` are the primal
// values in `builder`. `gated` says that the seed may be infinite where the derivative is zero, or
// the zero of a branch that was not taken where the derivative is infinite: the product is mulz,
// zero in both cases.
ir::Value contribution(ir::Builder& builder, const ir::Op& op, int i, ir::Value seed,
                       const std::vector<ir::Value>& operands, ir::Value result, bool gated);

// Throws: an op that overwrites an element of a local array has no derivative.
[[noreturn]] void refuse_put(const ir::Kernel& kernel, ir::Value put);

}  // namespace hindcast::ad
