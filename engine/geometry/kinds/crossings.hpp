// Lines through shapes: where they enter and where they leave.
#pragma once

#include "engine/geometry/kinds/shape_kind.hpp"
#include "engine/lang/kernel.hpp"

namespace hindcast::geometry {

using namespace lang;

// The part of a line p + t v, |v| = 1, that lies within a shape: from t = enter to t = leave.
struct Crossing {
    Bool is;  // the line meets the shape
    Float enter, leave;

    // The distance along the ray, t >= 0, to the surface; -1 if the ray does not meet it.
    Float distance() const {
        return select(is && enter >= 0.0, enter, select(is && leave >= 0.0, leave, Float(-1)));
    }
};

// True for kinds that a ray may meet.
bool has_rays(ShapeKind kind);
// The crossing of a shape about the origin, in its axes; `size` is as in contact.hpp. A line meets
// a plane from its front only; the plane ends along axes whose size is not 0.
Crossing crossing(ShapeKind kind, const Vec3& size, const Vec3& p, const Vec3& v);
// True if the point p is in such a shape. Not for planes.
Bool is_inside(ShapeKind kind, const Vec3& size, const Vec3& p);

// ---- for the kinds ----

Crossing crossing_of_ball(const Float& radius, const Vec3& p, const Vec3& v);
// A cylinder about z: size[0] is its radius, size[1] half of its length.
Crossing crossing_of_tube(const Vec3& size, const Vec3& p, const Vec3& v);
// The points with a coordinate between -size and size.
Crossing crossing_of_slab(const Float& p, const Float& v, const Float& size);
// The t with a t^2 + 2 b t + c <= 0, for a >= 0; with a = 0, where b is 0 too, all t if c <= 0.
Crossing crossing_of_quadratic(const Float& a, const Float& b, const Float& c);
// The part within both shapes; the part within either of two shapes that overlap on the line.
Crossing both(const Crossing& a, const Crossing& b);
Crossing either(const Crossing& a, const Crossing& b);

}  // namespace hindcast::geometry
