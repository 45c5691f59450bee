// Energies of a tree of bodies, as kernels of one item that add to `value`, scaled by `scale`: J.
#pragma once

#include "kernels/articulated/dynamics/dynamics.hpp"

namespace hindcast::articulated {

// Of bodies, of the armature of joints and of that of tendons.
KernelDef kinetic_energy(const TreePointer& tree);
// 0 where a centre of mass is at the origin.
KernelDef gravitational_energy(const TreePointer& tree);

}  // namespace hindcast::articulated
