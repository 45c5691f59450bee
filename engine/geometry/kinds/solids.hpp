// Volume and moments of inertia of solids and of their surfaces, by size; for double and for traced
// numbers. Formulas: tables of moments of inertia, such as Beer and Johnston, Vector Mechanics for
// Engineers, with the parallel axis theorem where a solid has parts.
#pragma once

#include <array>

#include "engine/geometry/kinds/shape_kind.hpp"

namespace hindcast::geometry {

// Moments of a unit mass about the center, in the solid's axes.
template <class T>
struct Solid {
    T volume;      // m^3; of a surface m^2
    T xx, yy, zz;  // m^2
};

// True for kinds whose moments follow from their sizes, of the solid or of its surface.
bool has_solid(ShapeKind kind, bool surface);
// `size`: as in contact.hpp. Throws Error for other kinds. T: double or lang::Float.
template <class T>
Solid<T> solid_of(ShapeKind kind, bool surface, const std::array<T, 3>& size);

}  // namespace hindcast::geometry
