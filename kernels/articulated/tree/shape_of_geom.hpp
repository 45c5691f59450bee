// Geoms of a model as shapes.
#pragma once

#include "engine/geometry/kinds/shape_kind.hpp"
#include "engine/robot/layout/model_enums.hpp"

namespace hindcast::articulated {

// The kind of shape of a geom that collides; geoms that are only drawn have none.
constexpr geometry::ShapeKind kind_of(robot::GeomType type) {
    using geometry::ShapeKind;
    using robot::GeomType;
    // Both enumerations have MuJoCo's numbers.
    static_assert(static_cast<int>(GeomType::hfield) == static_cast<int>(ShapeKind::height_field) &&
                  static_cast<int>(GeomType::mesh) == static_cast<int>(ShapeKind::mesh) &&
                  static_cast<int>(GeomType::sdf) == static_cast<int>(ShapeKind::distance_field));
    return static_cast<ShapeKind>(type);
}

}  // namespace hindcast::articulated
