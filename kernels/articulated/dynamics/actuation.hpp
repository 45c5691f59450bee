// Forces of actuators: gain times control or activation, plus bias, along the actuator's way of
// acting. Arrays as in dynamics.hpp, and
//   moment           actuators x dofs   how each acts: generalized force per actuator force; only
//                                       entries that may be other than 0 are ever written
//   actuator_length  actuators          m, rad
//   actuator_force   actuators          after its limits
//   slope            actuators          its derivative by the actuator's velocity; 0 where a limit
//                                       of it, or of the joint that it acts on, holds
//   rise             actuators          the same by its length, of the integrator `discrete`
//   actuator         dofs               the generalized force of all
//   act_dot          activations        1/s
#pragma once

#include "kernels/articulated/dynamics/dynamics.hpp"

namespace hindcast::articulated {

// The rows of `gear` are two for each actuator: the first and the last three of its six numbers.
KernelDef actuation(const TreePointer& tree);

// The activation after a time h at this rate, in the actuator's limits.
Float next_activation(const Actuator& actuator, const Float& act, const Float& rate,
                      const Float& h);

// The setpoint of a position servo that means the same angle in space as `setpoint` and is nearest
// to `from`; for any other actuator `setpoint`.
Float nearest_setpoint(const Actuator& actuator, const Six& gear, const Vec3& gain,
                       const Vec3& bias, const Float& setpoint, const Float& from);

}  // namespace hindcast::articulated
