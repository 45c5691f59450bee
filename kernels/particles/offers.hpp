// Points that can be added to a scene, and what other modules need that offer points of theirs.
#pragma once

#include "engine/model/offers/offer.hpp"

namespace hindcast {

void offer_particles(Registry& registry);

namespace offers {

model::OfferNumber point_mass(double value);     // "mass", kg
model::OfferNumber young_modulus(double value);  // "young_modulus", Pa
// The body of the offer with points at these positions, of the chosen mass.
document::Node offered_points(const model::OfferSite& site, document::Node positions);
// The nodes of a grid with the chosen spacing, from the site's corner on.
document::Node offered_grid(const model::OfferSite& site,
                            std::initializer_list<std::int64_t> counts);
// With implicit steps elastic bodies come to rest: damping by mass (1/s) and by stiffness (s).
void set_damping(const model::OfferSite& site, document::Node& body, double mass_damping,
                 double stiffness_damping);

}  // namespace offers

}  // namespace hindcast
