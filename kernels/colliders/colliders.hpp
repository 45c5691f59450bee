// Colliders: fixed obstacles that points may not enter: half-spaces and spheres.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_colliders(Registry& registry);

}  // namespace hindcast
