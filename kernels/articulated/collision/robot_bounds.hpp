// A robot in the table of pairs that can touch (engine/model/warnings/contact_pairs.hpp).
#pragma once

#include <string>

#include "engine/model/model.hpp"
#include "engine/robot/robot_model.hpp"

namespace hindcast::articulated {

// Adds the robot, if it has geoms that collide: a box around each of them, a half-space for each
// plane, where its arrays NAME.xpos and NAME.xquat have its bodies. `touches_itself`: contact
// between its geoms is simulated.
void add_contact_body(model::Model& model, const std::string& name, const std::string& pointer,
                      const robot::RobotModel& robot, bool touches_itself);

}  // namespace hindcast::articulated
