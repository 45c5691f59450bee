// The rows of rigid bodies in the table of shapes.
#pragma once

#include "app/session/shapes/shapes_table.hpp"

namespace hindcast::session {

std::vector<ShapeRow> rigid_rows();

// The list of the shapes of a body of the scene; null: it is no body of rigid shapes.
const document::Node* rigid_shapes_of(const document::Node& body);

}  // namespace hindcast::session
