// Ellipsoids, given by their half axes.
#pragma once

#include <numbers>

#include "engine/geometry/kinds/kind.hpp"

namespace hindcast::geometry::kinds {

struct Ellipsoid {
    static constexpr KindRow row{.kind = ShapeKind::ellipsoid,
                                 .name = "ellipsoid",
                                 .title = "Ellipsoid",
                                 .looks = "ellipsoid",
                                 .sized_by = SizedBy::lengths,
                                 .size_text = "its three diameters",
                                 .core = Core::ellipsoid,
                                 .placed_by = PlacedBy::nothing};

    // No shell(): the area of an ellipsoid has no closed form.
    template <class T>
    static Solid<T> solid(const Size<T>& size) {
        const T &a = size[0], &b = size[1], &c = size[2];
        return {4 * std::numbers::pi / 3 * a * b * c, 0.2 * (b * b + c * c), 0.2 * (a * a + c * c),
                0.2 * (a * a + b * b)};
    }

    static Crossing crossing(const Vec3& size, const Vec3& p, const Vec3& v) {
        return crossing_of_ball(1, over(p, size), over(v, size));
    }
    static Bool contains(const Vec3& size, const Vec3& p) {
        const Vec3 q = over(p, size);
        return dot(q, q) <= 1.0;
    }

    static SurfaceMesh surface(const numeric::Vec3& half, double /*radius*/, int /*dimension*/,
                               int around) {
        return ellipsoid_mesh(half, around);
    }

private:
    static Vec3 over(const Vec3& v, const Vec3& size) {
        return Vec3(v[0] / size[0], v[1] / size[1], v[2] / size[2]);
    }
};

}  // namespace hindcast::geometry::kinds
