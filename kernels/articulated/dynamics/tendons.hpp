// How tendons are moved by joints. Arrays:
//   tendon_moment   tendons x dofs   derivative of each length by the positions of the joints
#pragma once

#include "kernels/articulated/dynamics/kinematics.hpp"

namespace hindcast::articulated {

// -> tendon_moment.
KernelDef tendons(const TreePointer& tree);

}  // namespace hindcast::articulated
