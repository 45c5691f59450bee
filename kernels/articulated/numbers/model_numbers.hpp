// The numbers of a robot's model that have a gradient: keys of the scene, which may write others than
// the model's.
#pragma once

#include <vector>

#include "engine/model/model.hpp"
#include "engine/robot/robot_model.hpp"

namespace hindcast::articulated {

// The field rows, in the order of the reference.
std::vector<model::Field> number_fields();

// The quantity NAME.key of `count` elements (those of "gravity" are one vector for all): what the
// scene writes, or, without it, `otherwise`; by name where the elements have names. Throws Error at
// the key.
model::Quantity& number_of(const model::Settings& settings, model::Model& model,
                           const std::string& key, std::int64_t count,
                           std::vector<double> otherwise, const robot::RobotModel& robot);

}  // namespace hindcast::articulated
