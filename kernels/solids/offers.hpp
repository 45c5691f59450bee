// Elastic bodies, to add to a scene.
#pragma once

#include "engine/model/offers/offer.hpp"

namespace hindcast {

void offer_solids(Registry& registry);

}  // namespace hindcast
