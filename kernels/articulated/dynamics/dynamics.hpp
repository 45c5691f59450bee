// The equations of motion of a tree, M(q) dv/dt = passive + actuator - bias: the inertia matrix by the
// composite rigid body algorithm, the bias force by the recursive Newton-Euler algorithm
// (Featherstone 2008, chapters 6 and 5), and the forces of springs, dampers, tendons and gravity
// compensation. Arrays as in kinematics.hpp, and
//   cinert    bodies x 10   each body's inertia: mass, first moment, second moment
//   inertia   dofs x dofs   M on and below its diagonal
// The forces have one number for each degree of freedom: N, or N m.
#pragma once

#include "kernels/articulated/dynamics/kinematics.hpp"

namespace hindcast::articulated {

// xpos, xquat, xipos, masses and armature, of tendons too -> cinert, inertia.
KernelDef inertia(const TreePointer& tree);
// cdof, cvel, cinert, qvel, gravity -> bias: what the motion itself and gravity ask for.
KernelDef bias(const TreePointer& tree);
// Forces that a scene adds to those of the model.
struct SceneForces {
    bool coulomb = false;  // dry friction of joints: -c (2/pi) atan(v / s) with c dof_coulomb and s
                           // dof_coulomb_speed
    bool applied = false;  // of points (applied.hpp)
};
// h times what dry friction of a joint at the velocity v grows by with it.
Float coulomb_resistance(const Float& h, const Float& friction, const Float& speed, const Float& v);
// qpos, qvel, stiffness, damping, gravity -> passive, those of the scene included, and
// `compensation`, the part of gravity compensation that counts as the actuators' force.
KernelDef passive(const TreePointer& tree, SceneForces forces = {});

// The inertia of a body by itself, about the place of its tree's root; from body_fullinertia (xx,
// yy, zz, xy, xz, yz about the center of mass, in the body's axes) if the tree has that.
Inertia body_inertia_of(const Tree& tree, int body, const Read<Vec3>& xpos, const Read<Quat>& xquat,
                        const Read<Vec3>& xipos, const Property<Float>& body_mass,
                        const Property<Vec3>& body_inertia, const Property<Quat>& body_iquat,
                        const Property<Six>& body_fullinertia);
// From xx, yy, zz, xy, xz, yz.
Mat3 symmetric(const Six& s);

// The acceleration of each body if no joint accelerates, about the place of its tree's root, with
// this acceleration of the world.
std::vector<Motion> carried_accelerations(const Tree& tree, const Motion& world,
                                          const Read<Six>& cdof, const Read<Six>& cvel,
                                          const Read<Float>& qvel);

}  // namespace hindcast::articulated
