// Forces on the points of a tree, by what they do on its joints.
#pragma once

#include "kernels/articulated/dynamics/kinematics.hpp"

namespace hindcast::articulated {

// The generalized force of forces on the points that kinematics' points() makes: J^T f. `first`: the
// number of the first point.
//   point_force   points x 3   N, in the world
//   applied       dofs         N, N m
KernelDef applied_force(const TreePointer& tree, std::int64_t first);

}  // namespace hindcast::articulated
