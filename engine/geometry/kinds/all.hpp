// All kinds of shapes. A new one is a file of this folder, its number in shape_kind.hpp and a line here.
#pragma once

#include <optional>

#include "engine/base/error.hpp"
#include "engine/geometry/kinds/box.hpp"
#include "engine/geometry/kinds/capsule.hpp"
#include "engine/geometry/kinds/cone.hpp"
#include "engine/geometry/kinds/cylinder.hpp"
#include "engine/geometry/kinds/distance_field.hpp"
#include "engine/geometry/kinds/ellipsoid.hpp"
#include "engine/geometry/kinds/height_field.hpp"
#include "engine/geometry/kinds/mesh.hpp"
#include "engine/geometry/kinds/plane.hpp"
#include "engine/geometry/kinds/sphere.hpp"

namespace hindcast::geometry {

inline Error no_such_kind() { return Error("internal: there is no such kind of shape"); }

template <class... Kinds>
struct KindList {
    static constexpr KindRow rows[] = {Kinds::row...};

    // Calls `f` with the type of a kind.
    template <class F>
    static void with(ShapeKind kind, F&& f) {
        const bool found = ((Kinds::row.kind == kind && (f(Kinds{}), true)) || ...);
        if (!found) throw no_such_kind();
    }
};

// All kinds, in the order in which the window offers them.
using AllKinds =
    KindList<kinds::Plane, kinds::Box, kinds::Sphere, kinds::Capsule, kinds::Cylinder, kinds::Cone,
             kinds::Ellipsoid, kinds::Mesh, kinds::HeightField, kinds::DistanceField>;

}  // namespace hindcast::geometry
