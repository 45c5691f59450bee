// Balls; in the plane discs.
#pragma once

#include <numbers>

#include "engine/geometry/kinds/kind.hpp"

namespace hindcast::geometry::kinds {

struct Sphere {
    static constexpr KindRow row{.kind = ShapeKind::sphere,
                                 .name = "sphere",
                                 .title = "Sphere",
                                 .looks = "ball",
                                 .sized_by = SizedBy::radius,
                                 .core = Core::point};

    template <class T>
    static Solid<T> solid(const Size<T>& size) {
        const T& r = size[0];
        const T moment = 0.4 * r * r;
        return {4 * std::numbers::pi / 3 * r * r * r, moment, moment, moment};
    }
    template <class T>
    static Solid<T> shell(const Size<T>& size) {
        const T& r = size[0];
        const T moment = 2.0 / 3 * r * r;
        return {4 * std::numbers::pi * r * r, moment, moment, moment};
    }

    static Crossing crossing(const Vec3& size, const Vec3& p, const Vec3& v) {
        return crossing_of_ball(size[0], p, v);
    }
    static Bool contains(const Vec3& size, const Vec3& p) { return dot(p, p) <= size[0] * size[0]; }

    template <class V>
    static Float distance(const V& p, const V& /*extent*/, const Float& radius) {
        return norm(p) - radius;
    }

    static SurfaceMesh surface(const numeric::Vec3& /*extent*/, double radius, int /*dimension*/,
                               int around) {
        return ellipsoid_mesh({radius, radius, radius}, around);
    }
};

}  // namespace hindcast::geometry::kinds
