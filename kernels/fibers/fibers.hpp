// Fibers in solids, passive or contracting like muscles.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_fibers(Registry& registry);

}  // namespace hindcast
