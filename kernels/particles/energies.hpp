// Energies of points, for modules that state one energy and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/model/model.hpp"
#include "engine/model/shown.hpp"
#include "engine/runtime/minimization/energy/energy.hpp"

namespace hindcast::particles {

// In an implicit scene the energy is minimized with all others; in an explicit one its forces
// -dE/dx act on the points.
void add_energy(model::Model& model, EnergyTerm term);

// Publishes the energy as `name` of the scene's object `owner`, of module type `type`.
void publish_energy(model::Model& model, std::string type, std::string owner, std::string name,
                    const EnergyTerm& term);

// Publishes a quantity of the term's items for display; this sets `quantity.count` and
// `quantity.add`. The kernel has the parameters "points", "x", those of the energy's function, and
// "values" (Write, one per item).
void publish_shown(model::Model& model, model::ShownQuantity quantity, const EnergyTerm& term,
                   std::function<lang::KernelDef(model::Model&)> kernel);

// An elastic energy with the kernels of stiffness_damping() of the same.
struct DampedEnergy {
    EnergyTerm elastic;
    EnergyKernels damping;
};
// Rayleigh's damping, if the fields below are written; for implicit scenes. In a step from x_n it
// is the potential alpha/(2 h) d . M d + beta/(2 h) d . H(x_n) d, d = x - x_n, M the masses and H
// the Hessian of the energies. `elements` and `centroids`: where "stiffness_damping" is one per
// element.
void add_rayleigh_damping(model::Model& model, const model::Settings& settings, model::Range points,
                          const std::vector<DampedEnergy>& energies, std::int64_t elements,
                          std::span<const double> centroids);
std::vector<model::Field> rayleigh_fields();

}  // namespace hindcast::particles
