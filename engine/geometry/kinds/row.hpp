// One row for each kind of shape: its name and how scenes give its sizes. The schema of scenes, the
// models of robots, size handles and the shapes that the window offers follow from it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/base/vec3.hpp"
#include "engine/geometry/kinds/shape_kind.hpp"
#include "engine/geometry/surface/surface_mesh.hpp"

namespace hindcast::geometry {

// The fields in which a scene gives the sizes of a rigid shape.
enum class SizedBy : std::uint8_t {
    nothing,            // no rigid shape is of this kind
    lengths,            // "size": three, along its axes
    radius,             // "radius"
    radius_and_length,  // "radius" and "length", along its own z
};

// The fields in which a scene gives the place and the sizes of an obstacle.
enum class PlacedBy : std::uint8_t {
    own_fields,               // a type of its own has its fields: plane, sphere
    nothing,                  // no obstacle is of this kind
    ends,                     // "start", "end" of its axis, "radius"
    center_and_half_extents,  // "center", "half_extents", "orientation"
    grid                      // "origin", "nodes", "spacing", "distances"
};

// A shape without the ball that rounds it; the search for contacts distinguishes these.
enum class Core : std::uint8_t { none, point, segment, box, hull, prism, cylinder, ellipsoid };

struct KindRow {
    ShapeKind kind;
    std::string_view name;        // in scenes, and in MJCF if it has this kind
    std::string_view title;       // "Capsule"
    std::string_view looks = {};  // "bar with round ends"
    SizedBy sized_by = SizedBy::nothing;
    std::string_view size_text = {};  // the meaning of its lengths or length
    bool round_ends = false;          // it reaches farther than its length, by the radius
    bool in_mjcf = true;              // false: its rigid shapes are written as meshes
    double widest = 0;                // place of its radius: along z, in half lengths
    double centroid = 0;              // place of its center of mass, likewise
    Core core = Core::none;
    PlacedBy placed_by = PlacedBy::own_fields;
    bool in_plane = true;                 // obstacles in the plane can be of this kind
    std::string_view obstacle_text = {};  // for the schema

    constexpr bool has_axis() const { return placed_by == PlacedBy::ends; }
};

std::span<const KindRow> kind_rows();
const KindRow& row(ShapeKind kind);              // throws Error if there is no such kind
const KindRow* find_row(std::string_view name);  // null: no kind has this name

// The surface of a shape in its own axes, about its center. `extent`: half extents of a box or an
// ellipsoid, or the vector from the middle of an axis to its end; `radius`: around the axis, or of
// a ball. In the plane (dimension 2) it is filled. `around`: sides of a circle, a multiple of 4.
// Throws Error for kinds whose surface does not follow from these.
SurfaceMesh surface_of(ShapeKind kind, const numeric::Vec3& extent, double radius, int dimension,
                       int around = 48);
// The same of a shape with sizes as in contact.hpp, in space.
SurfaceMesh surface_of(ShapeKind kind, const numeric::Vec3& size, int around);

}  // namespace hindcast::geometry
