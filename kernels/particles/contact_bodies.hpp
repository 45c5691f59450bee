// Bodies of points in the table of pairs that can touch (engine/model/warnings/contact_pairs.hpp).
#pragma once

#include <string>

#include "engine/model/model.hpp"

namespace hindcast::particles {

// The bounds of a range of points, from the array "position".
std::function<model::Bounds(double)> bounds_of_points(const model::Model& model, model::Range range,
                                                      double radius);

// Adds every body of points that is not in the table yet: as a surface if it has one, as balls if
// it has a radius. For finish().
void add_contact_bodies(model::Model& model);

// Says that a law keeps an obstacle apart from the bodies of these points; for build(). Bodies whose
// points follow from other coordinates are kept apart only by laws that act `through_forces`.
void keep_apart(model::Model& model, const std::string& obstacle, model::Range range,
                const std::string& law, bool through_forces);

// The length of the longest edge of the body's surface at the start, m; 0 if it has none.
double longest_edge(model::Model& model, const std::string& body);

}  // namespace hindcast::particles
