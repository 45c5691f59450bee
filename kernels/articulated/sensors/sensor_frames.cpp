#include "kernels/articulated/sensors/sensor_frames.hpp"

#include "engine/ad/grad.hpp"
#include "engine/geometry/rays.hpp"
#include "kernels/articulated/tree/shape_of_geom.hpp"

namespace hindcast::articulated {

using namespace geometry;

using robot::ObjectType;

Vec3 SensorFrames::velocity_of(int body, const Vec3& place) const {
    if (!t_.moves(body)) return Vec3();
    const Motion v(from_.cvel[body]);
    return v.linear + cross(v.angular, place - root(body));
}

Bool SensorFrames::holds(const Sensor& s, const FrameNow& site, const Vec3& point) const {
    const Vec3 p = rotate(conjugate(site.turn), point - site.place);
    if (s.shape != robot::GeomType::mesh)
        return is_inside(kind_of(s.shape), Vec3(s.size[0], s.size[1], s.size[2]), p);
    Float most = -1e300;
    for_(s.first_side, s.end_side, [&](Int k) {
        const Vec4 side = from_.volume_side[k];
        most = max(most, ad::stop_gradient(dot(Vec3(side[0], side[1], side[2]), p) - side[3]));
    });
    return most <= 0.0;
}

SensorFrames::Subtree SensorFrames::subtree(int body) const {
    Subtree all;
    Vec3 first;
    for (int b = body; b < static_cast<int>(t_.bodies.size()); ++b) {
        int up = b;
        while (up > body) up = t_.bodies[at(up)].parent;
        if (up != body) continue;
        all.bodies.push_back(b);
        const Float m = from_.model.body_mass[b];
        all.mass = all.mass + m;
        first = first + Vec3(from_.xipos[b]) * m;
    }
    const Bool some = all.mass > 1e-15;
    all.mass = select(some, all.mass, Float(1));
    all.center = select(some, first / all.mass, Vec3(from_.xipos[body]));
    return all;
}

FrameNow SensorFrames::now(const SensedFrame& frame) const {
    const int b = frame.body;
    const Quat turn(from_.xquat[b]);
    FrameNow f;
    f.place = from_.xpos[b];
    f.turn = turn;
    if (frame.type == ObjectType::body) {
        f.place = from_.xipos[b];
        f.turn = turn * normalize(from_.model.body_iquat[b]);
    } else if (frame.type == ObjectType::geom) {
        f.place = f.place + rotate(turn, from_.model.geom_pos[frame.number]);
        f.turn = turn * normalize(from_.model.geom_quat[frame.number]);
    } else if (frame.type == ObjectType::site) {
        const Site& site = t_.sites[at(frame.number)];
        const double *p = site.position, *q = site.orientation;
        f.place = f.place + rotate(turn, Vec3(p[0], p[1], p[2]));
        f.turn = turn * Quat(Vec4(q[0], q[1], q[2], q[3]));
    } else if (frame.type == ObjectType::camera) {
        const auto& [x, y, z] = frame.position;
        const auto& [w, i, j, k] = frame.orientation;
        f.place = f.place + rotate(turn, Vec3(x, y, z));
        f.turn = turn * Quat(Vec4(w, i, j, k));
    }
    const bool moves = t_.moves(b);
    if (moves) f.spin = Motion(from_.cvel[b]).angular;
    f.velocity = velocity_of(b, f.place);
    if (accelerations_.empty()) return f;
    const Motion& a = accelerations_[at(b)];
    f.spin_rate = a.angular;
    f.acceleration = a.linear;
    if (moves)
        f.acceleration =
            f.acceleration + cross(a.angular, f.place - root(b)) + cross(f.spin, f.velocity);
    return f;
}

}  // namespace hindcast::articulated
