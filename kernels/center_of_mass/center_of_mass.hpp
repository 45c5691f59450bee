// Objective term: where the center of mass of a body should be.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_center_of_mass(Registry& registry);

}  // namespace hindcast
