// Objective terms: the area of a polygon (two dimensions), the volume of a closed mesh (three).
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_area(Registry& registry);

}  // namespace hindcast
