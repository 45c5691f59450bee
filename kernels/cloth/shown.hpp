// Shown quantities of a cloth: energy density and tension of each triangle.
#pragma once

#include <string>

#include "engine/model/model.hpp"
#include "kernels/cloth/membrane.hpp"

namespace hindcast::cloth {

// Publishes both for the cloth `owner` with that membrane, whose energy is `elastic`
// (energy<3, 3>() of it, with its arguments).
//   membrane energy density  W, J/m^2 at rest: stretch and shear, without bending
//   membrane tension         the largest principal force in the sheet per length as it stands, N/m:
//                            the larger eigenvalue of F S F^T / j in the triangle's plane, with S =
//                            dW/dE and j its area as it stands per area at rest (Reddy: Mechanics of
//                            Laminated Composite Plates and Shells, 1.3); negative where it is
//                            pressed along every line
// Triangles without area have no tension.
void show(model::Model& model, const std::string& owner, const Membrane& membrane,
          const EnergyTerm& elastic);

}  // namespace hindcast::cloth
