// Places and velocities of the bodies of a tree.
//
// One item does the whole tree: the loops over bodies and joints run while the kernel is recorded.
// Arrays that the kernels share (rows x components, world axes):
//   xpos, xquat   bodies x 3, x 4   place and orientation (w, x, y, z) of each body's frame
//   xipos         bodies x 3        its center of mass
//   cdof          dofs x 6          the motion of a unit velocity of each degree of freedom, about
//                                   the place of its tree's root
//   cvel          bodies x 6        the velocity of each body, about the same place
#pragma once

#include <functional>
#include <vector>

#include "kernels/articulated/dynamics/spatial.hpp"
#include "kernels/articulated/tree/tree.hpp"

namespace hindcast::articulated {

// qpos and the bodies' and joints' places -> xpos, xquat, xipos, cdof.
KernelDef kinematics(const TreePointer& tree);
// cdof, qvel -> cvel.
KernelDef velocities(const TreePointer& tree);
// The points of the scene that follow the tree: the center of mass of each body but the world, then
// each site; `first` is the number of the first one. -> position, velocity.
KernelDef points(const TreePointer& tree, std::int64_t first);

// Positions of joints as frames follow from them, by their places in qpos: numbers, and unit
// quaternions.
struct JointPositions {
    std::function<Float(int)> number;
    std::function<Quat(int)> quaternion;
};
// The numbers of a model that place bodies and joints.
struct TreeShape {
    const Property<Vec3>& body_pos;
    const Property<Quat>& body_quat;
    const Property<Vec3>&jnt_pos, &jnt_axis;
};
// Place and orientation of each body.
struct Frames {
    std::vector<Vec3> place;
    std::vector<Quat> turned;
};
// One degree of freedom: its axis, and the place where that is; one that does not turn translates.
struct Freedom {
    Vec3 axis, anchor;
    bool turns;
};
// Calls visit(body, frames so far, degrees of freedom of the body) for each body, from the root on.
void each_frame(const Tree& tree, const JointPositions& positions, const TreeShape& shape,
                const std::function<void(int, const Frames&, const std::vector<Freedom>&)>& visit);

// The quaternion that begins at a place in an array, of length 1.
template <class Numbers, class Place>
Quat quaternion_at(const Numbers& numbers, const Place& place) {
    return normalize(
        Quat(Vec4(numbers[place], numbers[place + 1], numbers[place + 2], numbers[place + 3])));
}

}  // namespace hindcast::articulated
