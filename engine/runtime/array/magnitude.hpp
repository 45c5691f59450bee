// The largest magnitude in an array, as fast as its memory is read.
#pragma once

#include "engine/runtime/array/array.hpp"

namespace hindcast {

// The largest |value| of an array of reals: NaN or infinite if a value is. 0 for integers.
double largest_magnitude(const Array& array);

}  // namespace hindcast
