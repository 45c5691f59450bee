#include "kernels/articulated/dynamics/dynamics.hpp"

#include <map>
#include <numbers>

#include "kernels/articulated/dynamics/tendons.hpp"

namespace hindcast::articulated {

using robot::JointType;

namespace {

int body_count(const Tree& t) { return static_cast<int>(t.bodies.size()); }

}  // namespace

Mat3 symmetric(const Six& s) {
    Mat3 m;
    for (int i = 0; i < 3; ++i) m(i, i) = s[i];
    m(0, 1) = m(1, 0) = s[3];
    m(0, 2) = m(2, 0) = s[4];
    m(1, 2) = m(2, 1) = s[5];
    return m;
}

Inertia body_inertia_of(const Tree& tree, int body, const Read<Vec3>& xpos, const Read<Quat>& xquat,
                        const Read<Vec3>& xipos, const Property<Float>& body_mass,
                        const Property<Vec3>& body_inertia, const Property<Quat>& body_iquat,
                        const Property<Six>& body_fullinertia) {
    const Vec3 from_origin = xipos[body] - Vec3(xpos[tree.bodies[at(body)].root]);
    if (tree.full_inertia) {
        const Mat3 axes = to_matrix(Quat(xquat[body]));
        return Inertia(body_mass[body], from_origin,
                       axes * symmetric(body_fullinertia[body]) * transpose(axes));
    }
    return Inertia(body_mass[body], from_origin, body_inertia[body],
                   Quat(xquat[body]) * normalize(body_iquat[body]));
}

KernelDef inertia(const TreePointer& tree) {
    return kernel(
        "articulated_inertia",
        {"xpos", "xquat", "xipos", "cdof", "body_mass", "body_inertia", "body_iquat",
         "body_fullinertia", "dof_armature", "tendon_moment", "cinert", "inertia"},
        [tree](Int, Read<Vec3> xpos, Read<Quat> xquat, Read<Vec3> xipos, Read<Six> cdof,
               Property<Float> body_mass, Property<Vec3> body_inertia, Property<Quat> body_iquat,
               Property<Six> body_fullinertia, Property<Float> dof_armature,
               Read<Float> tendon_moment, WriteSlice<Ten> cinert, WriteSlice<Float> matrix) {
            const Tree& t = *tree;
            std::vector<Inertia> composite(t.bodies.size());
            for (int b = 1; b < body_count(t); ++b) {
                if (!t.moves(b)) continue;
                composite[at(b)] = body_inertia_of(t, b, xpos, xquat, xipos, body_mass,
                                                   body_inertia, body_iquat, body_fullinertia);
                cinert.store_once(b, composite[at(b)].ten());
            }
            for (int b = body_count(t) - 1; b > 0; --b) {
                const int parent = t.bodies[at(b)].parent;
                if (t.moves(parent))
                    composite[at(parent)] = composite[at(parent)] + composite[at(b)];
            }
            std::map<std::pair<int, int>, Float> of_tendons;
            const TendonReader tendons{t, tendon_moment, tendon_moment, tendon_moment};
            for (int k = 0; k < static_cast<int>(t.tendons.size()); ++k) {
                if (t.tendons[at(k)].armature == 0) continue;
                const auto moment = tendons.moment(k);
                for (const auto& [i, a] : moment)
                    for (const auto& [j, b] : moment)
                        if (j <= i)
                            of_tendons[{i, j}] =
                                of_tendons[{i, j}] + t.tendons[at(k)].armature * (a * b);
            }
            for (int i = 0; i < t.nv; ++i) {
                const Force momentum = composite[at(t.dof_body[at(i)])] * Motion(cdof[i]);
                std::vector<Float> row(at(i + 1), Float(0));
                for (const int j : t.ancestors[at(i)]) {
                    const Float m = dot(Motion(cdof[j]), momentum);
                    row[at(j)] = j == i ? m + dof_armature[i] : m;
                    if (const auto more = of_tendons.find({i, j}); more != of_tendons.end())
                        row[at(j)] = row[at(j)] + more->second;
                }
                for (int j = 0; j <= i; ++j) matrix.store_once(t.entry(i, j), row[at(j)]);
            }
        });
}

std::vector<Motion> carried_accelerations(const Tree& t, const Motion& world, const Read<Six>& cdof,
                                          const Read<Six>& cvel, const Read<Float>& qvel) {
    std::vector<Motion> a(t.bodies.size());
    a[0] = world;
    for (int b = 1; b < body_count(t); ++b) {
        if (!t.moves(b)) {
            a[at(b)] = a[0];
            continue;
        }
        const Body& body = t.bodies[at(b)];
        a[at(b)] = a[at(body.parent)];
        Motion v;
        if (t.moves(body.parent)) v = Motion(cvel[body.parent]);
        // The motion that carries a joint's axes along; the three translations of a free joint have
        // the axes of the world.
        const auto joint_part = [&](int dof, int count) {
            Motion own = Motion(cdof[dof]) * qvel[dof];
            for (int k = dof + 1; k < dof + count; ++k) own = own + Motion(cdof[k]) * qvel[k];
            a[at(b)] = a[at(b)] + cross(v, own);
            v = v + own;
        };
        for (const int j : body.joints) {
            const Joint& joint = t.joints[at(j)];
            if (joint.type != JointType::free) {
                joint_part(joint.dof, joint.dofs());
                continue;
            }
            for (int k = joint.dof; k < joint.dof + 3; ++k) v = v + Motion(cdof[k]) * qvel[k];
            joint_part(joint.dof + 3, 3);
        }
    }
    return a;
}

// Outwards the accelerations of bodies whose joints do not accelerate, with -g for the world's;
// inwards the forces that these need.
KernelDef bias(const TreePointer& tree) {
    return kernel(
        "articulated_bias",
        {"cdof", "cvel", "cinert", "qvel", "gravity", "tendon_moment", "tendon_bias", "bias"},
        [tree](Int, Read<Six> cdof, Read<Six> cvel, Read<Ten> cinert, Read<Float> qvel,
               Property<Vec3> gravity, Read<Float> tendon_moment, Read<Float> tendon_bias,
               WriteSlice<Float> bias) {
            const Tree& t = *tree;
            Motion world;
            if (t.gravity) world.linear = -gravity[0];
            const std::vector<Motion> a = carried_accelerations(t, world, cdof, cvel, qvel);
            std::vector<Force> f(t.bodies.size());
            for (int b = 1; b < body_count(t); ++b) {
                if (!t.moves(b)) continue;
                const Inertia inertia(cinert[b]);
                const Motion velocity(cvel[b]);
                f[at(b)] = inertia * a[at(b)] + cross(velocity, inertia * velocity);
            }
            std::vector<Float> all(at(t.nv));
            for (int b = body_count(t) - 1; b > 0; --b) {
                const Body& body = t.bodies[at(b)];
                for (const int j : body.joints) {
                    const Joint& joint = t.joints[at(j)];
                    for (int k = joint.dof; k < joint.dof + joint.dofs(); ++k)
                        all[at(k)] = dot(Motion(cdof[k]), f[at(b)]);
                }
                if (t.moves(body.parent)) f[at(body.parent)] = f[at(body.parent)] + f[at(b)];
            }
            const TendonReader tendons{t, qvel, qvel, tendon_moment};
            for (int i = 0; i < static_cast<int>(t.tendons.size()); ++i) {
                const Tendon& tendon = t.tendons[at(i)];
                if (tendon.fixed || tendon.armature == 0) continue;
                const Float force = tendon.armature * tendon_bias[i];
                for (const auto& [k, value] : tendons.moment(i))
                    all[at(k)] = all[at(k)] + value * force;
            }
            for (int k = 0; k < t.nv; ++k) bias.store_once(k, all[at(k)]);
        });
}

Float coulomb_resistance(const Float& h, const Float& friction, const Float& speed,
                         const Float& v) {
    return h * (2 / std::numbers::pi) * friction * speed / (speed * speed + v * v);
}

KernelDef passive(const TreePointer& tree, SceneForces forces) {
    return kernel(
        "articulated_passive",
        {"qpos", "qvel", "xpos", "xipos", "cdof", "jnt_stiffness", "qpos_spring", "dof_damping",
         "dof_coulomb", "dof_coulomb_speed", "applied", "tendon_length", "tendon_moment",
         "body_mass", "gravity", "passive", "compensation"},
        [tree, forces](Int, Read<Float> qpos, Read<Float> qvel, Read<Vec3> xpos, Read<Vec3> xipos,
                       Read<Six> cdof, Property<Float> jnt_stiffness, Property<Float> qpos_spring,
                       Property<Float> dof_damping, Property<Float> dof_coulomb,
                       Property<Float> dof_coulomb_speed, Read<Float> applied,
                       Read<Float> tendon_length, Read<Float> tendon_moment,
                       Property<Float> body_mass, Property<Vec3> gravity, WriteSlice<Float> passive,
                       WriteSlice<Float> compensation) {
            const Tree& t = *tree;
            std::vector<Float> force(at(t.nv)), carried(at(t.nv));
            for (int i = 0; t.dampers && i < t.nv; ++i) force[at(i)] = -(dof_damping[i] * qvel[i]);
            for (int i = 0; forces.coulomb && i < t.nv; ++i)
                force[at(i)] -=
                    (2 / std::numbers::pi) * dof_coulomb[i] * atan(qvel[i] / dof_coulomb_speed[i]);
            for (int i = 0; forces.applied && i < t.nv; ++i)
                force[at(i)] = force[at(i)] + applied[i];
            for (int j = 0; t.springs && j < static_cast<int>(t.joints.size()); ++j) {
                const Joint& joint = t.joints[at(j)];
                const auto away = [&](int k) {
                    return qpos[joint.qpos + k] - qpos_spring[joint.qpos + k];
                };
                const int ways = joint.scalars();
                for (int k = 0; k < ways; ++k)
                    force[at(joint.dof + k)] -= jnt_stiffness[j] * away(k);
                if (joint.dofs() < 3) continue;
                const Vec3 turn =
                    rotation_vector(conjugate(quaternion_at(qpos_spring, joint.qpos + ways)) *
                                    quaternion_at(qpos, joint.qpos + ways));
                for (int k = 0; k < 3; ++k)
                    force[at(joint.dof + ways + k)] -= jnt_stiffness[j] * turn[k];
            }
            const TendonReader tendons{t, qpos, tendon_length, tendon_moment};
            for (int i = 0; i < static_cast<int>(t.tendons.size()); ++i) {
                const Tendon& tendon = t.tendons[at(i)];
                if (tendon.stiffness == 0 && tendon.damping == 0) continue;
                Float pull;
                if (tendon.stiffness != 0) {
                    const Float length = tendons.length(i);
                    pull = tendon.stiffness * (clamp(length, tendon.low, tendon.high) - length);
                }
                if (tendon.damping != 0) pull = pull - tendon.damping * tendons.velocity(i, qvel);
                for (const auto& [dof, value] : tendons.moment(i)) force[at(dof)] += value * pull;
            }
            // MuJoCo leaves out all passive forces where both flags are off.
            const bool compensates = t.gravity && (t.springs || t.dampers);
            for (int b = 1; compensates && b < body_count(t); ++b) {
                const Body& body = t.bodies[at(b)];
                if (body.gravity_compensation == 0 || body.dofs.empty()) continue;
                const Vec3 up = gravity[0] * (-body.gravity_compensation * body_mass[b]);
                const Force lift(cross(xipos[b] - Vec3(xpos[body.root]), up), up);
                for (const int k : body.dofs) {
                    const bool of_actuators = t.joints[at(t.dof_joint[at(k)])].actuator_carries;
                    (of_actuators ? carried : force)[at(k)] += dot(Motion(cdof[k]), lift);
                }
            }
            for (int i = 0; i < t.nv; ++i) {
                passive.store_once(i, force[at(i)]);
                compensation.store_once(i, carried[at(i)]);
            }
        });
}

}  // namespace hindcast::articulated
