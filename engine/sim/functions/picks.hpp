// Choices of what to read or write: an array itself, its gradient, its tangents.
#pragma once

#include "engine/runtime/array/array.hpp"

namespace hindcast::pick {

using Pick = Array (*)(const Array&);
inline Array itself(const Array& a) { return a; }
inline Array tangent(const Array& a) { return a.tangent(); }
inline Array second_tangent(const Array& a) { return a.second_tangent(); }
// The tangent's second tangent: of a second derivative along two directions.
inline Array mixed_tangent(const Array& a) { return a.tangent().second_tangent(); }
inline Array gradient(const Array& a) { return a.gradient(); }
inline Array gradient_tangent(const Array& a) { return a.gradient().tangent(); }

}  // namespace hindcast::pick
