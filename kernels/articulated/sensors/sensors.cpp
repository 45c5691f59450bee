#include "kernels/articulated/sensors/sensors.hpp"

#include "kernels/articulated/dynamics/tendons.hpp"

namespace hindcast::articulated {

using robot::ObjectType;
using robot::SensorType;

namespace {

// What a kernel of sensors reads.
struct Sources {
    Read<Float> qpos, qvel;
    Read<Vec3> xpos;
    Read<Quat> xquat;
    Read<Vec3> xipos;
    Read<Six> cdof, cvel;
    Read<Float> moment, actuator_length, actuator_force, actuator;
    TendonReader tendons;
    Read<Float> qacc;
    Property<Float> body_mass;
    Property<Vec3> body_inertia;
    Property<Quat> body_iquat;
    Property<Six> body_fullinertia;
    Property<Vec3> geom_pos;
    Property<Quat> geom_quat;
};

// A frame at an instant: where it is and how it moves, in the world's axes.
struct FrameNow {
    Vec3 place;
    Quat turn;
    Vec3 velocity, spin;
    Vec3 acceleration, spin_rate;  // less gravity, as in a frame that falls
};

class Reading {
public:
    Reading(const Tree& tree, const SensorPlan& plan, const Sources& from,
            const Property<Vec3>& gravity)
        : t_(tree), p_(plan), from_(from) {
        if (!plan.needs_accelerations) return;
        Motion world;
        if (tree.gravity) world.linear = -gravity[0];
        accelerations_ = carried_accelerations(tree, world, from.cdof, from.cvel, from.qvel);
        for (int b = 1; b < static_cast<int>(tree.bodies.size()); ++b)
            for (const int k : tree.bodies[at(b)].dofs)
                accelerations_[at(b)] = accelerations_[at(b)] + Motion(from.cdof[k]) * from.qacc[k];
    }

    std::vector<Float> of(const Sensor& s) const {
        switch (s.type) {
            case SensorType::jointpos: return {from_.qpos[t_.joints[at(s.object)].qpos]};
            case SensorType::jointvel: return {from_.qvel[t_.joints[at(s.object)].dof]};
            case SensorType::ballquat:
                return list(quaternion_at(from_.qpos, t_.joints[at(s.object)].qpos));
            case SensorType::ballangvel: {
                const int dof = t_.joints[at(s.object)].dof;
                return {from_.qvel[dof], from_.qvel[dof + 1], from_.qvel[dof + 2]};
            }
            case SensorType::tendonpos: return {from_.tendons.length(s.object)};
            case SensorType::tendonvel: return {from_.tendons.velocity(s.object, from_.qvel)};
            case SensorType::actuatorpos: return {from_.actuator_length[s.object]};
            case SensorType::actuatorvel: return {actuator_velocity(s.object)};
            case SensorType::actuatorfrc: return {from_.actuator_force[s.object]};
            case SensorType::jointactfrc:
                return {t_.actuators.empty() ? Float(0)
                                             : Float(from_.actuator[t_.joints[at(s.object)].dof])};
            case SensorType::tendonactfrc: return {tendon_force(s.object)};
            case SensorType::subtreecom:
            case SensorType::subtreelinvel:
            case SensorType::subtreeangmom: return list(subtree(s));
            default: return of_frame(s);
        }
    }

private:
    static std::vector<Float> list(const Vec3& v) { return {v[0], v[1], v[2]}; }
    static std::vector<Float> list(const Quat& q) {
        return {q.component(0), q.component(1), q.component(2), q.component(3)};
    }

    Float actuator_velocity(int number) const {
        Float sum;
        for (const int k : t_.actuators[at(number)].dofs)
            sum = sum + from_.moment[t_.entry(number, k)] * from_.qvel[k];
        return sum;
    }

    Float tendon_force(int number) const {
        Float sum;
        for (int u = 0; u < static_cast<int>(t_.actuators.size()); ++u)
            if (const Actuator& a = t_.actuators[at(u)];
                a.acts_on == robot::TransmissionType::tendon && a.target == number)
                sum = sum + from_.actuator_force[u];
        return sum;
    }

