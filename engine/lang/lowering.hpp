// Late expansion: composite ops into the few that every back end has, written in the language
// itself, so that every back end computes the same bits. Runs after differentiation (derivative
// rules know the composite ops).
#pragma once

#include "engine/ir/kernel.hpp"

namespace hindcast::lang {

enum class Lowering {
    elementary,  // expand sin, exp, pow, ... only: for the interpreter, which evaluates all else
                 // itself
    all          // also min, max, mulz, divz, norm2, norm3, integer div, rem, shifts, variable: for
                 // compiled back ends
};

// The lowered kernel, simplified and verified. Same parameters.
ir::Kernel lower(const ir::Kernel& kernel, Lowering lowering);

}  // namespace hindcast::lang
