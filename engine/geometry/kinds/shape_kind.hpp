// The kinds of shapes. Numbers are MuJoCo's.
#pragma once

namespace hindcast::geometry {

enum class ShapeKind : int {
    plane = 0,
    height_field = 1,
    sphere = 2,
    capsule = 3,
    ellipsoid = 4,
    cylinder = 5,
    box = 6,
    mesh = 7,
    distance_field = 8,
    cone = 9  // not in MuJoCo
};

}  // namespace hindcast::geometry
