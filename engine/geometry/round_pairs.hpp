// Contacts of planes and round shapes: closed forms without branches.
//
// A plane's normal is its z axis, as are the axes of capsules and cylinders. Sizes: radius and half
// length; half axes of ellipsoids and boxes.
#pragma once

#include "engine/geometry/contact.hpp"

namespace hindcast::geometry {

// The contact of two balls; `otherwise` is its normal if their centers coincide.
Contact ball_ball(const Vec3& one, const Float& radius_one, const Vec3& two,
                  const Float& radius_two, const Vec3& otherwise);
// The contact of a ball with the half space below the plane through the point `through`.
Contact plane_ball(const Vec3& normal, const Vec3& through, const Vec3& center,
                   const Float& radius);

Contacts plane_sphere(const Shape& plane, const Shape& sphere, const Float& reach);
Contacts plane_capsule(const Shape& plane, const Shape& capsule, const Float& reach);
Contacts plane_ellipsoid(const Shape& plane, const Shape& ellipsoid, const Float& reach);
Contacts plane_cylinder(const Shape& plane, const Shape& cylinder, const Float& reach);
Contacts plane_box(const Shape& plane, const Shape& box, const Float& reach);

Contacts sphere_sphere(const Shape& one, const Shape& two, const Float& reach);
Contacts sphere_capsule(const Shape& sphere, const Shape& capsule, const Float& reach);
Contacts sphere_cylinder(const Shape& sphere, const Shape& cylinder, const Float& reach);
Contacts capsule_capsule(const Shape& one, const Shape& two, const Float& reach);

}  // namespace hindcast::geometry
