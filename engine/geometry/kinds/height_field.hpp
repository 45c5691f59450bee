// Height fields: solid below the heights of a grid, as prisms below triangles.
#pragma once

#include "engine/geometry/kinds/kind.hpp"

namespace hindcast::geometry::kinds {

struct HeightField {
    static constexpr KindRow row{.kind = ShapeKind::height_field,
                                 .name = "hfield",
                                 .title = "Height field",
                                 .core = Core::prism,
                                 .placed_by = PlacedBy::nothing};
};

}  // namespace hindcast::geometry::kinds
