// The acceleration of a tree, and the state that a step leads to.
//
// A step of h from state (q, v, a) with acceleration dv and rate da:
//   Euler, implicitfast,
//   discrete              v' = v + h dv,  q' = q + h v'
//   RK4                   the classical method as one of Munthe-Kaas: it moves an increment u with
//                         q_i = q + u, whose rate is dexp^-1(u) v for rotations
// where q + h v turns the quaternions of free and ball joints by exp(h w), w in the body's frame.
// For a rotation vector u, dexp^-1(u) w = w + u x w / 2 + c(|u|) u x (u x w), and
// c(t) = (1 - t/2 cot(t/2)) / t^2 (Hairer, Lubich, Wanner, Geometric Numerical Integration, 2006,
// IV.8).
#pragma once

#include "kernels/articulated/dynamics/actuation.hpp"

namespace hindcast::articulated {

// The forces that a solve takes implicitly: (M - h D) dv = f with D a part of the derivative of the
// forces f by the velocities.
enum class Implicit {
    nothing,
    damping,  // of joints: D is diagonal
    fast,     // dampers and actuators where the tree couples, and the bias force of free bodies on
              // which nothing moves
    step_map  // all that discrete.hpp has, and the bias force of such bodies
};

// The constraint rows that may hold a body with a free joint (constraint_terms.hpp). The integrator
// `discrete` takes the bias force implicitly only of bodies that none holds, and no coupling.
struct HoldingRows {
    std::vector<int> dofs;    // that rows of one degree of freedom hold
    int first = 0, rows = 0;  // others: the numbers of the first, and of the one after the last
};

// inertia, passive, actuator, bias -> qacc, m/s^2 or rad/s^2. M's factors are those of L^T D L, from
// the leaves to the root, so that no entry fills in (Featherstone 2008, section 6.5). `constrained`: f is
// M times the parameter "qacc_constrained", which has the forces of constraints too. Dry friction of
// joints is implicit with the damping. With Implicit::step_map M and f are those of discrete.hpp.
KernelDef acceleration(const TreePointer& tree, Implicit implicit, SceneForces forces = {},
                       const HoldingRows* constrained = nullptr);

// One step of Euler's method: state, qacc, act_dot -> next state.
KernelDef euler_step(const TreePointer& tree);
// A stage of RK4 at `fraction` of the step: the state at the step's begin, and the rate of the
// increment, acceleration and act_dot of the stage before -> the state of this stage and its rate.
// The rate of the first stage is its velocity: the stage after it is `second` and reads no rate.
KernelDef stage(const TreePointer& tree, double fraction, bool second);
// The step of RK4 from its four stages.
KernelDef rk4_step(const TreePointer& tree);
// to_i = from_i.
KernelDef copy();

}  // namespace hindcast::articulated
