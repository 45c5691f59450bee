// Stretch and shear of a triangle: F, E and W as the head of cloth.cpp has them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/runtime/minimization/energy/energy.hpp"

namespace hindcast::cloth {

// Green strain along the warp, along the weft, and between them.
struct Strain {
    lang::Float along, across, shear;  // E_uu, E_vv, E_uv
};

// The moduli that a scene gives; the others follow from isotropy.
struct Membrane {
    using Float = lang::Float;
    using Moduli = lang::Property<Float>;  // one for the cloth or one per triangle

    bool weft = false, shear = false;

    // f_u and f_v, the columns of F. D: the shape at rest, Sheet::inverse.
    static std::array<lang::Vec3, 2> columns(const Points<3, 3>& x, const lang::Mat2& D) {
        const lang::Vec3 e1 = x[1] - x[0], e2 = x[2] - x[0];
        return {e1 * D(0, 0) + e2 * D(1, 0), e1 * D(0, 1) + e2 * D(1, 1)};
    }
    static Strain strain(const std::array<lang::Vec3, 2>& f) {
        return {0.5 * (dot(f[0], f[0]) - 1.0), 0.5 * (dot(f[1], f[1]) - 1.0),
                0.5 * dot(f[0], f[1])};
    }
    // W of triangle e, J/m^2.
    Float density(const Strain& E, const lang::Int& e, const Moduli& warp_stiffness,
                  const Moduli& weft_stiffness, const Moduli& shear_stiffness,
                  const Moduli& poisson_ratio) const {
        const Float ku = warp_stiffness[e], nu = poisson_ratio[e];
        const Float kv = weft ? Float(weft_stiffness[e]) : ku;
        const Float g = shear ? Float(shear_stiffness[e]) : ku / (2.0 * (1.0 + nu));
        const Float stretched = 0.5 *
                                (ku * E.along * E.along + kv * E.across * E.across +
                                 2.0 * nu * kv * E.along * E.across) /
                                (1.0 - nu * nu * kv / ku);
        return stretched + 2.0 * g * E.shear * E.shear;
    }
    Float operator()(lang::Int e, const Points<3, 3>& x, lang::Read<lang::Mat2> inverse,
                     lang::Read<Float> area, Moduli warp_stiffness, Moduli weft_stiffness,
                     Moduli shear_stiffness, Moduli poisson_ratio) const {
        return area[e] * density(strain(columns(x, inverse[e])), e, warp_stiffness, weft_stiffness,
                                 shear_stiffness, poisson_ratio);
    }
    static std::vector<std::string> names() {
        return {"inverse",         "area",         "warp_stiffness", "weft_stiffness",
                "shear_stiffness", "poisson_ratio"};
    }
};

}  // namespace hindcast::cloth
