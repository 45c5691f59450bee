// Colliders: obstacles that points may not enter, half-spaces and spheres, and particles that are
// obstacles to each other.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_colliders(Registry& registry);
// The type particle_contact; register_colliders() calls it.
void register_particle_contact(Registry& registry);

}  // namespace hindcast
