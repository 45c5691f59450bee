// Lengths of tendons, and how joints change them. Arrays, of models with spatial tendons:
//   tendon_length   tendons          m; of spatial ones
//   tendon_moment   tendons x dofs   derivative of each length by the positions of the joints; only
//                                    entries that may be other than 0 are ever written
//   tendon_bias     tendons          second derivative of each length by time where no joint
//                                    accelerates: m/s^2; of spatial ones with armature
#pragma once

#include "kernels/articulated/dynamics/kinematics.hpp"

namespace hindcast::articulated {

// xpos, xquat, cdof and the geoms' places and sizes -> tendon_length, tendon_moment.
KernelDef tendons(const TreePointer& tree);
// xpos, xquat, cdof, cvel, qvel -> tendon_bias.
KernelDef tendon_bias(const TreePointer& tree);

// Kernels' access to tendons: fixed ones from joints, spatial ones from the arrays above.
struct TendonReader {
    const Tree& tree;
    Read<Float> qpos, length_of, moment_of;

    Float length(int tendon) const;
    // Its entries that may be other than 0: degree of freedom, value.
    std::vector<std::pair<int, Float>> moment(int tendon) const;
    Float velocity(int tendon, const Read<Float>& qvel) const;
};

}  // namespace hindcast::articulated
