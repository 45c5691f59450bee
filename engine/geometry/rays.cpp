#include "engine/geometry/rays.hpp"

#include "engine/geometry/contact.hpp"

namespace hindcast::geometry {

namespace {

constexpr double everywhere = 1e30, least_volume = 1e-30;

}  // namespace

// A search without derivatives finds the nearest triangle (Moeller, Trumbore, 1997); the distance
// is then that of its plane.
Float to_triangles(const Read<Int3>& triangles, const Read<Vec3>& vertices, int first, int end,
                   const Vec3& p, const Vec3& v) {
    if (first == end) return -1;
    const Vec3 from = without_derivative(p), way = without_derivative(v);
    Int nearest = -1;
    Float least = everywhere;
    for_(first, end, [&](Int k) {
        const Int3 corners = triangles[k];
        const Vec3 a = vertices[corners.x()], one = Vec3(vertices[corners.y()]) - a,
                   two = Vec3(vertices[corners.z()]) - a;
        const Vec3 across = cross(way, two);
        const Float volume = dot(one, across);
        const Bool slanted = volume > least_volume || volume < -least_volume;
        const Float divisor = select(slanted, volume, Float(1));
        const Vec3 to = from - a, turned = cross(to, one);
        const Float s = dot(to, across) / divisor, t = dot(way, turned) / divisor,
                    length = dot(two, turned) / divisor;
        const Bool nearer =
            slanted && s >= 0.0 && t >= 0.0 && s + t <= 1.0 && length >= 0.0 && length < least;
        nearest = select(nearer, k, nearest);
        least = select(nearer, length, least);
    });
    const Int3 corners = triangles[max(nearest, Int(first))];
    const Vec3 a = vertices[corners.x()];
    const Vec3 normal = cross(Vec3(vertices[corners.y()]) - a, Vec3(vertices[corners.z()]) - a);
    const Bool meets = nearest >= 0;
    return select(meets, dot(normal, a - p) / select(meets, dot(normal, v), Float(1)), Float(-1));
}

}  // namespace hindcast::geometry
