// Points with springs between them, to add to a scene.
#pragma once

#include "engine/model/offers/offer.hpp"

namespace hindcast {

void offer_springs(Registry& registry);

}  // namespace hindcast
