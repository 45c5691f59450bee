// Drag: the force of a moving medium, such as wind, on points.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_drag(Registry& registry);

}  // namespace hindcast
