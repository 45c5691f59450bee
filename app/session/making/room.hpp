// Free room in a scene: boxes around everything that is there at the start, the ground, and a place
// for something new.
#pragma once

#include "engine/document/document.hpp"
#include "engine/model/offers/offer.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

// The room in a scene: obstacles and rigid shapes of the document, and bodies where they start in the
// simulation. Without one only the document's are known.
model::Room room_of(const document::Document& document, const Simulation* simulation);

// The low corner for a box of this size, `above` meters over the ground, or around `look_at` where
// there is none. If something is there it goes on top of that by `above`, or beside it.
model::Place place_for(const model::Room& room, const model::Place& size,
                       const model::Place& look_at, double above, model::Aside aside);

}  // namespace hindcast::session
