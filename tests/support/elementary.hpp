// A table of elementary functions for tests, from the C library: tests compare with the same
// functions.
#pragma once

#include <cmath>

#include "engine/document/formula.hpp"

namespace hindcast::test {

inline document::ElementaryTable elementary_of_the_c_library() {
    document::ElementaryTable table;
    table.sin = std::sin;
    table.cos = std::cos;
    table.tan = std::tan;
    table.asin = std::asin;
    table.acos = std::acos;
    table.atan = std::atan;
    table.sinh = std::sinh;
    table.cosh = std::cosh;
    table.tanh = std::tanh;
    table.exp = std::exp;
    table.expm1 = std::expm1;
    table.log = std::log;
    table.log1p = std::log1p;
    table.cbrt = std::cbrt;
    table.pow = std::pow;
    table.atan2 = std::atan2;
    return table;
}

}  // namespace hindcast::test
