// The rows of rigid bodies in the table of shapes.
#pragma once

#include "app/session/shapes/shapes_table.hpp"

namespace hindcast::session {

std::vector<ShapeRow> rigid_rows();

// The box around each rigid shape that the document writes, and the highest ground of them.
void add_rigid_shapes(const document::Document& document, Room& room);

}  // namespace hindcast::session
