#include "kernels/articulated/sensors/sensors.hpp"

#include "kernels/articulated/sensors/constraint_sensors.hpp"
#include "kernels/articulated/sensors/contact_sensors.hpp"
#include "kernels/articulated/sensors/geometry_sensors.hpp"
#include "kernels/articulated/sensors/sensor_frames.hpp"
#include "kernels/articulated/sensors/sources.hpp"

namespace hindcast::articulated {

using robot::SensorType;

namespace {

// Accelerations of all bodies, less gravity, if sensors need them.
std::vector<Motion> accelerations(const Tree& tree, const SensorPlan& plan, const Sources& from) {
    if (!plan.needs_accelerations) return {};
    Motion world;
    if (tree.gravity) world.linear = -from.model.gravity[0];
    std::vector<Motion> all = carried_accelerations(tree, world, from.cdof, from.cvel, from.qvel);
    for (int b = 1; b < static_cast<int>(tree.bodies.size()); ++b)
        for (const int k : tree.bodies[at(b)].dofs)
            all[at(b)] = all[at(b)] + Motion(from.cdof[k]) * from.qacc[k];
    return all;
}

class SensorValues {
public:
    SensorValues(const Tree& tree, const ConstraintPlan& constraints, const SensorPlan& plan,
                 const Sources& from, SceneForces scene, std::int64_t first)
        : t_(tree),
          p_(plan),
          from_(from),
          frames_(t_, from_, accelerations(t_, p_, from_)),
          of_constraints_(t_, constraints, p_, from_, scene, first),
          of_contacts_(t_, constraints, from_, frames_),
          of_geometry_(from_, frames_) {}

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
            case SensorType::jointlimitpos:
            case SensorType::jointlimitvel:
            case SensorType::jointlimitfrc: return {of_constraints_.joint_limit(s)};
            case SensorType::tendonlimitpos:
            case SensorType::tendonlimitvel:
            case SensorType::tendonlimitfrc: return {of_constraints_.tendon_limit(s)};
            case SensorType::contact: return of_contacts_.told(s);
            case SensorType::geomdist:
            case SensorType::geomnormal:
            case SensorType::geomfromto: return of_geometry_.distance(s);
            case SensorType::e_potential: return {potential_energy()};
            case SensorType::e_kinetic: return {kinetic_energy()};
            case SensorType::clock: return {Float(from_.step.value()) * from_.h.value()};
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

    Vec3 velocity_of(int body, const Vec3& place) const { return frames_.velocity_of(body, place); }

    // Center of mass, its velocity, or the angular momentum about it, of a body and all that it carries.
    Vec3 subtree(const Sensor& s) const {
        const SensorFrames::Subtree all = frames_.subtree(s.object);
        const std::vector<int>& bodies = all.bodies;
        const Vec3& center = all.center;
        if (s.type == SensorType::subtreecom) return center;
        Vec3 momentum;
        for (const int b : bodies)
            momentum = momentum + velocity_of(b, from_.xipos[b]) * Float(from_.model.body_mass[b]);
        const Vec3 velocity = momentum / all.mass;
        if (s.type == SensorType::subtreelinvel) return velocity;
        Vec3 sum;
        for (const int b : bodies) {
            if (!t_.moves(b)) continue;
            const Vec3 place = from_.xipos[b], spin = Motion(from_.cvel[b]).angular;
            sum = sum + own_momentum(b, spin) +
                  cross(place - center,
                        (velocity_of(b, place) - velocity) * from_.model.body_mass[b]);
        }
        return sum;
    }
    // Angular, about its center of mass.
    Vec3 own_momentum(int b, const Vec3& spin) const {
        const Quat turn(from_.xquat[b]);
        if (t_.full_inertia)
            return rotate(
                turn, symmetric(from_.model.body_fullinertia[b]) * rotate(conjugate(turn), spin));
        const Quat axes = turn * normalize(from_.model.body_iquat[b]);
        const Vec3 local = rotate(conjugate(axes), spin), moments = from_.model.body_inertia[b];
        Vec3 own;
        for (int k = 0; k < 3; ++k) own[k] = moments[k] * local[k];
        return rotate(axes, own);
    }

