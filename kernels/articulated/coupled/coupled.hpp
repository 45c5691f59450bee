// A robot in a scene whose points move to the minimum of energies: it takes part in that
// minimization (engine/runtime/minimization/energy/carrier.hpp), and its points are carried ones.
//
// A step of h leads from (q, v) to v' = v + h a and q' = q + h v'. Its unknowns are y = h^2 a, so
// that q' = q + (h v + y): m or rad, as points have them. Its energy is h^2 times the convex problem
// of its constraints (constraints/constraint_terms.hpp), with the inertia, the springs and the
// dampers of the integrator `discrete`,
//
//     h^2 (a . M a / 2 - f . a + sum over constraints of s(J a - aref)),   a = y / h^2
//
// and energies over points act on it through q'. The search starts at y = -h v, where q' = q.
#pragma once

#include "engine/runtime/minimization/energy/carrier.hpp"
#include "kernels/articulated/constraints/constraint_terms.hpp"
#include "kernels/articulated/tree/tree.hpp"

namespace hindcast::articulated {

// Besides the arrays of kinematics.hpp and constraint_terms.hpp the kernels have "h".
CarrierKernels coupled_kernels(const TreePointer& tree, const RowSizes& sizes);

// body_ipos -> place: of each point of the robot (kinematics.hpp, points()), in its body's frame.
KernelDef places_in_bodies(const TreePointer& tree);

// qvel, h -> y, at the start of the search.
KernelDef start_of_search();
// y, h -> qacc.
KernelDef acceleration_of_step();
// y, h -> qacc and qacc_constrained.
KernelDef constrained_acceleration_of_step();

// metric, force -> solved: the acceleration without constraints.
KernelDef smooth_acceleration(const TreePointer& tree);
// metric, solved -> free_force: the force that gives this acceleration.
KernelDef force_of_acceleration(const TreePointer& tree);

}  // namespace hindcast::articulated
