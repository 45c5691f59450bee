#include "kernels/articulated/dynamics/energies.hpp"

#include "kernels/articulated/dynamics/tendons.hpp"

namespace hindcast::articulated {

KernelDef kinetic_energy(const TreePointer& tree) {
    return kernel(
        "articulated_kinetic_energy",
        {"xpos", "xquat", "xipos", "cvel", "qvel", "body_mass", "body_inertia", "body_iquat",
         "body_fullinertia", "dof_armature", "tendon_moment", "scale", "value"},
        [tree](Int, Read<Vec3> xpos, Read<Quat> xquat, Read<Vec3> xipos, Read<Six> cvel,
               Read<Float> qvel, Property<Float> body_mass, Property<Vec3> body_inertia,
               Property<Quat> body_iquat, Property<Six> body_fullinertia,
               Property<Float> dof_armature, Read<Float> tendon_moment, Param<Float> scale,
               Reduce<Float> value) {
            Float sum;
            for (int b = 1; b < static_cast<int>(tree->bodies.size()); ++b) {
                if (!tree->moves(b)) continue;
                const Motion v(cvel[b]);
                const Inertia own = body_inertia_of(*tree, b, xpos, xquat, xipos, body_mass,
                                                    body_inertia, body_iquat, body_fullinertia);
                sum = sum + dot(v, own * v);
            }
            for (int i = 0; i < tree->nv; ++i) sum = sum + dof_armature[i] * (qvel[i] * qvel[i]);
            const TendonReader tendons{*tree, qvel, qvel, tendon_moment};
            for (int i = 0; i < static_cast<int>(tree->tendons.size()); ++i) {
                const double armature = tree->tendons[at(i)].armature;
                if (armature == 0) continue;
                const Float v = tendons.velocity(i, qvel);
                sum = sum + armature * (v * v);
            }
            value += 0.5 * sum * scale.value();
        });
}

KernelDef gravitational_energy(const TreePointer& tree) {
    return kernel("articulated_gravitational_energy",
                  {"xipos", "body_mass", "gravity", "scale", "value"},
                  [tree](Int, Read<Vec3> xipos, Property<Float> body_mass, Property<Vec3> gravity,
                         Param<Float> scale, Reduce<Float> value) {
                      Float sum;
                      for (int b = 1; b < static_cast<int>(tree->bodies.size()); ++b)
                          sum = sum - body_mass[b] * dot(gravity[0], Vec3(xipos[b]));
                      value += sum * scale.value();
                  });
}

}  // namespace hindcast::articulated
