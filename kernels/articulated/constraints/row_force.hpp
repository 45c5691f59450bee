// The potential of one constraint as a function of its deformation rate: with the residual r = J a - aref
// of an acceleration a, the force of the constraint is -s'(r) (MuJoCo, "Computation", reduced primal
// problem). s is convex and its derivative continuous:
//   a row by itself     s' = D r, but not below `low` nor above `high`
//   an elliptic cone    of dimension d: row 0 is the normal, of the others each has a friction f_j. With
//                       N = mu r_0, T^2 = sum f_j^2 r_j^2:
//                         N >= mu T            s = 0                                    (apart)
//                         mu N + T <= 0        s = sum D_j r_j^2 / 2                    (sticking)
//                         otherwise            s = D_0 (N - mu T)^2 / (2 mu^2 (1 + mu^2))   (sliding)
#pragma once

#include <vector>

#include "engine/lang/kernel.hpp"

namespace hindcast::articulated {

using namespace lang;

// The force of a row by itself is never beyond this, where it has no bound: N, N m.
inline constexpr double unbounded = 1e30;

struct RowNumbers {
    Float mass, low, high;  // D, and the bounds of s'

    // s, with s(0) = 0.
    Float value(const Float& r) const {
        const Float force = slope(r);
        return force * r - 0.5 * force * force / mass;
    }
    Float slope(const Float& r) const { return min(max(mass * r, low), high); }
    Float curvature(const Float& r) const {
        const Float t = mass * r;
        return select(t > low && t < high, mass, Float(0));
    }
};

class Cone {
public:
    using Numbers = std::vector<Float>;
    // friction[j] is that of row j; friction[0] is mu.
    Cone(Numbers mass, Numbers friction);
    int dimension() const { return static_cast<int>(mass_.size()); }

    Float value(const Numbers& r) const;
    Numbers slope(const Numbers& r) const;
    Bool slides(const Numbers& r) const;
    // In rows of dimension().
    Numbers curvature(const Numbers& r) const;

private:
    struct Zone {
        Bool apart, sticking;
        Float length;     // T, or 1 where it is 0
        Float scale;      // D_0 / (mu^2 (1 + mu^2))
        Float excess;     // N - mu T
        Numbers tangent;  // dT/dr_j
    };
    Zone zone(const Numbers& r) const;

    Numbers mass_, friction_;
};

}  // namespace hindcast::articulated
