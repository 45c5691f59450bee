// Objective term: mechanical energy.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_energy(Registry& registry);

}  // namespace hindcast
