#include "engine/geometry/rays.hpp"

#include "engine/geometry/contact.hpp"

namespace hindcast::geometry {

namespace {

constexpr double least = 1e-15, everywhere = 1e30, least_volume = 1e-30;

// Where a t^2 + 2 b t + c <= 0, with a > 0; everywhere or nowhere by the sign of c where a is 0.
Crossing quadratic(const Float& a, const Float& b, const Float& c) {
    const Bool curved = a > least;
    const Float divisor = select(curved, a, Float(1)), discriminant = b * b - a * c;
    const Bool meets = discriminant > least;
    const Float root = sqrt(select(meets, discriminant, Float(1)));
    return {(curved && meets) || (!curved && c <= 0.0),
            select(curved, (-b - root) / divisor, Float(-everywhere)),
            select(curved, (root - b) / divisor, Float(everywhere))};
}

// Where |p + t v| <= size, of one coordinate.
Crossing slab(const Float& p, const Float& v, const Float& size) {
    const Bool slanted = v > least || v < -least;
    const Float divisor = select(slanted, v, Float(1));
    const Float one = (-size - p) / divisor, two = (size - p) / divisor;
    return {slanted || (p <= size && p >= -size),
            select(slanted, min(one, two), Float(-everywhere)),
            select(slanted, max(one, two), Float(everywhere))};
}

Crossing both(const Crossing& a, const Crossing& b) {
    const Float enter = max(a.enter, b.enter), leave = min(a.leave, b.leave);
    return {a.is && b.is && enter <= leave, enter, leave};
}

// Of two that overlap where both are.
Crossing either(const Crossing& a, const Crossing& b) {
    return {a.is || b.is,
            select(a.is && b.is, min(a.enter, b.enter), select(a.is, a.enter, b.enter)),
            select(a.is && b.is, max(a.leave, b.leave), select(a.is, a.leave, b.leave))};
}

Crossing sphere(const Float& radius, const Vec3& p, const Vec3& v) {
    return quadratic(dot(v, v), dot(p, v), dot(p, p) - radius * radius);
}

Crossing cylinder(const Vec3& size, const Vec3& p, const Vec3& v) {
    const Crossing round = quadratic(v[0] * v[0] + v[1] * v[1], p[0] * v[0] + p[1] * v[1],
                                     p[0] * p[0] + p[1] * p[1] - size[0] * size[0]);
    return both(round, slab(p[2], v[2], size[1]));
}

Crossing plane(const Vec3& size, const Vec3& p, const Vec3& v) {
    const Bool meets = v[2] < -least;
    const Float t = -(p[2] / select(meets, v[2], Float(-1)));
    Bool is = meets && t >= 0.0;
    for (int k = 0; k < 2; ++k) {
        const Float there = p[k] + t * v[k];
        is = is && (size[k] <= 0.0 || (there <= size[k] && there >= -size[k]));
    }
    return {is, t, t};
}

Vec3 over(const Vec3& v, const Vec3& size) {
    return Vec3(v[0] / size[0], v[1] / size[1], v[2] / size[2]);
}

}  // namespace

bool has_rays(ShapeKind kind) {
    return kind == ShapeKind::plane || kind == ShapeKind::sphere || kind == ShapeKind::capsule ||
           kind == ShapeKind::ellipsoid || kind == ShapeKind::cylinder || kind == ShapeKind::box;
}

Crossing crossing(ShapeKind kind, const Vec3& size, const Vec3& p, const Vec3& v) {
    switch (kind) {
        case ShapeKind::plane: return plane(size, p, v);
        case ShapeKind::sphere: return sphere(size[0], p, v);
        case ShapeKind::ellipsoid: return sphere(1, over(p, size), over(v, size));
        case ShapeKind::cylinder: return cylinder(size, p, v);
        case ShapeKind::capsule: {
            const Vec3 up(Float(0), Float(0), size[1]);
            const Crossing ends = either(sphere(size[0], p - up, v), sphere(size[0], p + up, v));
            return either(cylinder(size, p, v), ends);
        }
        default:
            return both(slab(p[0], v[0], size[0]),
                        both(slab(p[1], v[1], size[1]), slab(p[2], v[2], size[2])));
    }
}

// The nearest one is found without derivatives (Moeller, Trumbore, 1997); then it is a plane.
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

Bool is_inside(ShapeKind kind, const Vec3& size, const Vec3& p) {
    const auto within = [&](int k, const Float& most) { return p[k] <= most && p[k] >= -most; };
    const auto in_ball = [](const Vec3& q, const Float& radius) {
        return dot(q, q) <= radius * radius;
    };
    const Float& radius = size[0];
    switch (kind) {
        case ShapeKind::sphere: return in_ball(p, radius);
        case ShapeKind::ellipsoid: return in_ball(over(p, size), 1);
        case ShapeKind::capsule:
            return in_ball(Vec3(p[0], p[1], p[2] - clamp(p[2], -size[1], size[1])), radius);
        case ShapeKind::cylinder:
            return in_ball(Vec3(p[0], p[1], Float(0)), radius) && within(2, size[1]);
        default: return within(0, size[0]) && within(1, size[1]) && within(2, size[2]);
    }
}

}  // namespace hindcast::geometry