    Float kinetic_energy() const {
        Float sum;
        for (int i = 0; i < t_.nv; ++i)
            for (const int j : t_.ancestors[at(i)]) {
                const Float pair = from_.inertia[t_.entry(i, j)] * from_.qvel[i] * from_.qvel[j];
                sum = sum + (i == j ? 0.5 * pair : pair);
            }
        return sum;
    }
    // The potential energy of gravity, and of the springs of joints and tendons.
    Float potential_energy() const {
        Float sum;
        for (int b = 1; t_.gravity && b < static_cast<int>(t_.bodies.size()); ++b)
            sum =
                sum - from_.model.body_mass[b] * dot(from_.model.gravity[0], Vec3(from_.xipos[b]));
        if (!t_.springs) return sum;
        for (int j = 0; j < static_cast<int>(t_.joints.size()); ++j) {
            const Joint& joint = t_.joints[at(j)];
            const int ways = joint.scalars();
            Float square;
            for (int k = joint.qpos; k < joint.qpos + ways; ++k) {
                const Float away = from_.qpos[k] - from_.model.qpos_spring[k];
                square = square + away * away;
            }
            if (joint.dofs() >= 3) {
                const Vec3 turn = rotation_vector(
                    conjugate(quaternion_at(from_.model.qpos_spring, joint.qpos + ways)) *
                    quaternion_at(from_.qpos, joint.qpos + ways));
                square = square + dot(turn, turn);
            }
            sum = sum + 0.5 * from_.model.jnt_stiffness[j] * square;
        }
        for (int i = 0; i < static_cast<int>(t_.tendons.size()); ++i) {
            const Tendon& tendon = t_.tendons[at(i)];
            if (tendon.stiffness == 0) continue;
            const Float length = from_.tendons.length(i);
            const Float away = length - clamp(length, tendon.low, tendon.high);
            sum = sum + 0.5 * tendon.stiffness * (away * away);
        }
        return sum;
    }

    std::vector<Float> of_frame(const Sensor& s) const {
        const FrameNow f = frames_.now(s.frame);
        const auto locally = [&](const Vec3& v) { return list(rotate(conjugate(f.turn), v)); };
        switch (s.type) {
            case SensorType::magnetometer:
                return locally(Vec3(p_.magnetic[0], p_.magnetic[1], p_.magnetic[2]));
            case SensorType::accelerometer: return locally(f.acceleration);
            case SensorType::velocimeter: return locally(f.velocity);
            case SensorType::gyro: return locally(f.spin);
            case SensorType::framelinacc: return list(f.acceleration);
            case SensorType::frameangacc: return list(f.spin_rate);
            case SensorType::force:
                return locally(
                    of_constraints_.load(s.frame.body, f.place, frames_.accelerations()).force);
            case SensorType::torque:
                return locally(
                    of_constraints_.load(s.frame.body, f.place, frames_.accelerations()).moment);
            case SensorType::touch: return {of_constraints_.touch(s, f.place, to_matrix(f.turn))};
            case SensorType::rangefinder: return {of_geometry_.range(s)};
            case SensorType::camprojection: return of_geometry_.picture(s.camera, f.place);
            default: break;
        }
        FrameNow r;
        if (s.relative) r = frames_.now(s.reference);
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
            case SensorType::insidesite:
                return {select(frames_.holds(s, r, f.place), Float(1), Float(0))};
            default: break;
        }
        // framelinvel
        if (!s.relative) return list(f.velocity);
        return seen(f.velocity - r.velocity - cross(r.spin, f.place - r.place));
    }

    const Tree& t_;
    const SensorPlan& p_;
    const Sources from_;
    SensorFrames frames_;
    ConstraintSensors of_constraints_;
    ContactSensors of_contacts_;
    GeometrySensors of_geometry_;
};

}  // namespace

