// Materials: the energy per volume at rest, W(F), of a deformation gradient F. With mu and lambda
// Lame's parameters, I the identity, J = det F, E = (F^T F - I)/2, cof F the cofactors:
//
//   neo_hookean           mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2
//                         (Bonet, Wood: Nonlinear Continuum Mechanics, 6.4.3); not finite for J <= 0
//   st_venant_kirchhoff   mu |E|^2 + lambda/2 (tr E)^2
//                         (Ciarlet: Mathematical Elasticity I, 4.4); weak under strong pressure
//   stable_neo_hookean    a/2 (|F|^2 - 3) + b/2 (J - c)^2 - a/2 log(|F|^2 + 1) + constant, with
//                         a = 4/3 mu, b = lambda + 5/6 mu, c = 1 + 3/4 a/b
//                         (Smith, de Goes, Kim 2018); finite also where J <= 0
//   corotated             mu |F - R|^2 + lambda/2 (tr(R^T F) - 3)^2, R the rotation nearest to F
//                         (Sifakis, Barbic 2012, 3.4); not smooth where two singular values of F,
//                         signed as J, sum to zero
//   mooney_rivlin         c10 (J^(-2/3) |F|^2 - 3) + c01 (J^(-4/3) |cof F|^2 - 3) + k/2 (J - 1)^2,
//                         c10 = (1 - r) mu/2, c01 = r mu/2, k = lambda + 2/3 mu, r mooney_ratio
//                         (Bonet, Wood, 6.5); not finite for J <= 0
//
// All have W(I) = 0, no stress there, and for small strains the stress 2 mu e + lambda tr(e) I. In
// the plane F is that of plane strain: nothing moves across it.
#pragma once

#include <string>
#include <vector>

#include "engine/lang/kernel.hpp"

namespace hindcast::solids {

// Lame's parameters, and the material's own.
struct Moduli {
    lang::Float mu, lambda, own;
};

struct Material {
    std::string name;  // as in a scene, and of kernels
    lang::Float (*energy_density)(const lang::Mat3& F, const Moduli& moduli) = nullptr;
    std::string own = {};  // the field of the parameter that only this material has; "": none
};
const std::vector<Material>& materials();
// The material of one of those names.
const Material& material(const std::string& name);

}  // namespace hindcast::solids