    Vec3 velocity_of(int body, const Vec3& place) const {
        if (!t_.moves(body)) return Vec3();
        const Motion v(from_.cvel[body]);
        return v.linear + cross(v.angular, place - root(body));
    }
    Vec3 root(int body) const { return from_.xpos[t_.bodies[at(body)].root]; }

    // Centre of mass, its velocity, or the angular momentum about it, of a body and all that it carries.
    Vec3 subtree(const Sensor& s) const {
        std::vector<int> bodies;
        for (int b = s.object; b < static_cast<int>(t_.bodies.size()); ++b)
            if (b == s.object || carries(s.object, b)) bodies.push_back(b);
        Float mass;
        Vec3 first, momentum;
        for (const int b : bodies) {
            const Float m = from_.body_mass[b];
            mass = mass + m;
            first = first + Vec3(from_.xipos[b]) * m;
            momentum = momentum + velocity_of(b, from_.xipos[b]) * m;
        }
        const Bool some = mass > 1e-15;
        const Float whole = select(some, mass, Float(1));
        const Vec3 center = select(some, first / whole, Vec3(from_.xipos[s.object]));
        const Vec3 velocity = momentum / whole;
        if (s.type == SensorType::subtreecom) return center;
        if (s.type == SensorType::subtreelinvel) return velocity;
        Vec3 sum;
        for (const int b : bodies) {
            if (!t_.moves(b)) continue;
            const Vec3 place = from_.xipos[b], spin = Motion(from_.cvel[b]).angular;
            sum = sum + own_momentum(b, spin) +
                  cross(place - center, (velocity_of(b, place) - velocity) * from_.body_mass[b]);
        }
        return sum;
    }
    // Angular, about its centre of mass.
    Vec3 own_momentum(int b, const Vec3& spin) const {
        const Quat turn(from_.xquat[b]);
        if (t_.full_inertia)
            return rotate(turn,
                          symmetric(from_.body_fullinertia[b]) * rotate(conjugate(turn), spin));
        const Quat axes = turn * normalize(from_.body_iquat[b]);
        const Vec3 local = rotate(conjugate(axes), spin), moments = from_.body_inertia[b];
        Vec3 own;
        for (int k = 0; k < 3; ++k) own[k] = moments[k] * local[k];
        return rotate(axes, own);
    }
    bool carries(int ancestor, int body) const {
        while (body > ancestor) body = t_.bodies[at(body)].parent;
        return body == ancestor;
    }

    FrameNow now(const SensedFrame& frame) const {
        const int b = frame.body;
        const Quat turn(from_.xquat[b]);
        FrameNow f;
        f.place = from_.xpos[b];
        f.turn = turn;
        if (frame.type == ObjectType::body) {
            f.place = from_.xipos[b];
            f.turn = turn * normalize(from_.body_iquat[b]);
        } else if (frame.type == ObjectType::geom) {
            f.place = f.place + rotate(turn, from_.geom_pos[frame.number]);
            f.turn = turn * normalize(from_.geom_quat[frame.number]);
        } else if (frame.type == ObjectType::site) {
            const Site& site = t_.sites[at(frame.number)];
            const double *p = site.position, *q = site.orientation;
            f.place = f.place + rotate(turn, Vec3(p[0], p[1], p[2]));
            f.turn = turn * Quat(Vec4(q[0], q[1], q[2], q[3]));
        }
        const bool moves = t_.moves(b);
        if (moves) f.spin = Motion(from_.cvel[b]).angular;
        f.velocity = velocity_of(b, f.place);
        if (!p_.needs_accelerations) return f;
        const Motion& a = accelerations_[at(b)];
        f.spin_rate = a.angular;
        f.acceleration = a.linear;
        if (moves)
            f.acceleration =
                f.acceleration + cross(a.angular, f.place - root(b)) + cross(f.spin, f.velocity);
        return f;
    }

