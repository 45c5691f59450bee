// Obstacles, to add to a scene.
#pragma once

#include "engine/model/registry.hpp"

namespace hindcast {

void offer_obstacles(Registry& registry);
// Gives a plane or a sphere the response of implicit steps.
void make_barrier(document::Node& obstacle);

}  // namespace hindcast
