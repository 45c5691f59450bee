// The controls of a robot's actuators and the positions of its joints, offered as sliders.
#pragma once

#include <string>

#include "engine/model/model.hpp"
#include "engine/robot/robot_model.hpp"

namespace hindcast::articulated {

// Adds sliders of this body: for all actuators, hinges, slides and the places of free joints.
void offer_sliders(model::Model& model, const std::string& body, const robot::RobotModel& robot);

}  // namespace hindcast::articulated