KernelDef sensors(const TreePointer& tree, const PlanPointer& constraints,
                  const SensorPointer& plan, SceneForces scene, std::int64_t first) {
    return kernel(
        "articulated_sensors",
        {"qpos",
         "qvel",
         "xpos",
         "xquat",
         "xipos",
         "cdof",
         "cvel",
         "moment",
         "actuator_length",
         "actuator_force",
         "actuator",
         "tendon_length",
         "tendon_moment",
         "qacc_sensed",
         "body_mass",
         "body_inertia",
         "body_iquat",
         "body_fullinertia",
         "geom_pos",
         "geom_quat",
         "geom_size",
         "gravity",
         "inertia",
         "jnt_stiffness",
         "qpos_spring",
         "jnt_range",
         "tendon_range",
         "eq_data",
         "dof_row_aref",
         "dof_row_mass",
         "dof_row_low",
         "dof_row_high",
         "row_jacobian",
         "row_mass",
         "row_force",
         "contact_count",
         "contact_slot",
         "slot_pair",
         "pair_numbers",
         "slot_dist",
         "slot_pos",
         "slot_frame",
         "contact_wrench",
         "pair_order",
         "geom_xmat",
         "apart_dist",
         "apart_pos",
         "apart_frame",
         "apart_sign",
         "gear",
         "tendon_bias",
         "tendon_length0",
         "volume_side",
         "ray_triangle",
         "ray_vertex",
         "sensor_carries",
         "point_force",
         "step",
         "h",
         "sensordata"},
        [tree, constraints, plan, scene, first](
            Int, Read<Float> qpos, Read<Float> qvel, Read<Vec3> xpos, Read<Quat> xquat,
            Read<Vec3> xipos, Read<Six> cdof, Read<Six> cvel, Read<Float> moment,
            Read<Float> actuator_length, Read<Float> actuator_force, Read<Float> actuator,
            Read<Float> tendon_length, Read<Float> tendon_moment, Read<Float> qacc_sensed,
            Property<Float> body_mass, Property<Vec3> body_inertia, Property<Quat> body_iquat,
            Property<Six> body_fullinertia, Property<Vec3> geom_pos, Property<Quat> geom_quat,
            Property<Vec3> geom_size, Property<Vec3> gravity, Read<Float> inertia,
            Property<Float> jnt_stiffness, Property<Float> qpos_spring, Property<Two> jnt_range,
            Property<Two> tendon_range, Property<Vec<Float, 12>> eq_data, Read<Float> dof_row_aref,
            Read<Float> dof_row_mass, Read<Float> dof_row_low, Read<Float> dof_row_high,
            Read<Float> row_jacobian, Read<Float> row_mass, Read<Float> row_force,
            Read<Int> contact_count, Read<Int> contact_slot, Read<Int> slot_pair,
            Read<Vec<Int, 7>> pair_numbers, Read<Float> slot_dist, Read<Vec3> slot_pos,
            Read<Mat3> slot_frame, Read<Six> contact_wrench, Read<Int3> pair_order,
            Read<Mat3> geom_xmat, Read<Float> apart_dist, Read<Vec3> apart_pos,
            Read<Mat3> apart_frame, Read<Float> apart_sign, Property<Six> gear,
            Read<Float> tendon_bias, Read<Float> tendon_length0, Read<Vec4> volume_side,
            Read<Int3> ray_triangle, Read<Vec3> ray_vertex, Read<Int> sensor_carries,
            Read<Vec3> point_force, Param<Int> step, Param<Float> h, WriteSlice<Float> sensordata) {
            const Sources from{qpos,
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
                               qacc_sensed,
                               inertia,
                               {body_mass, body_inertia, body_iquat, body_fullinertia, geom_pos,
                                geom_quat, geom_size, gravity, jnt_stiffness, qpos_spring,
                                jnt_range, tendon_range, eq_data, gear},
                               {dof_row_aref, dof_row_mass, dof_row_low, dof_row_high, row_jacobian,
                                row_mass, row_force},
                               {contact_count, contact_slot, slot_pair, pair_numbers, slot_dist,
                                slot_pos, slot_frame, contact_wrench, pair_order},
                               {geom_xmat, apart_dist, apart_pos, apart_frame, apart_sign,
                                ray_triangle, ray_vertex},
                               tendon_bias,
                               tendon_length0,
                               volume_side,
                               sensor_carries,
                               point_force,
                               step,
                               h};
            const SensorValues reading(*tree, *constraints, *plan, from, scene, first);
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
