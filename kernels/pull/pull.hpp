// Pull: a spring between a point and a place that moves as recorded, such as the mouse that drags
// the point in the view.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_pull(Registry& registry);

}  // namespace hindcast
