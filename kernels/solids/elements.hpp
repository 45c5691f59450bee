// Linear simplices, tetrahedra in space and triangles in the plane. With X the corners at rest, x
// where they are, and F = (x1-x0, x2-x0, ...) (X1-X0, X2-X0, ...)^-1 the deformation gradient, an
// element has the energy V W(F), W as its material says (materials.hpp). The force kernel derives
// the first Piola stress P = dW/dF from it; the forces on corners 1, 2, ... are the columns of -V P
// (X1-X0, X2-X0, ...)^-T, corner 0 takes minus their sum. If the material has no energy for an
// inverted element (J <= 0), its forces are not finite, and the run reports that.
//
// Kernels have the parameters "inverse" ((X1-X0, ...)^-1, 1/m), "volume" (at rest, m^3), and those
// of Law::parameters(). D is 2 or 3.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/minimization/energy/energy.hpp"
#include "kernels/solids/materials.hpp"

namespace hindcast::solids {

template <int D>
using Corners = lang::Vec<lang::Int, D + 1>;
template <int D>
using Gradient = lang::Mat<lang::Float, D, D>;

// The moduli that the scene gives: Lame's parameters, or Young's modulus and Poisson's ratio.
enum class Given { lame, engineering };

// A material with its parameters as a scene gives them.
struct Law {
    const Material* material = &solids::material("neo_hookean");
    Given given = Given::lame;

    bool lame() const { return given == Given::lame; }
    // The parameters of kernels: the fields' names; that of the material's own is unused where it
    // has none.
    std::string first() const { return lame() ? "mu" : "young_modulus"; }
    std::string second() const { return lame() ? "lambda" : "poisson_ratio"; }
    std::string own() const { return material->own.empty() ? "own" : material->own; }
    std::vector<std::string> parameters() const;  // those that are fields
    // W(F) of element e, in J/m^3.
    template <int D>
    lang::Float energy_density(const Gradient<D>& F, const lang::Int& e,
                               const lang::Property<lang::Float>& first,
                               const lang::Property<lang::Float>& second,
                               const lang::Property<lang::Float>& own) const;
};

// F in space; that of the plane with nothing moving across it: plane strain.
lang::Mat3 in_space(const lang::Mat3& F);
lang::Mat3 in_space(const lang::Mat2& F);

template <int D, class At>
Gradient<D> deformation_gradient(const At& x, const Gradient<D>& inverse) {
    std::array<lang::Vec<lang::Float, D>, D> edges;
    const lang::Vec<lang::Float, D> origin = x(0);
    for (int k = 0; k < D; ++k) edges[static_cast<std::size_t>(k)] = x(k + 1) - origin;
    return Gradient<D>::from_columns(edges) * inverse;
}

// "corners", "x", "force": adds the forces of an element to those on its corners.
template <int D>
lang::KernelDef elastic_force(const Law& law);
template <int D>
EnergyKernels elastic_energy(const Law& law);
// beta/(2 h) d . H d of the same (energy.hpp, stiffness_damping()).
template <int D>
EnergyKernels elastic_damping(const Law& law);

}  // namespace hindcast::solids
