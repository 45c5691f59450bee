// Contacts of boxes with spheres, capsules and boxes: comparisons choose the features that meet,
// then the distance is a closed form of these.
#pragma once

#include "engine/geometry/contact.hpp"

namespace hindcast::geometry {

// The most contacts of two boxes: two ends of each edge of one face, and the corners of the other.
inline constexpr int box_box_slots = 12;

// The contact of a ball with a box.
Contact ball_box(const Vec3& center, const Float& radius, const Shape& box);

Contacts sphere_box(const Shape& sphere, const Shape& box, const Float& reach);
Contacts capsule_box(const Shape& capsule, const Shape& box, const Float& reach);
Contacts box_box(const Shape& one, const Shape& two, const Float& reach);

}  // namespace hindcast::geometry
