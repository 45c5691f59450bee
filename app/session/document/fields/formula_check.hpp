// Formulas of values, checked while they are typed.
#pragma once

#include <string>

namespace hindcast::session {

// The fault of the formula, with its place; "" if it can be read.
std::string formula_fault(const std::string& formula);
// The names and functions that a formula may use, for a tooltip.
std::string formula_names();

}  // namespace hindcast::session
