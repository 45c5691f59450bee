// Late expansion: composite ops into the few that every back end has, written in the language
// itself, so that every back end computes the same bits. Runs after differentiation (derivative
// rules know the composite ops), once, just before a back end reads the kernel.
//
// Elementary functions: elementary.md has their errors. All others compute exactly what
// ../ir/evaluate.hpp says.
#pragma once

#include "engine/ir/kernel.hpp"

namespace hindcast::lang {

enum class Lowering {
    elementary,  // expands sin, exp, pow, ... only: for the interpreter, which evaluates all else
    // Also min, max, mulz, mulg, divz, norm2, norm3, abs, div, rem of integers, shifts and
    // variable: for compiled back ends. Remaining div and rem have no divisor 0 and, if signed,
    // none of -1; remaining shifts have an amount below the width. Conversions are the back end's.
    all
};

// The lowered kernel, simplified and verified. Same parameters; ops keep their source places.
ir::Kernel lower(const ir::Kernel& kernel, Lowering lowering);

}  // namespace hindcast::lang
