// Contact of soft bodies with rigid ones that move by forces.
#pragma once

#include "engine/model/registry.hpp"

namespace hindcast {

void register_contact(Registry& registry);

}  // namespace hindcast
