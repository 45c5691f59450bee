// The camera's own axes, of length 1.
#pragma once

#include "app/exchange/stage.hpp"

namespace hindcast::render {

struct Axes {
    Vec3 right{}, up{}, forward{};
    double distance = 1;      // from the eye to the target, m
    double half_tangent = 1;  // of half the vertical field of view
};
// Always a proper basis, whatever the camera holds.
Axes axes_of(const Camera& camera);

}  // namespace hindcast::render
