// The rows of a robot's constraints in a state: Jacobians, reference accelerations, masses, bounds
// (arrays of constraint_terms.hpp). Model numbers have MuJoCo's names.
#pragma once

#include "kernels/articulated/constraints/constraint_plan.hpp"
#include "kernels/articulated/dynamics/dynamics.hpp"

namespace hindcast::articulated {

// Motion of the rows of limits of hinges and slides, and of friction loss of degrees of freedom
// (soft_rows.hpp).
KernelDef dof_motions(const PlanPointer& plan);
// Equalities.
KernelDef equality_rows(const TreePointer& tree, const PlanPointer& plan);
// Limits of ball joints.
KernelDef ball_rows(const TreePointer& tree, const PlanPointer& plan);
// The Jacobians of limits and friction loss of tendons, and how they move (soft_rows.hpp).
KernelDef tendon_motions(const TreePointer& tree, const PlanPointer& plan);
// Springs, dampers and actuators of the integrator `discrete` that couple what the tree does not.
KernelDef coupled_rows(const TreePointer& tree, const PlanPointer& plan);
// passive, actuator, bias -> force: all forces but those of constraints.
KernelDef smooth_force(const TreePointer& tree);

// The velocity of a body's point, and of its rotation, for a unit velocity of each degree of
// freedom that moves the body; with the numbers of these.
std::vector<std::pair<int, Motion>> jacobian(const Tree& tree, int body, const Vec3& point,
                                             const Read<Vec3>& xpos, const Read<Six>& cdof);

}  // namespace hindcast::articulated
