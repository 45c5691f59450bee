// Cylinders with flat ends. The axis is z.
#pragma once

#include <numbers>

#include "engine/geometry/kinds/kind.hpp"

namespace hindcast::geometry::kinds {

struct Cylinder {
    static constexpr KindRow row{
        .kind = ShapeKind::cylinder,
        .name = "cylinder",
        .title = "Cylinder",
        .looks = "bar with flat ends",
        .sized_by = SizedBy::radius_and_length,
        .size_text = "between its flat ends, along its own z",
        .core = Core::cylinder,
        .placed_by = PlacedBy::ends,
        .in_plane = false,
        .obstacle_text =
            "A cylinder with flat ends, in space. It turns about the middle of its axis."};

    template <class T>
    static Solid<T> solid(const Size<T>& size) {
        const T &r = size[0], &h = size[1];
        const T across = 0.25 * r * r + h * h / 3.0;
        return {2 * std::numbers::pi * r * r * h, across, across, 0.5 * r * r};
    }
    // Its side and two discs.
    template <class T>
    static Solid<T> shell(const Size<T>& size) {
        const T &r = size[0], &h = size[1];
        const T side = 4 * std::numbers::pi * r * h, discs = 2 * std::numbers::pi * r * r,
                all = side + discs;
        const T across =
            (side * (0.5 * r * r + h * h / 3.0) + discs * (0.25 * r * r + h * h)) / all;
        return {all, across, across, (side + discs * 0.5) * r * r / all};
    }

    static Crossing crossing(const Vec3& size, const Vec3& p, const Vec3& v) {
        return crossing_of_tube(size, p, v);
    }
    static Bool contains(const Vec3& size, const Vec3& p) {
        return p[0] * p[0] + p[1] * p[1] <= size[0] * size[0] && p[2] <= size[1] &&
               p[2] >= -size[1];
    }

    // With q = (distance from the axis - r, |distance along it| - |e|) as the distance from a box.
    template <class V>
    static Float distance(const V& p, const V& e, const Float& radius) {
        const Float half = norm(e);
        const V axis = e / half;
        const Float along = dot(p, axis);
        return distance_outside(Vec2(norm(p - along * axis) - radius, abs(along) - half));
    }

    static SurfaceMesh surface(const numeric::Vec3& e, double radius, int /*dimension*/,
                               int around) {
        const double h = std::sqrt(numeric::dot(e, e));
        return revolved(e,
                        {{0, -h, 0, -1},
                         {radius, -h, 0, -1},
                         {radius, -h, 1, 0},
                         {radius, h, 1, 0},
                         {radius, h, 0, 1},
                         {0, h, 0, 1}},
                        around);
    }
};

}  // namespace hindcast::geometry::kinds
