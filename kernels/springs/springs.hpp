// Springs between points: stiffness, damping along the spring, rest length per spring; optionally
// acting in one direction only (ropes, pushers). Their energy is published as "elastic energy".
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_springs(Registry& registry);

}  // namespace hindcast
