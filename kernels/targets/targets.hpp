// Objective terms on points: squared distances to target positions, and of the centre of mass.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_targets(Registry& registry);

}  // namespace hindcast
