// Kick: a velocity that is added to points in every step.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_kick(Registry& registry);

}  // namespace hindcast
