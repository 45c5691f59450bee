// Material points: elastic bodies of particles that meet on a background grid (MLS-MPM, 2-D).
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_mpm(Registry& registry);

}  // namespace hindcast
