// Cones: a disc and a tip. The axis is z, from the middle of the disc at -h to the tip at h.
#pragma once

#include <numbers>

#include "engine/geometry/kinds/kind.hpp"

namespace hindcast::geometry::kinds {

struct Cone {
    static constexpr KindRow row{
        .kind = ShapeKind::cone,
        .name = "cone",
        .title = "Cone",
        .looks = "cone with a flat base",
        .sized_by = SizedBy::radius_and_length,
        .size_text =
            "from its base to its tip, along its own z; in contact it is a pyramid of 64 "
            "sides",
        .in_mjcf = false,
        .widest = -1,
        .centroid = -0.5,
        .placed_by = PlacedBy::ends,
        .in_plane = false,
        .obstacle_text =
            "A cone, in space: \"start\" is the middle of its base, \"end\" its tip. It "
            "turns about the middle of its axis."};

    template <class T>
    static Solid<T> solid(const Size<T>& size) {
        const T &r = size[0], &h = size[1];
        const T across = 0.15 * (r * r + h * h);
        return {2 * std::numbers::pi / 3 * r * r * h, across, across, 0.3 * r * r};
    }

    // In the half plane through the axis and the point, with the point at (out, along) from the middle
    // of the base: the nearest of the side, from (r, 0) to the tip (0, 2 h), and the base. Inside, the
    // depth under the nearer of the two.
    template <class V>
    static Float distance(const V& p, const V& e, const Float& radius) {
        const Float half = norm(e);
        const V axis = e / half;
        const Float up = dot(p, axis), out = norm(p - up * axis), along = up + half;
        const Vec2 to_tip(-radius, 2.0 * half), from_rim(out - radius, along);
        const Float length = norm(to_tip);
        const Vec2 side = to_tip / length;
        const Float beyond_side = from_rim.x() * side.y() - from_rim.y() * side.x();
        const Vec2 to_side = from_rim - clamp(dot(from_rim, side), 0.0, length) * side,
                   to_base(max(from_rim.x(), 0.0), along);
        const Bool inside = beyond_side <= 0.0 && along >= 0.0;
        const Bool nearer_side = squared_norm(to_side) < squared_norm(to_base);
        const Vec2 apart = select(inside, Vec2(1.0, 0.0), select(nearer_side, to_side, to_base));
        return select(inside, max(beyond_side, -along), norm(apart));
    }

    static SurfaceMesh surface(const numeric::Vec3& e, double radius, int /*dimension*/,
                               int around) {
        const double h = std::sqrt(numeric::dot(e, e)), side = std::hypot(radius, 2 * h);
        const double out = 2 * h / side, along = radius / side;
        return revolved(
            e, {{0, -h, 0, -1}, {radius, -h, 0, -1}, {radius, -h, out, along}, {0, h, out, along}},
            around);
    }
};

}  // namespace hindcast::geometry::kinds
