// Shown quantities of a solid: energy density and von Mises stress of each element.
#pragma once

#include <string>

#include "engine/model/model.hpp"
#include "kernels/solids/elements.hpp"

namespace hindcast::solids {

// Publishes both for the solid `owner` of that law, whose elastic energy is `elastic`
// (elastic_energy(), with its arguments).
//   energy density    W(F), J/m^3 at rest
//   von Mises stress  sqrt(3/2 s : s) in Pa, s the deviator of the Cauchy stress
//                     sigma = P F^T / J, P = dW/dF (Bonet, Wood: Nonlinear Continuum Mechanics, 5.4);
//                     in the plane with the stress across it, which plane strain has
// Both are of the material alone, without fibers and damping. Elements without volume have no stress.
void show(model::Model& model, const std::string& owner, const Law& law, const EnergyTerm& elastic);

}  // namespace hindcast::solids
