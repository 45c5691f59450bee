// Energies of a tree of bodies, as kernels of one item that add to `value`, scaled by `scale`: J.
#pragma once

#include "kernels/articulated/dynamics/dynamics.hpp"

namespace hindcast::articulated {

// The kinetic energy of bodies and of the armature of joints and tendons, J.
KernelDef kinetic_energy(const TreePointer& tree);
// The gravitational energy, J; 0 for a center of mass at the origin.
KernelDef gravitational_energy(const TreePointer& tree);

}  // namespace hindcast::articulated
