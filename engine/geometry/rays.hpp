// Rays and shapes: where a ray enters a simple shape and where it leaves it, and where it meets triangles.
#pragma once

#include "engine/geometry/shape_kind.hpp"
#include "engine/lang/kernel.hpp"

namespace hindcast::geometry {

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

// True for kinds that a ray may meet: spheres, capsules, ellipsoids, cylinders, boxes, planes.
bool has_rays(ShapeKind kind);
// Of a shape about the origin along its axes; `size` is as in contact.hpp. A plane is
// met from its front, and is finite where its size is not 0.
Crossing crossing(ShapeKind kind, const Vec3& size, const Vec3& p, const Vec3& v);
// Along a ray to the nearest of the triangles first to end - 1, from either side; -1 where it meets none.
// triangles: three vertices of each.
Float to_triangles(const Read<Int3>& triangles, const Read<Vec3>& vertices, int first, int end,
                   const Vec3& p, const Vec3& v);
// Whether p lies in such a shape; no plane.
Bool is_inside(ShapeKind kind, const Vec3& size, const Vec3& p);

}  // namespace hindcast::geometry
