#include "kernels/articulated/sensors/constraint_sensors.hpp"

#include <algorithm>

#include "engine/geometry/rays.hpp"
#include "kernels/articulated/constraints/row_force.hpp"
#include "kernels/articulated/sensors/contact_sensors.hpp"
#include "kernels/articulated/sensors/tendon_loads.hpp"
#include "kernels/articulated/tree/shape_of_geom.hpp"

namespace hindcast::articulated {

using namespace geometry;

using robot::EqualityType;
using robot::SensorType;

namespace {

// A force at a place, about another one.
Force shifted(const Vec3& moment, const Vec3& force, const Vec3& from, const Vec3& to) {
    return Force(moment + cross(from - to, force), force);
}

Force less(const Force& a, const Force& b) { return Force(a.moment - b.moment, a.force - b.force); }

}  // namespace

bool ConstraintSensors::carries(int ancestor, int body) const {
    while (body > ancestor) body = t_.bodies[at(body)].parent;
    return body == ancestor;
}

Force ConstraintSensors::load(int body, const Vec3& place,
                              const std::vector<Motion>& accelerations) const {
    Force sum;
    for (int b = std::max(body, 1); b < static_cast<int>(t_.bodies.size()); ++b) {
        if (!carries(body, b)) continue;
        const Inertia own = body_inertia_of(t_, b, from_.xpos, from_.xquat, from_.xipos,
                                            from_.model.body_mass, from_.model.body_inertia,
                                            from_.model.body_iquat, from_.model.body_fullinertia);
        Force f = own * accelerations[at(b)];
        if (t_.moves(b)) {
            const Motion v(from_.cvel[b]);
            f = f + cross(v, own * v);
        }
        sum = sum + shifted(f.moment, f.force, root(b), place);
    }
    if (p_.contacts > 0) sum = less(sum, of_contacts(body, place));
    if (scene_.applied) sum = less(sum, of_scene(body, place));
    if (t_.has_spatial_tendons()) sum = less(sum, TendonLoads(t_, p_, from_).load(body, place));
    return less(sum, of_equalities(body, place));
}

Force ConstraintSensors::of_contacts(int body, const Vec3& place) const {
    const auto number = std::ranges::find(s_.load_bodies, body) - s_.load_bodies.begin();
    const int first = static_cast<int>(number) * static_cast<int>(t_.bodies.size());
    Vec3 moment, force;
    for (int k = 0; k < 3; ++k) moment[k] = 0, force[k] = 0;
    for_(
        0, from_.contacts.contact_count[0],
        [&](Int contact) {
            const Int slot = from_.contacts.contact_slot[contact];
            const Vec<Int, 7> pair = from_.contacts.pair_numbers[from_.contacts.slot_pair[slot]];
            const Float side(from_.sensor_carries[first + pair[1]] -
                             from_.sensor_carries[first + pair[0]]);
            const Mat3 frame = from_.contacts.slot_frame[slot];
            const Six local = from_.contacts.contact_wrench[contact];
            const Force f = shifted(in_world(frame, local, 3), in_world(frame, local, 0),
                                    from_.contacts.slot_pos[slot], place);
            for (int k = 0; k < 3; ++k) {
                moment[k] += side * f.moment[k];
                force[k] += side * f.force[k];
            }
        },
        p_.contacts);
    return Force(moment, force);
}

Force ConstraintSensors::of_equalities(int body, const Vec3& place) const {
    Force sum;
    for (const EqualityRow& e : p_.equalities) {
        const bool weld = e.type == EqualityType::weld;
        if (!weld && e.type != EqualityType::connect) continue;
        const Vec<Float, 12> data = from_.model.eq_data[e.number];
        const auto three = [&](int row) {
            return Vec3(row_force(row), row_force(row + 1), row_force(row + 2));
        };
        const Vec3 force = three(e.row), moment = weld ? weld_moment(e, data) : Vec3();
        for (const bool second : {false, true}) {
            const int thing = second ? e.second : e.first;
            const int b = e.sites ? t_.sites[at(thing)].body : thing;
            if (!carries(body, b)) continue;
            const int k = weld == second ? 0 : 3;  // a weld has the anchor in the second body first
            Vec3 local(data[k], data[k + 1], data[k + 2]);
            if (e.sites) {
                const double* const p = t_.sites[at(thing)].position;
                local = Vec3(p[0], p[1], p[2]);
            }
            const Vec3 anchor = Vec3(from_.xpos[b]) + rotate(from_.xquat[b], local);
            const Force f = shifted(moment, force, anchor, place);
            sum = second ? less(sum, f) : sum + f;
        }
    }
    return sum;
}

// On the first body: the rows of a weld's turn are the vector part of s conj(b) a / 2 for a turning by w (to
// first order: s conj(b) w a / 2).
Vec3 ConstraintSensors::weld_moment(const EqualityRow& e, const Vec<Float, 12>& data) const {
    const auto turn_of = [&](int thing) {
        if (!e.sites) return Quat(from_.xquat[thing]);
        const Site& site = t_.sites[at(thing)];
        const double* const q = site.orientation;
        return Quat(from_.xquat[site.body]) * Quat(Vec4(q[0], q[1], q[2], q[3]));
    };
    const Quat relative(Vec4(data[6], data[7], data[8], data[9]));
    const Quat first = turn_of(e.first), turned = e.sites ? first : first * relative;
    const Quat back = conjugate(turn_of(e.second));
    Vec3 moment;
    for (int j = 0; j < 3; ++j) {
        Vec3 axis;
        axis[j] = 1;
        const Quat rate = back * Quat(Float(0), axis) * turned;
        for (int k = 0; k < 3; ++k)
            moment[j] =
                moment[j] + row_force(e.row + 3 + k) * (0.5 * data[10]) * rate.component(k + 1);
    }
    return moment;
}

Force ConstraintSensors::of_scene(int body, const Vec3& place) const {
    Force sum;
    int number = static_cast<int>(first_);
    const auto add = [&](int b, const Vec3& point) {
        const Vec3 f = from_.point_force[number++];
        if (carries(body, b)) sum = sum + shifted(Vec3(), f, point, place);
    };
    for (int b = 1; b < static_cast<int>(t_.bodies.size()); ++b) add(b, from_.xipos[b]);
    for (const Site& site : t_.sites) {
        const Vec3 local(site.position[0], site.position[1], site.position[2]);
        add(site.body, Vec3(from_.xpos[site.body]) + rotate(from_.xquat[site.body], local));
    }
    return sum;
}

Float ConstraintSensors::touch(const Sensor& s, const Vec3& place, const Mat3& axes) const {
    if (p_.contacts == 0) return 0;
    Float sum = 0;
    const int body = s.frame.body;
    const Mat3 inward = transpose(axes);
    const Vec3 size(s.size[0], s.size[1], s.size[2]);
    for_(
        0, from_.contacts.contact_count[0],
        [&](Int contact) {
            const Int slot = from_.contacts.contact_slot[contact];
            const Vec<Int, 7> pair = from_.contacts.pair_numbers[from_.contacts.slot_pair[slot]];
            const Bool first = pair[0] == body, second = pair[1] == body;
            const Mat3 frame = from_.contacts.slot_frame[slot];
            const Vec3 normal(frame(0, 0), frame(0, 1), frame(0, 2));
            const Vec3 way = select(second, -normal, normal);
            const Crossing met =
                crossing(kind_of(s.shape), size, inward * (from_.contacts.slot_pos[slot] - place),
                         inward * way);
            const Float force = from_.contacts.contact_wrench[contact][0];
            sum += select((first || second) && force > 0.0 && met.is && met.leave >= 0.0, force,
                          Float(0));
        },
        p_.contacts);
    return sum;
}

Float ConstraintSensors::row_force(int row) const {
    const Bool works = from_.rows.row_mass[row] > 0.0;
    return select(works, Float(from_.rows.row_force[row]), Float(0));
}

Float ConstraintSensors::row_velocity(int row) const {
    Float sum;
    for (int k = 0; k < t_.nv; ++k)
        sum = sum + from_.rows.row_jacobian[row * t_.nv + k] * from_.qvel[k];
    return sum;
}

Float ConstraintSensors::joint_limit(const Sensor& s) const {
    const Joint& joint = t_.joints[at(s.object)];
    const Two range = from_.model.jnt_range[s.object];
    for (const BallLimit& ball : p_.balls) {
        if (ball.joint != s.object) continue;
        const Bool works = from_.rows.row_mass[ball.row] > 0.0;
        if (s.type == SensorType::jointlimitfrc) return row_force(ball.row);
        if (s.type == SensorType::jointlimitvel)
            return select(works, row_velocity(ball.row), Float(0));
        const Vec3 turn = rotation_vector(quaternion_at(from_.qpos, joint.qpos));
        const Float past =
            max(range[0], range[1]) - safe_sqrt(dot(turn, turn), 1e-30) - ball.margin;
        return select(works, past, Float(0));
    }
    // The lower limit comes first.
    Float value;
    for (int row = static_cast<int>(p_.dof_rows.size()) - 1; row >= 0; --row) {
        const DofRow& limit = p_.dof_rows[at(row)];
        if (limit.joint != s.object || limit.kind == DofRow::friction) continue;
        const bool low = limit.kind == DofRow::low;
        const double sign = low ? 1 : -1;
        Float own;
        if (s.type == SensorType::jointlimitpos) {
            const Float q = from_.qpos[joint.qpos];
            own = (low ? q - range[0] : range[1] - q) - limit.margin;
        } else if (s.type == SensorType::jointlimitvel) {
            own = sign * from_.qvel[joint.dof];
        } else {
            const RowNumbers numbers{from_.rows.dof_row_mass[row], from_.rows.dof_row_low[row],
                                     from_.rows.dof_row_high[row]};
            own = -numbers.slope(sign * from_.qacc[joint.dof] - from_.rows.dof_row_aref[row]);
        }
        value = select(from_.rows.dof_row_mass[row] > 0.0, own, value);
    }
    return value;
}

Float ConstraintSensors::tendon_limit(const Sensor& s) const {
    const Two range = from_.model.tendon_range[s.object];
    Float value;
    for (auto limit = p_.tendons.rbegin(); limit != p_.tendons.rend(); ++limit) {
        if (limit->tendon != s.object || limit->kind == DofRow::friction) continue;
        const bool low = limit->kind == DofRow::low;
        Float own;
        if (s.type == SensorType::tendonlimitpos) {
            const Float length = from_.tendons.length(s.object);
            own = (low ? length - range[0] : range[1] - length) - limit->margin;
        } else if (s.type == SensorType::tendonlimitvel) {
            own = row_velocity(limit->row);
        } else {
            own = row_force(limit->row);
        }
        value = select(from_.rows.row_mass[limit->row] > 0.0, own, value);
    }
    return value;
}

}  // namespace hindcast::articulated
