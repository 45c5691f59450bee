// Cloth: a body of triangles in space that resists stretch, shear and bending.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_cloth(Registry& registry);

}  // namespace hindcast
