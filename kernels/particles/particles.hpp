// Particles: point masses, free or fixed, integrated by symplectic (semi-implicit) Euler.
//
// Publishes the arrays that all point-based modules share, one element per point of any body:
//   position, velocity   vectors, state          force        N, defined anew in each step by the first force
//   inverse_mass         1/kg, 0 = fixed
#pragma once

#include "engine/model/model.hpp"

namespace hindcast {

void register_particles(Registry& registry);

namespace particles {

// The arrays above; made by the first body that asks.
struct Arrays {
    Array position, velocity, inverse_mass;
};
Arrays arrays(model::Model& model);

}  // namespace particles
}  // namespace hindcast
