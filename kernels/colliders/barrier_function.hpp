// The barrier b(d) of a distance d that reaches as far as d^ (barrier.hpp), traced.
#pragma once

#include "engine/lang/kernel.hpp"

namespace hindcast::barrier {

inline lang::Float barrier(const lang::Float& d, const lang::Float& reach) {
    const lang::Float off = d - reach;
    return select(d < reach, -off * off * log(d / reach), lang::Float(0));
}
// -b'(d)
inline lang::Float repulsion(const lang::Float& d, const lang::Float& reach) {
    const lang::Float off = d - reach;
    return select(d < reach, off * (2.0 * log(d / reach) + off / d), lang::Float(0));
}
// The energy of a bristle of this stiffness that is bent by a way, whose force is at most `most`.
template <int D>
lang::Float bristle_energy(const lang::Vec<lang::Float, D>& bent, const lang::Float& most,
                           const lang::Float& stiffness) {
    const lang::Float r = most / stiffness, length = norm(bent);
    return select(length <= r, 0.5 * stiffness * dot(bent, bent),
                  stiffness * r * (length - 0.5 * r));
}

// The rest of the way `bent` that the bristle keeps: no longer than the way at which it slips.
template <int D>
lang::Vec<lang::Float, D> kept_bristle(const lang::Vec<lang::Float, D>& bent,
                                       const lang::Float& most, const lang::Float& stiffness) {
    const lang::Float r = most / stiffness, length = norm(bent);
    return bent * select(length <= r, lang::Float(1), divz(r, length));
}

}  // namespace hindcast::barrier
