// The rows of obstacles in the table of shapes.
#pragma once

#include "app/session/shapes/shapes_table.hpp"

namespace hindcast::session {

std::vector<ShapeRow> obstacle_rows();

}  // namespace hindcast::session
