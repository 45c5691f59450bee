// Selects the launches' arguments that depend on given arrays: only they have derivatives.
#pragma once

#include <set>
#include <vector>

#include "engine/runtime/program/program.hpp"

namespace hindcast {

using Varying = std::set<const void*>;  // arrays, by their data

// Each launch of these programs, which run in any order, differentiates the arguments that depend
// on `varies`. Results that its kernel computes from constants alone (an inverse mass beside an
// initial velocity) do not vary with its other results.
void differentiate_what_varies(const std::vector<Program>& programs, Varying varies);

}  // namespace hindcast
