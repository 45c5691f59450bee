// Surfaces of shapes as the renderer has them.
#pragma once

#include "app/session/frames/solid_source.hpp"
#include "engine/geometry/kinds/row.hpp"

namespace hindcast::test {

inline render::Mesh surface(geometry::ShapeKind kind, const render::Vec3& extent, double radius,
                            int dimension = 3) {
    return session::drawn(geometry::surface_of(kind, extent, radius, dimension));
}

inline render::Mesh field_surface(const std::vector<std::int64_t>& counts, double spacing,
                                  const std::vector<double>& samples) {
    return session::drawn(geometry::field_mesh(counts, spacing, samples));
}

}  // namespace hindcast::test
