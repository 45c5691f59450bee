// The hulls of a robot's meshes, boxes and cylinders as arrays (engine/geometry/hulls.hpp).
#pragma once

#include <vector>

#include "engine/geometry/hulls.hpp"
#include "engine/robot/robot_model.hpp"

namespace hindcast::articulated {

using namespace geometry;
using geometry::Shape;

// The arrays of a model; empty ones have one row.
std::vector<robot::ModelArray> hull_arrays(const robot::RobotModel& model);

}  // namespace hindcast::articulated
