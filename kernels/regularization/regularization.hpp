// Objective term: how far numbers of the scene are from where they should stay.
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_regularization(Registry& registry);

}  // namespace hindcast