    std::vector<Float> of_frame(const Sensor& s) const {
        const FrameNow f = now(s.frame);
        const auto locally = [&](const Vec3& v) { return list(rotate(conjugate(f.turn), v)); };
        switch (s.type) {
            case SensorType::magnetometer:
                return locally(Vec3(p_.magnetic[0], p_.magnetic[1], p_.magnetic[2]));
            case SensorType::accelerometer: return locally(f.acceleration);
            case SensorType::velocimeter: return locally(f.velocity);
            case SensorType::gyro: return locally(f.spin);
            case SensorType::framelinacc: return list(f.acceleration);
            case SensorType::frameangacc: return list(f.spin_rate);
            default: break;
        }
        FrameNow r;
        if (s.relative) r = now(s.reference);
        const auto seen = [&](const Vec3& v) {
            return list(s.relative ? rotate(conjugate(r.turn), v) : v);
        };
        const auto axis = [&](int k) { return seen(to_matrix(f.turn).column(k)); };
        switch (s.type) {
            case SensorType::framepos: return seen(s.relative ? f.place - r.place : f.place);
            case SensorType::framequat:
                return list(s.relative ? conjugate(r.turn) * f.turn : f.turn);
            case SensorType::framexaxis: return axis(0);
            case SensorType::frameyaxis: return axis(1);
            case SensorType::framezaxis: return axis(2);
            case SensorType::frameangvel: return seen(s.relative ? f.spin - r.spin : f.spin);
            default: break;
        }
        // framelinvel
        if (!s.relative) return list(f.velocity);
        return seen(f.velocity - r.velocity - cross(r.spin, f.place - r.place));
    }

    const Tree& t_;
    const SensorPlan& p_;
    Sources from_;
    std::vector<Motion> accelerations_;
};

}  // namespace

KernelDef sensors(const TreePointer& tree, const SensorPointer& plan) {
    return kernel(
        "articulated_sensors", {"qpos",           "qvel",        "xpos",
                                "xquat",          "xipos",       "cdof",
                                "cvel",           "moment",      "actuator_length",
                                "actuator_force", "actuator",    "tendon_length",
                                "tendon_moment",  "qacc_sensed", "body_mass",
                                "body_inertia",   "body_iquat",  "body_fullinertia",
                                "geom_pos",       "geom_quat",   "gravity",
                                "sensordata"},
        [tree, plan](Int, Read<Float> qpos, Read<Float> qvel, Read<Vec3> xpos, Read<Quat> xquat,
                     Read<Vec3> xipos, Read<Six> cdof, Read<Six> cvel, Read<Float> moment,
                     Read<Float> actuator_length, Read<Float> actuator_force, Read<Float> actuator,
                     Read<Float> tendon_length, Read<Float> tendon_moment, Read<Float> qacc,
                     Property<Float> body_mass, Property<Vec3> body_inertia,
                     Property<Quat> body_iquat, Property<Six> body_fullinertia,
                     Property<Vec3> geom_pos, Property<Quat> geom_quat, Property<Vec3> gravity,
                     WriteSlice<Float> sensordata) {
            const Reading reading(*tree, *plan,
                                  {qpos,
                                   qvel,
                                   xpos,
                                   xquat,
                                   xipos,
                                   cdof,
                                   cvel,
                                   moment,
                                   actuator_length,
                                   actuator_force,
                                   actuator,
                                   {*tree, qpos, tendon_length, tendon_moment},
                                   qacc,
                                   body_mass,
                                   body_inertia,
                                   body_iquat,
                                   body_fullinertia,
                                   geom_pos,
                                   geom_quat},
                                  gravity);
            for (const Sensor& s : plan->sensors) {
                const std::vector<Float> values = reading.of(s);
                for (int k = 0; k < s.count; ++k) {
                    Float value = values[at(k)];
                    if (s.cutoff > 0)
                        value = s.positive ? min(value, Float(s.cutoff))
                                           : clamp(value, -s.cutoff, s.cutoff);
                    sensordata.store_once(s.first + k, value);
                }
            }
        });
}

}  // namespace hindcast::articulated
