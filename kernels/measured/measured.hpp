// Objectives: residuals of measured data.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_measured(Registry& registry);

}  // namespace hindcast
