// Contacts of height fields: of every two triangles of a cell each is the top of a prism down to the
// field's bottom, a convex shape, which makes one contact.
//
// Arrays of all geoms:
//   geom_field     geoms x 3    where a field's heights begin, its rows, its columns; 0 for other geoms
//   field_size     geoms x 3    half lengths along x and y, depth of the bottom
//   field_height                heights, row by row: along y, and along x within a row
#pragma once

#include <vector>

#include "engine/geometry/convex/convex_search.hpp"
#include "engine/geometry/pairs.hpp"
#include "engine/robot/robot_model.hpp"

namespace hindcast::articulated {

using namespace geometry;
using geometry::Shape;

// The most contacts of a field with one geom. If there are more, those of the first prisms count.
inline constexpr int field_slots = geometry::height_field_slots;

std::vector<robot::ModelArray> field_arrays(const robot::RobotModel& model);

// search() of a field and a geom of this type.
KernelDef field_search(robot::GeomType second, int slots);

}  // namespace hindcast::articulated
