// Springs between points: stiffness, damping along the spring, rest length per spring.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_springs(Registry& registry);

}  // namespace hindcast
