// The elementary functions, sin to cbrt, written in the kernel language: straight-line code without
// branches or tables, so that every back end and every vector width computes the same bits.
//
// Errors, ranges and special values: elementary.md. Constants: elementary_constants.hpp.
#pragma once

#include "engine/ir/kernel.hpp"

namespace hindcast::lang {

// Records the expansion of one elementary op through the builder that is current on this thread
// (Tracing), in core ops of the operands' type: add, sub, mul, fma, div, neg, sqrt, abs, floor,
// comparisons, select, bitcast, bit operations and shifts by constants below the width.
// `b` is the second operand of atan2 and pow, otherwise no_value.
ir::Value expand_elementary(ir::OpCode code, ir::Value a, ir::Value b);

}  // namespace hindcast::lang
