// Drawings: the looks of a physics module's objects as data. No module knows the renderer, and the
// renderer knows no physics.
//
//     model.draw({name, DrawnSegments{ends}});
//
// Indices count the model's points; places are those of the array "position" at the time shown.
// Quantities are read whenever a frame is made, so objects that are moved or optimized are drawn
// where they are.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/geometry/kinds/shape_kind.hpp"
#include "engine/runtime/array/array.hpp"

namespace hindcast::model {

struct Quantity;

// A range of the model's points, as balls.
struct DrawnPoints {
    std::int64_t first = 0, count = 0;
    double radius = 0;  // m; 0: chosen from how close they start to each other
};

// Straight lines between points, such as springs. Element k of the owner is line k.
struct DrawnSegments {
    std::vector<std::uint32_t> ends;  // 2 each
};

// Triangles between points: counter-clockwise as seen from outside; in the plane both sides alike.
struct DrawnSurface {
    std::vector<std::uint32_t> corners;  // 3 each
    std::vector<std::uint32_t>
        element_of;  // the owner's element that triangle k belongs to; empty: k
};

// A scalar field on a regular grid in the plane: node (i, j) is element i * columns + j of `values`
// and lies at (i, j) * spacing.
struct DrawnField {
    std::int64_t rows = 0, columns = 0;
    double spacing = 0;  // m
    Array values;        // {rows * columns, 1}, one of the state
};

// The obstacle is where n . x < offset, with n along the normal and of length 1.
struct DrawnHalfSpace {
    const Quantity* normal = nullptr;
    const Quantity* offset = nullptr;
    const Quantity* velocity = nullptr;  // m/s, of the obstacle; null: it rests
};

struct DrawnBall {
    const Quantity* center = nullptr;
    const Quantity* radius = nullptr;
    const Quantity* velocity = nullptr;  // as above
};

// A rigid obstacle where its quantities say, which at the time t has moved by velocity t and turned
// about its center by exp(angular_velocity t).
struct DrawnSolid {
    geometry::ShapeKind kind = geometry::ShapeKind::box;
    const Quantity* place = nullptr;   // m: center, one end of the axis, or the grid's first node
    const Quantity* extent = nullptr;  // m: half extents, or the other end
    const Quantity* radius = nullptr;  // m, around the axis
    const Quantity* orientation = nullptr;  // angle or quaternion (w, x, y, z); null: none
    const Quantity *velocity = nullptr, *angular_velocity = nullptr;  // m/s, rad/s; null: none
    // A distance field is the cubic B-spline with these coefficients, one per node, the last axis
    // fastest.
    const Quantity* samples = nullptr;
    std::vector<std::int64_t> counts;  // of nodes along each axis
    double spacing = 0;                // m
};

// A rigid body: shapes in its axes. One row of two arrays of the state holds its place and
// orientation.
struct DrawnBody {
    struct Shape {
        geometry::ShapeKind kind = geometry::ShapeKind::box;
        std::array<double, 3> size{};                   // m, as in engine/geometry/contact.hpp
        std::array<double, 3> place{};                  // m
        std::array<double, 4> orientation{1, 0, 0, 0};  // quaternion (w, x, y, z)
        std::vector<double> corners = {};               // m, of a mesh; nine for each triangle
    };
    std::string name = {};  // within its robot; "": it has none
    std::vector<Shape> shapes;
    std::int64_t row = -1;       // -1: the body rests, its axes are the world's
    Array places, orientations;  // {rows, 3}: m; {rows, 4}: quaternions
};

// The edges of a box or, in the plane, of a rectangle.
struct DrawnFrame {
    std::vector<double> low, high;  // m
};

// Places that something is wanted at: one vector per row of the quantity.
struct DrawnTargets {
    const Quantity* places = nullptr;
};

struct Drawing {
    std::string owner;  // the name of the scene's object
    std::variant<DrawnPoints, DrawnSegments, DrawnSurface, DrawnField, DrawnHalfSpace, DrawnBall,
                 DrawnSolid, DrawnBody, DrawnFrame, DrawnTargets>
        shape;
};

}  // namespace hindcast::model
