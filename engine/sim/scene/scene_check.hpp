// Looks at what a scene says for the window and for optimisations, so that a mistake there comes out
// in every command, not only in the one that reads it.
#pragma once

#include "engine/document/node.hpp"

namespace hindcast {

// The scene's "view":
//
//     "view": { "camera": { "eye": [3, 3, 2], "target": [0, 0, 0] },
//               "color_by": "speed",
//               "camera_path": [ { "time": 0, "eye": [3, 3, 2], "target": [0, 0, 0] }, ... ] }
//
// A key of the path may have "up", "field_of_view" (degrees) and "height" (m) as well. Throws Error,
// with the place, for anything else. Whether the scene has the colours is seen where it is drawn.
void check_view(const document::Node& view);
// The JSON schema (text) of "view".
const char* view_schema();

// The "optimizer" of a scene, if it has one; its groups are those that "parameters" name. Throws
// Error as optim::Settings::read() does.
void check_optimizer(const document::Node& scene);

}  // namespace hindcast
