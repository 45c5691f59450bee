// How soft a constraint is (MuJoCo, "Computation", constraint solver, parameters): from `solref` and
// `solimp` of the model, the impedance d of a position residual r, and with it
//   the reference acceleration   aref = -b J v - k d r
//   the mass                     D = 1/R = d / ((1 - d) A)
// where A is the inverse inertia that the constraint feels in the model's reference pose.
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

struct SoftConstraint {
    Float stiffness;     // k d: 1/s^2
    Float damping;       // b: 1/s
    Float inverse_mass;  // R

    // For a residual `position` (less its margin). `h` (s): time constants are at least 2 h where the
    // model guards them.
    SoftConstraint(const SoftNumbers& numbers, const Float& position, const Float& inverse_inertia,
                   const Float& h, bool guarded);

    Float reference(const Float& velocity, const Float& position) const {
        return -(damping * velocity) - stiffness * position;
    }
    // Of what has no position: friction.
    Float reference(const Float& velocity) const { return -(damping * velocity); }
    Float mass() const { return 1.0 / inverse_mass; }
};

}  // namespace hindcast::articulated
