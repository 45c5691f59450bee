// Objectives on numbers of published arrays, and on joints of robots.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_array_target(Registry& registry);

namespace array_target {

void register_joint_target(Registry& registry);

}  // namespace array_target
}  // namespace hindcast
