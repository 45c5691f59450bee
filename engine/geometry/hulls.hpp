// The convex hulls of meshes: vertices, and the polygons that they are the corners of. Boxes
// have one, too, in multiples of their half axes; and cylinders, whose caps are polygons of 16 corners,
// in multiples of radius and half length, without sides.
//
// Arrays, of all hulls one after another, with numbers that count through all of them:
//   geom_hull          geoms x 2       of each geom the first vertex of its hull and their number;
//                                      0, 0 where it has none
//   hull_vertex        vertices x 3    in the axes of the mesh
//   vertex_polygons    vertices x 2    where the polygons at a vertex begin in polygon_at, their number
//   polygon_at                         polygons, by vertex
//   polygon_corners    polygons x 2    where a polygon's corners begin in corner_vertex, their number
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

// The vertex that lies farthest this way, in the axes of the mesh; of equal ones the first.
Int farthest_vertex(const Hulls& hulls, const Int& geom, const Vec3& way);

// Up to four corners of the polygon at the hull's lowest vertex that faces most downwards; the first
// is its lowest. `up` is the plane's normal.
Contacts plane_mesh(const Shape& plane, const Shape& mesh, const Int& geom, const Hulls& hulls);

}  // namespace hindcast::geometry
