// Push: a force over time, the same on each of the points that it acts on, such as a thruster whose
// course is looked for.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_push(Registry& registry);

}  // namespace hindcast
