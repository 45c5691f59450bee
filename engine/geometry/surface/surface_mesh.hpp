// Triangles with normals on the surfaces of shapes, for drawing.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/vec3.hpp"

namespace hindcast::geometry {

struct SurfaceMesh {
    std::vector<numeric::Vec3> places, normals;  // m; three for each triangle

    struct Vertex {
        numeric::Vec3 place, normal;
    };
    void add(const Vertex& a, const Vertex& b, const Vertex& c);
    void add_fan(const std::vector<Vertex>& corners);
};

// Flat triangles by their corners, nine numbers each.
SurfaceMesh flat_triangles(const std::vector<double>& corners);

// The zero surface of the cubic B-spline with these coefficients at the nodes of a grid (in the
// plane: the area where it is not positive), by marching tetrahedra (triangles) on a lattice of at
// most 96 cells along each axis. Vertices lie on the surface. Parts thinner than a cell may be
// missing.
SurfaceMesh field_mesh(const std::vector<std::int64_t>& counts, double spacing,
                       const std::vector<double>& samples);

// A circle around an axis: its radius, its place along the axis, and its normal's parts outwards
// and along the axis.
struct Ring {
    double radius, along, normal_out, normal_along;
};
// The surface of revolution with `around` sides through rings from one end of an axis to the other.
SurfaceMesh revolved(const numeric::Vec3& axis, const std::vector<Ring>& profile, int around);
SurfaceMesh ellipsoid_mesh(const numeric::Vec3& half, int around);
// A filled outline in the plane.
SurfaceMesh filled_outline(const std::vector<numeric::Vec3>& outline);

}  // namespace hindcast::geometry
