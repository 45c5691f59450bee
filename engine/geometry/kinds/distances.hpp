// Distances of points from obstacles, traced; negative inside. All are exact outside of the solid.
#pragma once

#include "engine/geometry/kinds/all.hpp"

namespace hindcast::geometry {

// `p` is relative to the obstacle's center. `extent` and `size` mean, by how the kind is placed
// (row.hpp): normal and offset of a plane; half of the axis and the radius; half extents of a box, in
// whose axes p is then given; the radius of a ball.
template <class V>
Float distance(ShapeKind kind, const V& p, const V& extent, const Float& size) {
    std::optional<Float> found;
    AllKinds::with(kind, [&](auto shape) {
        if constexpr (requires { shape.distance(p, extent, size); })
            found.emplace(shape.distance(p, extent, size));
    });
    return found.value();
}

// True if distance() knows this kind.
inline bool has_distance(ShapeKind kind) {
    bool found = false;
    AllKinds::with(kind, [&](auto shape) {
        using V = lang::Vec3;
        if constexpr (requires(const V& v, const Float& x) { shape.distance(v, v, x); })
            found = true;
    });
    return found;
}

}  // namespace hindcast::geometry
