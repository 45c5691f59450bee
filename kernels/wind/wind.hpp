// Wind on surfaces, by their area and normal.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_wind(Registry& registry);

}  // namespace hindcast
