// A string from one point to another that a round thing is in the way of (MuJoCo, "tendon/spatial/geom"):
// the shortest path that does not enter a circle in a plane, and the points where it meets and leaves
// it; or, where the string has to pass the inside, the shortest path by way of a point of the circle.
//
// In the plane the path is straight, or two tangents and an arc. Around the circle it takes the
// direction of the straight line, or, with a point beside the circle, of the broken line by way of
// this point: they turn about the center by the same angle t. With tangents that see the center
// under angles a and b the arc is |t| - a - b, where that is positive; else the path is straight.
#pragma once

#include "engine/lang/kernel.hpp"

namespace hindcast::articulated {

using namespace lang;

struct Wrap {
    Bool touches;        // else the path is straight and the others are any numbers
    Vec3 first, second;  // where it meets the surface, and where it leaves it: m
    Float along;         // the way between them: m
};

struct Obstacle {
    bool is_sphere = true;       // else a cylinder without ends, along the third axis
    Vec3 place;                  // m, in the world
    Mat3 axes;                   // its columns
    Float radius;                // m
    const Vec3* side = nullptr;  // a place in the world that says on which side, or inside
};

// From p to q, places in the world.
Wrap wrap(const Obstacle& obstacle, const Vec3& p, const Vec3& q);

}  // namespace hindcast::articulated
