#include "engine/geometry/kinds/box.hpp"

#include <algorithm>
#include <utility>

namespace hindcast::geometry::kinds {

SurfaceMesh Box::surface(const numeric::Vec3& half, double /*radius*/, int dimension,
                         int /*around*/) {
    SurfaceMesh mesh;
    for (std::size_t k = dimension == 2 ? 2 : 0; k < 3; ++k)
        for (const double side : {1.0, -1.0}) {
            if (dimension == 2 && side < 0) continue;
            numeric::Vec3 normal{};
            normal[k] = side;
            std::vector<SurfaceMesh::Vertex> corners;
            for (const auto& [x, y] :
                 {std::pair(-1.0, -1.0), {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}}) {
                numeric::Vec3 p{};
                p[k] = side * half[k];
                p[(k + 1) % 3] = x * half[(k + 1) % 3];
                p[(k + 2) % 3] = y * half[(k + 2) % 3];
                corners.push_back({p, normal});
            }
            if (side < 0) std::ranges::reverse(corners);
            mesh.add_fan(corners);
        }
    return mesh;
}

}  // namespace hindcast::geometry::kinds
