// Rays against triangles; rays against simple shapes are in kinds/crossings.hpp.
#pragma once

#include "engine/geometry/kinds/crossings.hpp"

namespace hindcast::geometry {

// The distance along the ray p + t v, |v| = 1, to the nearest of the triangles first to end - 1,
// from either side; -1 if it meets none. `triangles`: the three vertices of each.
Float to_triangles(const Read<Int3>& triangles, const Read<Vec3>& vertices, int first, int end,
                   const Vec3& p, const Vec3& v);

}  // namespace hindcast::geometry
