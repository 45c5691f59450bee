#include "kernels/articulated/dynamics/actuation.hpp"

#include <algorithm>
#include <numbers>

#include "kernels/articulated/dynamics/tendons.hpp"

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

// The transmission of an actuator: its length, and the generalized force of a unit force.
struct Way {
    Float length;
    std::vector<std::pair<int, Float>> moment;  // dof, value
};

struct Place {
    Read<Float> qpos;
    Read<Vec3> xpos;
    Read<Quat> xquat;
    Read<Six> cdof;
    TendonReader tendons;
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

struct SiteFrame {  // NOLINT: assigning records, so it may throw
    int body = 0;
    Vec3 place;
    Quat turn;
};
SiteFrame frame_of(const Tree& t, int number, const Place& at_place) {
    const Site& site = t.sites[at(number)];
    const Quat body = at_place.xquat[site.body];
    const Vec3 local(site.position[0], site.position[1], site.position[2]);
    const double* o = site.orientation;
    return {site.body, Vec3(at_place.xpos[site.body]) + rotate(body, local),
            body * Quat(Vec4(o[0], o[1], o[2], o[3]))};
}

Way way_of(const Tree& t, const Actuator& a, const Place& at_place, const Vec3& first,
           const Vec3& last) {
    Way way;
    if (a.acts_on == TransmissionType::tendon) {
        way.length = at_place.tendons.length(a.target) * first[0];
        for (const auto& [dof, value] : at_place.tendons.moment(a.target))
            way.moment.emplace_back(dof, value * first[0]);
        return way;
    }
    if (a.acts_on != TransmissionType::site) return joint_way(t, a, at_place, first, last);
    // A force and a torque in the site's frame, or in that of the reference site, on which their
    // opposites act.
    const SiteFrame site = frame_of(t, a.target, at_place);
    SiteFrame reference;
    if (a.reference_site >= 0) {
        reference = frame_of(t, a.reference_site, at_place);
        way.length = dot(rotate(conjugate(reference.turn), site.place - reference.place), first) +
                     dot(rotation_vector(conjugate(reference.turn) * site.turn), last);
    }
    const Quat& frame = a.reference_site >= 0 ? reference.turn : site.turn;
    const Vec3 push = rotate(frame, first), torque = rotate(frame, last);
    const auto add = [&](const SiteFrame& at_site, const Float& sign) {
        const Body& body = t.bodies[at(at_site.body)];
        const Vec3 arm = at_site.place - Vec3(at_place.xpos[body.root]);
        const Force wrench(torque + cross(arm, push), push);
        for (const int k : body.dofs)
            if (std::ranges::binary_search(a.dofs, k))
                way.moment.emplace_back(k, sign * dot(Motion(at_place.cdof[k]), wrench));
    };
    add(site, 1.0);
    if (a.reference_site >= 0) add(reference, -1.0);
    return way;
}

// If the actuators of a tendon together pull more than it allows, all their forces are reduced by
// the same factor.
void limit_forces_of_tendons(const Tree& t, std::vector<Float>& forces, std::vector<Float>& slopes,
                             std::vector<Float>& rises) {
    for (int i = 0; i < static_cast<int>(t.tendons.size()); ++i) {
        const Limits& limits = t.tendons[at(i)].force;
        if (!limits.present) continue;
        std::vector<std::size_t> own;
        Float total;
        for (std::size_t u = 0; u < t.actuators.size(); ++u) {
            const Actuator& a = t.actuators[u];
            if (a.acts_on != TransmissionType::tendon || a.target != i || a.off) continue;
            own.push_back(u);
            total = total + forces[u];
        }
        const Bool inside = total > limits.low && total < limits.high;
        const Float factor = select(inside || total == 0.0, Float(1),
                                    limited(total, limits) / select(total == 0.0, Float(1), total));
        for (const std::size_t u : own) {
            forces[u] = forces[u] * factor;
            slopes[u] = select(inside, slopes[u], Float(0));
            rises[u] = select(inside, rises[u], Float(0));
        }
    }
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

Float nearest_setpoint(const Actuator& actuator, const Six& gear, const Vec3& gain,
                       const Vec3& bias, const Float& setpoint, const Float& from) {
    if (!actuator.may_wrap) return setpoint;
    const bool of_site = actuator.reference_site >= 0;
    const Vec3 first(gear[0], gear[1], gear[2]), last(gear[3], gear[4], gear[5]);
    const Float period = two_pi * norm(of_site ? last : first);
    const Float turns = round(divz(setpoint - from, period));
    Bool is = gain[0] == -bias[1];
    for (int k = 0; of_site && k < 3; ++k) is = is && first[k] == 0.0;
    return select(is, setpoint - period * turns, setpoint);
}

KernelDef actuation(const TreePointer& tree) {
    return kernel(
        "articulated_actuation",
        {"qpos",
         "qvel",
         "act",
         "ctrl",
         "h",
         "xpos",
         "xquat",
         "cdof",
         "gainprm",
         "biasprm",
         "gear",
         "compensation",
         "tendon_length",
         "tendon_moment",
         "moment",
         "actuator_length",
         "actuator_force",
         "slope",
         "rise",
         "act_dot",
         "actuator"},
        [tree](Int, Read<Float> qpos, Read<Float> qvel, Read<Float> act, Property<Float> ctrl,
               Param<Float> h, Read<Vec3> xpos, Read<Quat> xquat, Read<Six> cdof,
               Property<Vec3> gain_of, Property<Vec3> bias_of, Property<Six> gear,
               Read<Float> compensation, Read<Float> tendon_length, Read<Float> tendon_moment,
               WriteSlice<Float> moment, WriteSlice<Float> actuator_length,
               WriteSlice<Float> actuator_force, WriteSlice<Float> slope, WriteSlice<Float> rise,
               WriteSlice<Float> act_dot, WriteSlice<Float> actuator) {
            const Tree& t = *tree;
            const Place place{qpos, xpos, xquat, cdof, {t, qpos, tendon_length, tendon_moment}};
            std::vector<Float> sum(at(t.nv)), slopes(t.actuators.size()), rises(t.actuators.size()),
                forces(t.actuators.size());
            std::vector<std::vector<Float>> rows(t.actuators.size());
            for (int u = 0; u < static_cast<int>(t.actuators.size()); ++u) {
                const Actuator& a = t.actuators[at(u)];
                const Six along = gear[u];
                const Vec3 first(along[0], along[1], along[2]), last(along[3], along[4], along[5]);
                const Vec3 gain = gain_of[u], bias = bias_of[u];
                const auto nearest = [&](const Float& setpoint, const Float& from) {
                    return nearest_setpoint(a, along, gain, bias, setpoint, from);
                };
                const Float control = limited(ctrl[u], a.control);
                Float input = control;
                if (a.activation >= 0) {
                    const Float now = act[a.activation];
                    const Float rate = a.dynamics == DynamicsType::integrator
                                           ? control
                                           : (nearest(control, now) - now) / a.time_constant;
                    act_dot.store_once(a.activation, a.off ? Float(0) : rate);
                    input = a.early ? next_activation(a, now, rate, h.value()) : now;
                }
                const Way way = way_of(t, a, place, first, last);
                Float velocity;
                std::vector<Float>& row = rows[at(u)];
                row.resize(at(t.nv));
                for (const auto& [dof, value] : way.moment) {
                    velocity = velocity + value * qvel[dof];
                    row[at(dof)] = row[at(dof)] + value;
                }
                for (const int k : a.dofs) moment.store_once(t.entry(u, k), row[at(k)]);
                actuator_length.store_once(u, way.length);
                if (a.off) continue;
                input = nearest(input, way.length);
                const auto affine = [&](const Vec3& p) {
                    return p[0] + p[1] * way.length + p[2] * velocity;
                };
                Float force = (a.gain == GainType::affine ? affine(gain) : gain[0]) * input;
                Float rate, rising;
                if (a.gain == GainType::affine) {
                    rate = gain[2] * input;
                    rising = gain[1] * input;
                }
                if (a.bias == BiasType::affine) {
                    force = force + affine(bias);
                    rate = rate + bias[2];
                    rising = rising + bias[1];
                }
                if (a.force.present) {
                    const Bool inside = force > a.force.low && force < a.force.high;
                    force = limited(force, a.force);
                    rate = select(inside, rate, Float(0));
                    rising = select(inside, rising, Float(0));
                }
                forces[at(u)] = force;
                slopes[at(u)] = rate;
                rises[at(u)] = rising;
            }
            limit_forces_of_tendons(t, forces, slopes, rises);
            for (int u = 0; u < static_cast<int>(t.actuators.size()); ++u) {
                actuator_force.store_once(u, forces[at(u)]);
                for (const int k : t.actuators[at(u)].dofs)
                    sum[at(k)] = sum[at(k)] + rows[at(u)][at(k)] * forces[at(u)];
            }
            for (int i = 0; i < t.nv; ++i) {
                const Joint& joint = t.joints[at(t.dof_joint[at(i)])];
                Float total = sum[at(i)];
                if (joint.actuator_carries) total = total + compensation[i];
                actuator.store_once(i, limited(total, joint.force));
                if (!joint.force.present) continue;
                const Bool inside = total > joint.force.low && total < joint.force.high;
                for (std::size_t u = 0; u < t.actuators.size(); ++u)
                    if (is_on_joint(t.actuators[u], t.dof_joint[at(i)])) {
                        slopes[u] = select(inside, slopes[u], Float(0));
                        rises[u] = select(inside, rises[u], Float(0));
                    }
            }
            for (int u = 0; u < static_cast<int>(t.actuators.size()); ++u) {
                slope.store_once(u, slopes[at(u)]);
                if (t.integrator == robot::IntegratorType::discrete)
                    rise.store_once(u, rises[at(u)]);
            }
        });
}

}  // namespace hindcast::articulated
