// Looks at what a scene says for the window and for optimizations, so that a mistake there comes out
// in every command, not only in the one that reads it.
#pragma once

#include <array>
#include <string_view>

#include "engine/document/node.hpp"

namespace hindcast {

// The scene's "view":
//
//     "view": { "camera": { "eye": [3, 3, 2], "target": [0, 0, 0] },
//               "color_by": "speed", "color_range": "run", "color_scale": "linear",
//               "color_map": "viridis",
//               "arrows": "velocity", "most_arrows": 400, "tubes": { "radius": 0.01 },
//               "slice": { "normal": [1, 0, 0], "offset": 0.2 },
//               "distances": [ { "from": [0, 0, 0], "to": { "of": "ball", "point": 0 } } ],
//               "camera_path": [ { "time": 0, "eye": [3, 3, 2], "target": [0, 0, 0] }, ... ] }
//
// Tubes, the drawn segments, have a "radius" (m) or "pixels". A distance ends at a place (m), at a
// "point" of a body, between "points" of it by their "weights", or at a "place" in the axes of its
// "part" number k: a rigid body or ball. A key of the path may have "up", "field_of_view" (degrees)
// and "height" (m) as well. Throws Error, with the place, for anything else. The code that draws
// checks that the scene has the colors, arrows and ends of distances.
void check_view(const document::Node& view);
// Values of "color_map", in the order of render::ColorMap.
inline constexpr std::array<std::string_view, 7> color_map_names = {
    "viridis", "magma", "turbo", "coolwarm", "cubehelix", "gray", "purple_orange"};
// "gray" as scenes of earlier versions write it. It is read, and not offered.
inline constexpr std::string_view british_gray = "grey";
// The JSON schema (text) of "view".
const char* view_schema();

// The "optimizer" of a scene, if it has one; its groups are those that "parameters" name. Throws
// Error as optim::Settings::read() does.
void check_optimizer(const document::Node& scene);

}  // namespace hindcast
