// Elastic solids of linear tetrahedra: a body of points joined by elements whose forces are the
// gradient of an energy, which is published as "elastic energy".
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_solids(Registry& registry);

}  // namespace hindcast
