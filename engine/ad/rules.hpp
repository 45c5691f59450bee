// The derivative column of the op table: one rule per op, linear in the seed, serving reverse and
// forward mode.
#pragma once

#include <vector>

#include "engine/ir/builder.hpp"

namespace hindcast::ad {

// Whether the result of an op depends differentiably on operand i.
bool differentiable(const ir::Kernel& kernel, const ir::Op& op, int i);

// Records seed * d result / d operand_i and returns it. `operands` and `result` are the primal
// values in `builder`. `gated` marks ops whose adjoint flows through a select, min or max: their
// products use mulz, so that a branch that was not taken contributes zero even where its own
// derivative is infinite.
ir::Value contribution(ir::Builder& builder, const ir::Op& op, int i, ir::Value seed,
                       const std::vector<ir::Value>& operands, ir::Value result, bool gated);

}  // namespace hindcast::ad
