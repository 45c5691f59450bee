#include "engine/geometry/box_pairs.hpp"

namespace hindcast::geometry {

namespace {

// The way out of the box for a point within it: straight through the nearest face, in the box's
// axes. The first of equally near faces counts, in the order -x, x, -y, y, -z, z.
struct Way {
    Vec3 out;
    Float length;
};
Way way_out(const Vec3& point, const Vec3& half) {
    Way way{Vec3(-1, 0, 0), half[0] + point[0]};
    for (int k = 0; k < 3; ++k)
        for (const int side : {-1, 1}) {
            const Float length = half[k] - static_cast<double>(side) * point[k];
            const Bool nearer = length < way.length;
            Vec3 out;
            out[k] = Float(side);
            way.out = select(nearer, out, way.out);
            way.length = select(nearer, length, way.length);
        }
    return way;
}

}  // namespace

Contact ball_box(const Vec3& center, const Float& radius, const Shape& box) {
    const Vec3 point = box.inward(center - box.place);
    const Vec3 nearest = max(-box.size, min(box.size, point));
    const Vec3 between = nearest - point;
    const Float length = norm(between);
    const Bool within = length < no_length;
    const Way way = way_out(point, box.size);
    const Float dist = select(within, -way.length, length) - radius;
    const Vec3 normal = select(within, -way.out, normalize(between));
    return Contact(dist, center + box.outward(normal * (radius + 0.5 * dist)), box.outward(normal));
}

Contacts sphere_box(const Shape& sphere, const Shape& box, const Float& /*reach*/) {
    return {ball_box(sphere.place, sphere.radius(), box)};
}

}  // namespace hindcast::geometry
