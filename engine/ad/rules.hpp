// The derivative column of the op table: one rule per op, linear in the seed, serving reverse and
// forward mode.
#pragma once

#include <vector>

#include "engine/ir/builder.hpp"

namespace hindcast::ad {

// Whether the result of an op depends differentiably on operand i.
bool differentiable(const ir::Kernel& kernel, const ir::Op& op, int i);

// Whether the op has points where a derivative is infinite although its operands are finite, and a
// seed of zero gives zero there (divz). Quotients are none of them: one by zero has no value.
bool singular(ir::OpCode code);

// Records seed * d result / d operand_i and returns it. `operands` and `result` are the primal
// values in `builder`. `gated` marks ops of which a factor may be infinite where the other is zero:
// their products use mulz (see rules.cpp and Activity).
ir::Value contribution(ir::Builder& builder, const ir::Op& op, int i, ir::Value seed,
                       const std::vector<ir::Value>& operands, ir::Value result, bool gated);

}  // namespace hindcast::ad
