// Meshes of triangles: the solid is their convex hull.
#pragma once

#include "engine/geometry/kinds/kind.hpp"

namespace hindcast::geometry::kinds {

struct Mesh {
    static constexpr KindRow row{.kind = ShapeKind::mesh,
                                 .name = "mesh",
                                 .title = "Mesh",
                                 .core = Core::hull,
                                 .placed_by = PlacedBy::nothing};
};

}  // namespace hindcast::geometry::kinds
