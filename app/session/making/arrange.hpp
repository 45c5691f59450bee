// An object of the scene moved, mirrored, scaled, put onto a grid, or repeated. All of them are one
// map of places, x -> factor x + shift along each axis, on what its type says are places and sizes.
// Pure functions of the document.
#pragma once

#include <array>
#include <string>

#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::session {

struct AxisMap {
    std::array<double, 3> factor{1, 1, 1}, shift{0, 0, 0};  // shift in m
    double of(std::size_t axis, double x) const { return factor[axis] * x + shift[axis]; }
};

// The object at "/bodies/0" or so with its places, meshes, sizes and fixed boxes mapped. Throws
// Error where it has none, or has them as formulas or files. Factors that differ in size from axis
// to axis are an error for what has a radius or a spacing.
document::Document mapped(const document::Document& scene, const Registry& registry,
                          const std::string& pointer, const AxisMap& map);

// The middle of its places, m. Throws Error where it has none.
std::array<double, 3> middle_of(const document::Document& scene, const Registry& registry,
                                const std::string& pointer);

// Mirrored at the plane across the axis (0: x) through its middle.
document::Document mirrored(const document::Document& scene, const Registry& registry,
                            const std::string& pointer, std::size_t axis);
// Larger by the factor, about its middle.
document::Document scaled(const document::Document& scene, const Registry& registry,
                          const std::string& pointer, double factor);
// Its middle at the nearest whole multiples of the spacing (m).
document::Document snapped(const document::Document& scene, const Registry& registry,
                           const std::string& pointer, double spacing);
// `count` of it in all, each further by the offset (m), with new names; forces and obstacles that
// name no other body are repeated with a body.
document::Document arrayed(const document::Document& scene, const Registry& registry,
                           const std::string& pointer, int count,
                           const std::array<double, 3>& offset);

}  // namespace hindcast::session
