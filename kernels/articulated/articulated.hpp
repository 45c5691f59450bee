// Articulated bodies: robots in reduced coordinates. README.md says what of a model is simulated.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_articulated(Registry& registry);

}  // namespace hindcast
