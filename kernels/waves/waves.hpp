// Waves on a membrane, in two dimensions: finite differences in time and space, and the objective
// term that compares a field with a target.
#pragma once

#include "engine/model/registry.hpp"

namespace hindcast {

void register_waves(Registry& registry);

}  // namespace hindcast
