// Rays and simple shapes: where a ray enters a shape and where it leaves it.
#pragma once

#include "engine/lang/kernel.hpp"
#include "engine/robot/layout/model_enums.hpp"

namespace hindcast::articulated {

using namespace lang;

// The part of a line p + t v, |v| = 1, that lies within a shape: from t = enter to t = leave.
struct Crossing {
    Bool is;
    Float enter, leave;

    // Along the ray, t >= 0, to the surface; -1 where it does not meet it.
    Float distance() const {
        return select(is && enter >= 0.0, enter, select(is && leave >= 0.0, leave, Float(-1)));
    }
};

// Whether a ray may meet shapes of this type: spheres, capsules, ellipsoids, cylinders, boxes, planes.
bool has_rays(robot::GeomType type);
// Of a shape about the origin along its axes; `size` means what it means for a geom of this type. A plane is
// met from its front, and is finite where its size is not 0.
Crossing crossing(robot::GeomType type, const Vec3& size, const Vec3& p, const Vec3& v);
// Whether p lies in such a shape; no plane.
Bool is_inside(robot::GeomType type, const Vec3& size, const Vec3& p);

}  // namespace hindcast::articulated
