#include "kernels/articulated/sensors/geometry_sensors.hpp"

#include "engine/geometry/rays.hpp"
#include "kernels/articulated/tree/shape_of_geom.hpp"

namespace hindcast::articulated {

using namespace geometry;

using robot::SensorType;

namespace {

// The shorter of two lengths; one below 0 is missing.
Float nearer(const Float& a, const Float& b) {
    return select(a >= 0.0 && (b < 0.0 || a < b), a, b);
}

}  // namespace

Float GeometrySensors::range(const Sensor& s) const {
    const FrameNow eye = frames_.now(s.frame);
    const Vec3 way = to_matrix(eye.turn).column(2);
    Float nearest(-1);
    for (const SeenGeom& seen : s.seen) {
        const FrameNow geom = frames_.now(seen.frame);
        const Quat inward = conjugate(geom.turn);
        nearest =
            nearer(to(seen, rotate(inward, eye.place - geom.place), rotate(inward, way)), nearest);
    }
    return nearest;
}

Float GeometrySensors::to(const SeenGeom& geom, const Vec3& p, const Vec3& v) const {
    if (geom.type != robot::GeomType::mesh && geom.type != robot::GeomType::hfield)
        return crossing(kind_of(geom.type), from_.model.geom_size[geom.frame.number], p, v)
            .distance();
    const Float surface = to_triangles(from_.geometry.ray_triangle, from_.geometry.ray_vertex,
                                       geom.triangles.first, geom.triangles.end, p, v);
    if (geom.type == robot::GeomType::mesh) return surface;
    const auto& [x, y, height, depth] = geom.field;
    const Vec3 middle(0, 0, -0.5 * depth);
    return nearer(crossing(ShapeKind::box, Vec3(x, y, 0.5 * depth), p - middle, v).distance(),
                  surface);
}

std::vector<Float> GeometrySensors::distance(const Sensor& s) const {
    const bool is_distance = s.type == SensorType::geomdist;
    if (s.near.first == s.near.end)
        return is_distance ? std::vector<Float>{Float(s.near.reach)}
                           : std::vector<Float>(at(s.count));
    Int nearest = -1;
    Float least = s.near.reach;
    for_(s.near.first, s.near.end, [&](Int slot) {
        const Float dist = from_.geometry.apart_dist[slot];
        const Bool nearer = dist < least;
        nearest = select(nearer, slot, nearest);
        least = min(dist, least);
    });
    const Bool some = nearest >= 0;
    const Int slot = max(nearest, Int(s.near.first));
    const Float dist = from_.geometry.apart_dist[slot];
    if (is_distance) return {select(some, dist, Float(s.near.reach))};
    // From the sensor's first geom to its second.
    const Mat3 frame = from_.geometry.apart_frame[slot];
    const Vec3 normal =
        Float(from_.geometry.apart_sign[slot]) * Vec3(frame(0, 0), frame(0, 1), frame(0, 2));
    std::vector<Float> all;
    const auto say = [&](const Vec3& v) {
        for (int k = 0; k < 3; ++k) all.push_back(select(some, v[k], Float(0)));
    };
    if (s.type == SensorType::geomnormal) {
        say(select(dist < 0.0, -normal, normal));
        return all;
    }
    const Vec3 middle = from_.geometry.apart_pos[slot], half = normal * (0.5 * dist);
    say(middle - half);
    say(middle + half);
    return all;
}

std::vector<Float> GeometrySensors::picture(const SensedCamera& camera, const Vec3& point) const {
    using enum SensedCamera::Mode;
    const FrameNow frame = frames_.now(camera.frame);
    Vec3 place = frame.place;
    Mat3 axes = to_matrix(frame.turn);
    const auto center = [&](int body) { return frames_.subtree(body).center; };
    if (camera.mode == track || camera.mode == track_com) {
        const int body = camera.frame.body;
        const auto& [x, y, z] = camera.offset;
        place = (camera.mode == track ? Vec3(from_.xpos[body]) : center(body)) + Vec3(x, y, z);
        for (int k = 0; k < 9; ++k) axes(k / 3, k % 3) = Float(camera.axes[at(k)]);
    } else if (camera.mode != fixed) {
        // Its second axis lies above the third, its first one level.
        const int body = camera.target_body;
        const Vec3 back =
            normalize(place - (camera.mode == target ? Vec3(from_.xpos[body]) : center(body)));
        const Vec3 right = normalize(cross(Vec3(0, 0, 1), back)), up = cross(back, right);
        for (int k = 0; k < 3; ++k) axes(k, 0) = right[k], axes(k, 1) = up[k], axes(k, 2) = back[k];
    }
    const Vec3 seen = transpose(axes) * (point - place);
    return {camera.middle[0] - camera.focal[0] * seen[0] / seen[2],
            camera.middle[1] + camera.focal[1] * seen[1] / seen[2]};
}

}  // namespace hindcast::articulated
