// Fixed points that move as prescribed.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_pins(Registry& registry);

}  // namespace hindcast
