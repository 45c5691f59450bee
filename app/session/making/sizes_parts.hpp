// Functions that the files about sizes share; internal to this folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/document/node.hpp"

namespace hindcast::session {

// A size that is dragged by so much, m. A thousandth of it is kept.
double grown(double before, double by);
// "0.4 x 0.2 m"
std::string extents_text(const std::vector<double>& extents);
// The axes of a turned box as unit vectors, from an angle or a quaternion (w, x, y, z); null: not
// turned. None where it is not written in numbers.
std::optional<std::vector<std::vector<double>>> axes_of(const document::Node* orientation,
                                                        std::size_t dimension);

}  // namespace hindcast::session
