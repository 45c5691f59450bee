// The geoms as which a robot's bodies are drawn.
#pragma once

#include <vector>

#include "engine/model/drawing.hpp"
#include "engine/robot/robot_model.hpp"

namespace hindcast::articulated {

// One for each body that has geoms in the groups 0 to 2, which MuJoCo's viewer shows. Bodies of the world
// rest; others stand where the rows of `xpos` and `xquat` say.
std::vector<model::DrawnBody> drawn_bodies(const robot::RobotModel& model, const Array& xpos,
                                           const Array& xquat);

}  // namespace hindcast::articulated
