// Damping: velocities that decay exponentially, exactly integrated over a step.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_damping(Registry& registry);

}  // namespace hindcast
