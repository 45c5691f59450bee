// The members of a kind of shape. A kind is one type in one file of this folder. Callers find its
// members by these names; a kind without one of them lacks the abilities that need it:
//
//     row                                  its name, and how scenes give its sizes (row.hpp)
//     solid(size), shell(size)             volume, area and moments of inertia (solids.hpp)
//     crossing(size, p, v)                 the part of a line within it (crossings.hpp)
//     contains(size, p)                    true for points inside
//     distance(p, extent, size)            of a point from an obstacle, negative inside (distances.hpp)
//     surface(extent, radius, ...)         triangles, for drawing
//
// `size` is that of contact.hpp: radius; radius and half length; half axes; half edges.
#pragma once

#include <array>

#include "engine/base/vec3.hpp"
#include "engine/geometry/kinds/crossings.hpp"
#include "engine/geometry/kinds/row.hpp"
#include "engine/geometry/kinds/solids.hpp"
#include "engine/geometry/surface/surface_mesh.hpp"

namespace hindcast::geometry {

template <class T>
using Size = std::array<T, 3>;  // m

// |max(q, 0)| + min(max_k q_k, 0): the distance of a point that is beyond each side of a box by q.
template <class V>
Float distance_outside(const V& q) {
    Float most = q[0];
    for (int k = 1; k < V::size; ++k) most = max(most, q[k]);
    return norm(max(q, V::filled(Float(0)))) + min(most, 0.0);
}

}  // namespace hindcast::geometry
