// Places and velocities of the bodies of a tree.
//
// One item does the whole tree: the loops over bodies and joints run while the kernel is recorded.
// Arrays that the kernels share (rows x components, world axes):
//   xpos, xquat   bodies x 3, x 4   place and orientation (w, x, y, z) of each body's frame
//   xipos         bodies x 3        its centre of mass
//   cdof          dofs x 6          the motion of a unit velocity of each degree of freedom, about
//                                   the place of its tree's root
//   cvel          bodies x 6        the velocity of each body, about the same place
#pragma once

#include "kernels/articulated/dynamics/spatial.hpp"
#include "kernels/articulated/tree/tree.hpp"

namespace hindcast::articulated {

// qpos and the bodies' and joints' places -> xpos, xquat, xipos, cdof.
KernelDef kinematics(const TreePointer& tree);
// cdof, qvel -> cvel.
KernelDef velocities(const TreePointer& tree);
// The points of the scene that follow the tree: the centre of mass of each body but the world, then
// each site; `first` is the number of the first one. -> position, velocity.
KernelDef points(const TreePointer& tree, std::int64_t first);

// The quaternion that begins at a place in an array, of length 1.
template <class Numbers, class Place>
Quat quaternion_at(const Numbers& numbers, const Place& place) {
    return normalize(
        Quat(Vec4(numbers[place], numbers[place + 1], numbers[place + 2], numbers[place + 3])));
}

}  // namespace hindcast::articulated
