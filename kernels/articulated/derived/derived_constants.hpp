// Constants that MuJoCo derives from other numbers of a model, as its mj_setConst does, in the pose
// qpos0. Inverse weights are of one number or the mean of three: of the diagonal of J M^-1 J^T,
// where J is the Jacobian of what a constraint would hold. With M = L^T D L that is the sum of
// squares of L^-T J^T over D. Arrays, besides those of kinematics.hpp and dynamics.hpp in that pose:
//   factors             dofs x dofs   L below the diagonal, 1/D on it
//   dof_invweight0      dofs          1/kg, 1/(kg m^2)
//   body_invweight0     bodies x 2    of the center of mass: translation, rotation
//   tendon_invweight0   tendons       1/kg, or as the tendon's unit is
#pragma once

#include "kernels/articulated/constraints/constraint_plan.hpp"
#include "kernels/articulated/dynamics/dynamics.hpp"

namespace hindcast::articulated {

// The model's own reference pose, with mocap bodies where they were before a keyframe moved them.
struct ReferencePose {
    std::vector<double> qpos;
    std::vector<double> places, turns;  // bodies x 3, x 4; read for mocap bodies
    std::vector<std::int64_t> mocap;    // 1 for each body that is one; empty: none has moved
};

// own_pos, own_quat where is_mocap is 1, else body_pos, body_quat -> reference_pos, reference_quat.
// One item for each body.
KernelDef reference_places();
// inertia -> factors.
KernelDef factors_of_inertia(const TreePointer& tree);
// factors -> dof_weight, of each degree of freedom by itself; one item for each.
KernelDef dof_weights(const TreePointer& tree);
// dof_weight -> dof_invweight0: of joints with more degrees of freedom the mean of three.
KernelDef joint_weights(const TreePointer& tree);
// factors, cdof, xpos, xipos, dof_moves -> body_invweight0; one item for each body.
KernelDef body_weights(const TreePointer& tree);
// factors, tendon_moment -> tendon_invweight0; one item for each tendon.
KernelDef tendon_weights(const TreePointer& tree);
// xpos, xquat, eq_data -> derived_eq_data: of equalities that hold bodies the place where the second
// one is held, of welds without a relative pose of their own this pose too.
KernelDef equality_data(const PlanPointer& plan);

}  // namespace hindcast::articulated
