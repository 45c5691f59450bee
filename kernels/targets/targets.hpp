// Objective terms on single points: squared distances to target positions, at one time or along a
// trajectory.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_targets(Registry& registry);

}  // namespace hindcast
