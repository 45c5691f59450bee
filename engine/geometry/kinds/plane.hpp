// Planes: the half space below them is the solid. The normal is z. A plane of a body may be finite,
// with half edges along x and y.
#pragma once

#include "engine/geometry/kinds/kind.hpp"

namespace hindcast::geometry::kinds {

struct Plane {
    static constexpr KindRow row{.kind = ShapeKind::plane, .name = "plane", .title = "Plane"};

    static Crossing crossing(const Vec3& size, const Vec3& p, const Vec3& v);

    // n . x - offset
    template <class V>
    static Float distance(const V& p, const V& normal, const Float& offset) {
        return dot(normal, p) - offset;
    }

    // Both sides of a rectangle.
    static SurfaceMesh surface(const numeric::Vec3& half, double /*radius*/, int /*dimension*/,
                               int /*around*/) {
        const double x = half[0], y = half[1];
        return flat_triangles({-x, -y, 0, x, -y, 0, x, y, 0, -x, -y, 0, x, y, 0, -x, y, 0});
    }
};

}  // namespace hindcast::geometry::kinds
