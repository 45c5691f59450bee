#include "kernels/articulated/sensors/tendon_loads.hpp"

#include "kernels/articulated/dynamics/wrapping.hpp"

namespace hindcast::articulated {

namespace {

// The unit vector from one place to another; zero if they are the same.
Vec3 direction(const Vec3& from, const Vec3& to) {
    const Vec3 way = to - from;
    const Float square = dot(way, way);
    const Bool some = square > 1e-30;
    return select(some, way / sqrt(select(some, square, Float(1))), Vec3());
}

}  // namespace

Vec3 TendonLoads::site(int number) const {
    const Site& s = t_.sites[at(number)];
    return Vec3(from_.xpos[s.body]) +
           rotate(from_.xquat[s.body], Vec3(s.position[0], s.position[1], s.position[2]));
}

Float TendonLoads::of_rows(int tendon) const {
    const auto force = [&](int row) {
        return select(from_.rows.row_mass[row] > 0.0, Float(from_.rows.row_force[row]), Float(0));
    };
    Float sum;
    for (const TendonRow& row : p_.tendons)
        if (row.tendon == tendon)
            sum = sum + (row.kind == DofRow::high ? -force(row.row) : force(row.row));
    for (const EqualityRow& e : p_.equalities) {
        if (e.type != robot::EqualityType::tendon) continue;
        if (e.first == tendon) sum = sum + force(e.row);
        if (e.second != tendon) continue;
        // As in constraint_rows.cpp.
        const Vec<Float, 12> data = from_.model.eq_data[e.number];
        const Float x = from_.tendons.length(tendon) - from_.tendon_length0[tendon];
        const Float slope =
            data[1] + x * (2.0 * data[2] + x * (3.0 * data[3] + x * (4.0 * data[4])));
        sum = sum - slope * force(e.row);
    }
    return sum;
}

Float TendonLoads::tension(int number) const {
    const Tendon& tendon = t_.tendons[at(number)];
    Float sum = of_rows(number);
    if (tendon.stiffness != 0) {
        const Float length = from_.tendons.length(number);
        sum = sum + tendon.stiffness * (clamp(length, tendon.low, tendon.high) - length);
    }
    if (tendon.damping != 0)
        sum = sum - tendon.damping * from_.tendons.velocity(number, from_.qvel);
    for (int u = 0; u < static_cast<int>(t_.actuators.size()); ++u) {
        const Actuator& a = t_.actuators[at(u)];
        if (a.acts_on == robot::TransmissionType::tendon && a.target == number)
            sum = sum + Six(from_.model.gear[u])[0] * from_.actuator_force[u];
    }
    if (tendon.armature == 0) return sum;
    Float rate = from_.tendon_bias[number];
    for (const auto& [dof, value] : from_.tendons.moment(number))
        rate = rate + value * from_.qacc[dof];
    return sum - tendon.armature * rate;
}

Force TendonLoads::load(int body, const Vec3& place) const {
    const auto carries = [&](int b) {
        while (b > body) b = t_.bodies[at(b)].parent;
        return b == body;
    };
    Vec3 moment, force;
    // Adds the pull `much` (N) of a straight piece at its two ends.
    const auto pull = [&](int one, const Vec3& a, int two, const Vec3& b, const Float& much) {
        if (carries(one) == carries(two)) return;
        const Vec3 f = direction(a, b) * (carries(two) ? much : -much);
        force = force + f;
        moment = moment + cross((carries(two) ? b : a) - place, f);
    };
    for (int i = 0; i < static_cast<int>(t_.tendons.size()); ++i) {
        const Tendon& tendon = t_.tendons[at(i)];
        if (tendon.fixed) continue;
        const Float own = tension(i);
        for (const TendonPiece& piece : tendon.pieces) {
            const int one = t_.sites[at(piece.first)].body, two = t_.sites[at(piece.second)].body;
            const Vec3 a = site(piece.first), b = site(piece.second);
            const Float much = piece.share * own;
            if (piece.geom < 0) {
                pull(one, a, two, b, much);
                continue;
            }
            const RoundGeom& geom = t_.obstacles[at(piece.geom)];
            const Quat turn(from_.xquat[geom.body]);
            Obstacle obstacle;
            obstacle.is_sphere = geom.is_sphere;
            obstacle.place =
                Vec3(from_.xpos[geom.body]) + rotate(turn, from_.model.geom_pos[geom.number]);
            obstacle.axes = to_matrix(turn * normalize(from_.model.geom_quat[geom.number]));
            obstacle.radius = Vec3(from_.model.geom_size[geom.number])[0];
            Vec3 side;
            if (piece.side >= 0) {
                side = site(piece.side);
                obstacle.side = &side;
            }
            const Wrap w = wrap(obstacle, a, b);
            const Float straight = select(w.touches, Float(0), much),
                        around = select(w.touches, much, Float(0));
            pull(one, a, two, b, straight);
            pull(one, a, geom.body, w.first, around);
            pull(geom.body, w.second, two, b, around);
        }
    }
    return Force(moment, force);
}

}  // namespace hindcast::articulated
