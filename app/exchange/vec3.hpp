// Vectors of three numbers, for what is drawn and where the mouse is.
#pragma once

#include "engine/base/vec3.hpp"

namespace hindcast::render {

using numeric::cross;
using numeric::dot;
using numeric::minus;
using numeric::normalized;
using numeric::plus;
using numeric::Vec3;

}  // namespace hindcast::render
