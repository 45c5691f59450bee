// The convex hulls of meshes: vertices and polygons. Boxes have hulls too, in multiples of their
// half axes; so do cylinders, in multiples of radius and half length, with two caps of 16 corners
// and no sides.
//
// Arrays of all hulls, one after another; numbers of vertices and polygons count through all hulls:
//   geom_hull          geoms x 2       first vertex of a geom's hull, number of its vertices;
//                                      0, 0: no hull
//   hull_vertex        vertices x 3    in the axes of the mesh
//   vertex_polygons    vertices x 2    first of a vertex's polygons in polygon_at, their number
//   polygon_at                         polygons, by vertex
//   polygon_corners    polygons x 2    first of a polygon's corners in corner_vertex, their number
//   corner_vertex                      vertices, by polygon, in order around its normal
//   polygon_normal     polygons x 3    outwards
#pragma once

#include "engine/geometry/contact.hpp"

namespace hindcast::geometry {

// These arrays in a kernel that reads them.
struct Hulls {
    Read<Int2> geom_hull;
    Read<Vec3> hull_vertex;
    Read<Int2> vertex_polygons;
    Read<Int> polygon_at;
    Read<Int2> polygon_corners;
    Read<Int> corner_vertex;
    Read<Vec3> polygon_normal;
};

// The vertex that lies farthest along `way`, in the axes of the mesh; the first of equal ones.
Int farthest_vertex(const Hulls& hulls, const Int& geom, const Vec3& way);

// Contacts of up to four corners of the polygon at the hull's lowest vertex that faces the plane
// most; the lowest vertex is the first.
Contacts plane_mesh(const Shape& plane, const Shape& mesh, const Int& geom, const Hulls& hulls);

}  // namespace hindcast::geometry
