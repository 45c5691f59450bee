// Blocks of material points, to add to a scene.
#pragma once

#include "engine/model/offers/offer.hpp"

namespace hindcast {

void offer_mpm(Registry& registry);

}  // namespace hindcast
