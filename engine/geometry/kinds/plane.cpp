#include "engine/geometry/kinds/plane.hpp"

namespace hindcast::geometry::kinds {

SurfaceMesh Plane::surface(const numeric::Vec3& half, double /*radius*/, int /*dimension*/,
                           int /*around*/) {
    const double x = half[0], y = half[1];
    return flat_triangles({-x, -y, 0, x, -y, 0, x, y, 0, -x, -y, 0, x, y, 0, -x, y, 0});
}

}  // namespace hindcast::geometry::kinds
