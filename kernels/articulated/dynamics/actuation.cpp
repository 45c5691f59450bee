#include "kernels/articulated/dynamics/actuation.hpp"

#include <numbers>

namespace hindcast::articulated {

using robot::BiasType;
using robot::DynamicsType;
using robot::GainType;
using robot::JointType;
using robot::TransmissionType;

namespace {

constexpr double two_pi = 2 * std::numbers::pi;

bool is_on_joint(const Actuator& a, int joint) {
    return a.target == joint &&
           (a.acts_on == TransmissionType::joint || a.acts_on == TransmissionType::jointinparent);
}

Float limited(const Float& x, const Limits& limits) {
    return limits.present ? clamp(x, limits.low, limits.high) : x;
}

// What an actuator acts along: its length, and the generalised force of a unit force.
struct Way {
    Float length;
    std::vector<std::pair<int, Float>> moment;  // dof, value
};

struct Place {
    Read<Float> qpos;
    Read<Vec3> xpos;
    Read<Quat> xquat;
    Read<Six> cdof;
};

Way joint_way(const Tree& t, const Actuator& a, const Place& at_place, const Vec3& first,
              const Vec3& last) {
    const Joint& joint = t.joints[at(a.target)];
    Way way;
    if (joint.dofs() == 1) {
        way.length = at_place.qpos[joint.qpos] * first[0];
        way.moment.emplace_back(joint.dof, first[0]);
        return way;
    }
    const bool is_free = joint.type == JointType::free;
    const Quat turn = quaternion_at(at_place.qpos, joint.qpos + joint.scalars());
    Vec3 torque = is_free ? last : first;
    if (a.acts_on == TransmissionType::jointinparent) torque = rotate(conjugate(turn), torque);
    if (!is_free) way.length = dot(rotation_vector(turn), torque);
    for (int k = 0; k < joint.scalars(); ++k) way.moment.emplace_back(joint.dof + k, first[k]);
    for (int k = 0; k < 3; ++k) way.moment.emplace_back(joint.dof + joint.scalars() + k, torque[k]);
    return way;
}

Way way_of(const Tree& t, const Actuator& a, const Place& at_place, const Vec3& first,
           const Vec3& last) {
    Way way;
    if (a.acts_on == TransmissionType::tendon) {
        way.length = tendon_length(t, a.target, at_place.qpos) * first[0];
        for (const auto& [joint, coefficient] : t.tendons[at(a.target)].joints)
            way.moment.emplace_back(t.joints[at(joint)].dof, coefficient * first[0]);
        return way;
    }
    if (a.acts_on != TransmissionType::site) return joint_way(t, a, at_place, first, last);
    // A force and a torque in the site's frame.
    const Site& site = t.sites[at(a.target)];
    const Quat body = at_place.xquat[site.body];
    const Vec3 local(site.position[0], site.position[1], site.position[2]);
    const double* o = site.orientation;
    const Quat frame = body * Quat(Vec4(o[0], o[1], o[2], o[3]));
    const Vec3 arm = Vec3(at_place.xpos[site.body]) + rotate(body, local) -
                     Vec3(at_place.xpos[t.bodies[at(site.body)].root]);
    const Vec3 push = rotate(frame, first);
    const Force wrench(rotate(frame, last) + cross(arm, push), push);
    for (const int k : a.dofs) way.moment.emplace_back(k, dot(Motion(at_place.cdof[k]), wrench));
    return way;
}

}  // namespace

Float next_activation(const Actuator& actuator, const Float& act, const Float& rate,
                      const Float& h) {
    Float next;
    if (actuator.dynamics == DynamicsType::filterexact)
        next = act - rate * actuator.time_constant * expm1(-h / actuator.time_constant);
    else
        next = act + rate * h;
    return limited(next, actuator.activation_limits);
}

KernelDef actuation(const TreePointer& tree) {
    return kernel(
        "articulated_actuation",
        {"qpos", "qvel", "act", "ctrl", "h", "xpos", "xquat", "cdof", "gainprm", "biasprm", "gear",
         "compensation", "moment", "actuator_force", "slope", "act_dot", "actuator"},
        [tree](Int, Read<Float> qpos, Read<Float> qvel, Read<Float> act, Property<Float> ctrl,
               Param<Float> h, Read<Vec3> xpos, Read<Quat> xquat, Read<Six> cdof,
               Property<Vec3> gain_of, Property<Vec3> bias_of, Property<Six> gear,
               Read<Float> compensation, WriteSlice<Float> moment, WriteSlice<Float> actuator_force,
               WriteSlice<Float> slope, WriteSlice<Float> act_dot, WriteSlice<Float> actuator) {
            const Tree& t = *tree;
            const Place place{qpos, xpos, xquat, cdof};
            std::vector<Float> sum(at(t.nv)), slopes(t.actuators.size());
            for (int u = 0; u < static_cast<int>(t.actuators.size()); ++u) {
                const Actuator& a = t.actuators[at(u)];
                const Float control = limited(ctrl[u], a.control);
                Float input = control;
                if (a.activation >= 0) {
                    const Float now = act[a.activation];
                    const Float rate = a.dynamics == DynamicsType::integrator
                                           ? control
                                           : (control - now) / a.time_constant;
                    act_dot.store_once(a.activation, a.off ? Float(0) : rate);
                    input = a.early ? next_activation(a, now, rate, h.value()) : now;
                }
                const Six along = gear[u];
                const Vec3 first(along[0], along[1], along[2]);
                const Way way = way_of(t, a, place, first, Vec3(along[3], along[4], along[5]));
                Float velocity;
                std::vector<Float> row(at(t.nv));
                for (const auto& [dof, value] : way.moment) {
                    velocity = velocity + value * qvel[dof];
                    row[at(dof)] = row[at(dof)] + value;
                }
                for (const int k : a.dofs) moment.store_once(t.entry(u, k), row[at(k)]);
                if (a.off) {
                    actuator_force.store_once(u, Float(0));
                    continue;
                }
                const Vec3 gain = gain_of[u], bias = bias_of[u];
                if (a.may_wrap) {
                    // A position servo goes to the setpoint that is nearest.
                    const Float period = two_pi * norm(first);
                    const Float turns = round(divz(input - way.length, period));
                    input = select(gain[0] == -bias[1], input - period * turns, input);
                }
                const auto affine = [&](const Vec3& p) {
                    return p[0] + p[1] * way.length + p[2] * velocity;
                };
                Float force = (a.gain == GainType::affine ? affine(gain) : gain[0]) * input;
                Float rate;
                if (a.gain == GainType::affine) rate = gain[2] * input;
                if (a.bias == BiasType::affine) {
                    force = force + affine(bias);
                    rate = rate + bias[2];
                }
                if (a.force.present) {
                    const Bool inside = force > a.force.low && force < a.force.high;
                    force = limited(force, a.force);
                    rate = select(inside, rate, Float(0));
                }
                actuator_force.store_once(u, force);
                slopes[at(u)] = rate;
                for (const int k : a.dofs) sum[at(k)] = sum[at(k)] + row[at(k)] * force;
            }
            for (int i = 0; i < t.nv; ++i) {
                const Joint& joint = t.joints[at(t.dof_joint[at(i)])];
                Float total = sum[at(i)];
                if (joint.actuator_carries) total = total + compensation[i];
                actuator.store_once(i, limited(total, joint.force));
                if (!joint.force.present) continue;
                const Bool inside = total > joint.force.low && total < joint.force.high;
                for (std::size_t u = 0; u < t.actuators.size(); ++u)
                    if (is_on_joint(t.actuators[u], t.dof_joint[at(i)]))
                        slopes[u] = select(inside, slopes[u], Float(0));
            }
            for (int u = 0; u < static_cast<int>(t.actuators.size()); ++u)
                slope.store_once(u, slopes[at(u)]);
        });
}

}  // namespace hindcast::articulated
