// hindcast info robot.xml: a robot's model in words or as JSON.
#pragma once

#include <string>

namespace hindcast::cli {

// Prints bodies as a tree with their joints, actuators, the geoms that collide, notes and refusals;
// `json`: the same as one object; `arrays`: with every array of the compiled model. Throws Error
// where the model cannot be read, and after printing if it cannot be simulated.
int print_robot(const std::string& file, bool json, bool arrays);

}  // namespace hindcast::cli
