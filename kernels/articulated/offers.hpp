// Robots and rigid shapes, to add to a scene.
#pragma once

#include "engine/model/registry.hpp"

namespace hindcast {

void offer_articulated(Registry& registry);

}  // namespace hindcast
