#include "engine/geometry/kinds/crossings.hpp"

#include <optional>

#include "engine/geometry/kinds/all.hpp"

namespace hindcast::geometry {

namespace {

constexpr double least = 1e-15, everywhere = 1e30;

}  // namespace

Crossing crossing_of_quadratic(const Float& a, const Float& b, const Float& c) {
    const Bool curved = a > least;
    const Float divisor = select(curved, a, Float(1)), discriminant = b * b - a * c;
    const Bool meets = discriminant > least;
    const Float root = sqrt(select(meets, discriminant, Float(1)));
    return {(curved && meets) || (!curved && c <= 0.0),
            select(curved, (-b - root) / divisor, Float(-everywhere)),
            select(curved, (root - b) / divisor, Float(everywhere))};
}

Crossing crossing_of_slab(const Float& p, const Float& v, const Float& size) {
    const Bool slanted = v > least || v < -least;
    const Float divisor = select(slanted, v, Float(1));
    const Float one = (-size - p) / divisor, two = (size - p) / divisor;
    return {slanted || (p <= size && p >= -size),
            select(slanted, min(one, two), Float(-everywhere)),
            select(slanted, max(one, two), Float(everywhere))};
}

Crossing crossing_of_ball(const Float& radius, const Vec3& p, const Vec3& v) {
    return crossing_of_quadratic(dot(v, v), dot(p, v), dot(p, p) - radius * radius);
}

Crossing crossing_of_tube(const Vec3& size, const Vec3& p, const Vec3& v) {
    const Crossing round =
        crossing_of_quadratic(v[0] * v[0] + v[1] * v[1], p[0] * v[0] + p[1] * v[1],
                              p[0] * p[0] + p[1] * p[1] - size[0] * size[0]);
    return both(round, crossing_of_slab(p[2], v[2], size[1]));
}

Crossing both(const Crossing& a, const Crossing& b) {
    const Float enter = max(a.enter, b.enter), leave = min(a.leave, b.leave);
    return {a.is && b.is && enter <= leave, enter, leave};
}

Crossing either(const Crossing& a, const Crossing& b) {
    return {a.is || b.is,
            select(a.is && b.is, min(a.enter, b.enter), select(a.is, a.enter, b.enter)),
            select(a.is && b.is, max(a.leave, b.leave), select(a.is, a.leave, b.leave))};
}

Crossing kinds::Plane::crossing(const Vec3& size, const Vec3& p, const Vec3& v) {
    const Bool meets = v[2] < -least;
    const Float t = -(p[2] / select(meets, v[2], Float(-1)));
    Bool is = meets && t >= 0.0;
    for (int k = 0; k < 2; ++k) {
        const Float there = p[k] + t * v[k];
        is = is && (size[k] <= 0.0 || (there <= size[k] && there >= -size[k]));
    }
    return {is, t, t};
}

bool has_rays(ShapeKind kind) {
    bool has = false;
    AllKinds::with(kind, [&](auto shape) {
        has = requires(const Vec3& v) { shape.crossing(v, v, v); };
    });
    return has;
}

Crossing crossing(ShapeKind kind, const Vec3& size, const Vec3& p, const Vec3& v) {
    std::optional<Crossing> found;
    AllKinds::with(kind, [&](auto shape) {
        if constexpr (requires { shape.crossing(size, p, v); })
            found.emplace(shape.crossing(size, p, v));
    });
    return found.value();
}

Bool is_inside(ShapeKind kind, const Vec3& size, const Vec3& p) {
    std::optional<Bool> found;
    AllKinds::with(kind, [&](auto shape) {
        if constexpr (requires { shape.contains(size, p); }) found.emplace(shape.contains(size, p));
    });
    return found.value();
}

}  // namespace hindcast::geometry
