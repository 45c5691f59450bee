// Softness of a constraint (MuJoCo, "Computation", constraint solver, parameters): from `solref`
// and `solimp` of the model, the impedance d of a position residual r, and with it
//   the reference acceleration   aref = -b J v - k d r
//   the mass                     D = 1/R = d / ((1 - d) A)
// where A is the inverse inertia that the constraint feels in the model's reference pose.
//
// The integrator `discrete` has the spring and damper at the end of the step, where the position is
// r + h (v + h a) and the velocity v + h a with v = J v: of k d = K
//   aref = -(b v + K (r + h v)) / (1 + h b + h^2 K),   D' = (1 + h b + h^2 K) D
// with an impedance of D' of at most 0.9999. The resistance of springs and dampers reduces A (the
// shares of dynamics/discrete.hpp). Springs of limits and contacts with h^2 K > 1, which would
// rebound, are replaced by h^2 K = 1 with the same damping ratio, or a smaller one if the impedance
// is at its largest.
#pragma once

#include "engine/lang/kernel.hpp"

namespace hindcast::articulated {

using namespace lang;

using Two = Vec<Float, 2>;   // solref: time constant (s), damping ratio; or -stiffness, -damping
using Five = Vec<Float, 5>;  // solimp: impedances at 0 and at the width, width, midpoint, power

struct SoftNumbers {
    Two reference;
    Five impedance;
};

// A model's options for the springs of all its constraints.
struct SpringOptions {
    bool guarded = true;    // too stiff ones are made softer: time constants are at least 2 h
    bool discrete = false;  // they are those at the end of the step
};

enum class Spring {
    kept,     // of equalities
    limited,  // of limits and contacts: a too stiff one would rebound
    none      // of friction, which has no position
};

struct SoftConstraint {
    Float stiffness;     // k d: 1/s^2
    Float damping;       // b: 1/s
    Float inverse_mass;  // R

    // For a residual `position` (less its margin). `h`: s.
    SoftConstraint(const SoftNumbers& numbers, const Float& position, const Float& inverse_inertia,
                   const Float& h, SpringOptions options, Spring spring);

    // `carried`: dJ/dt v.
    Float reference(const Float& velocity, const Float& position, const Float& carried) const;
    Float reference(const Float& velocity, const Float& position) const;
    // The reference for a row without a position: friction.
    Float reference(const Float& velocity) const;
    Float mass() const { return 1.0 / inverse_mass; }

private:
    void meet_end_of_step(const Float& inverse_inertia, const Float& impedance, bool limited,
                          const Bool& direct);

    SpringOptions options_;
    Float h_, factor_;  // 1 + h b + h^2 K
};

}  // namespace hindcast::articulated
