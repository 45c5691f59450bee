// What of a program depends on given arrays: only that has derivatives.
#pragma once

#include <set>
#include <vector>

#include "engine/runtime/program/program.hpp"

namespace hindcast {

using Varying = std::set<const void*>;  // arrays, by their data

// Each launch of these programs, which run in any order, differentiates the arguments that depend
// on `varies`. What its kernel computes from constants alone (an inverse mass beside an initial
// velocity) does not vary with its other results.
void differentiate_what_varies(const std::vector<Program>& programs, Varying varies);

}  // namespace hindcast
