// Names of a robot's bodies, joints, geoms, actuators and so on, for paths: robot.body_mass[torso].
#pragma once

#include <string>

#include "engine/model/element_names.hpp"
#include "engine/robot/robot_model.hpp"

namespace hindcast::articulated {

// The names of the elements of an array of the model ("body_mass"), of a number of the scene
// ("qpos") or of a published array ("xpos"). If its elements have no names the count is 0. The
// first three of a free joint's seven numbers, its place, are root:0 to root:2.
model::ElementNames names_of(const robot::RobotModel& robot, const std::string& key);

// The names of the robot's points: bodies without the world, then sites; a site with the name of a
// body gets none.
model::ElementNames names_of_points(const robot::RobotModel& robot);

// Names the elements of the arrays that the body of this name has published.
void name_arrays(model::Model& model, const std::string& body, const robot::RobotModel& robot);

}  // namespace hindcast::articulated
