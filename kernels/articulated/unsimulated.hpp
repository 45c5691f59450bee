// What an articulated body does not simulate yet: constraints, and tendons that are not straight sums
// of joint positions. A model that has such a thing is refused, never simulated without it.
#pragma once

#include "engine/robot/robot_model.hpp"

namespace hindcast::articulated {

// Throws Error with the first such thing, by name and with a remedy; the others are its notes. What
// the model's flags turn off is not refused.
void require_simulated(const robot::RobotModel& model);

}  // namespace hindcast::articulated
