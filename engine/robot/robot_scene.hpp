// A scene of a robot's model alone: what `hindcast view robot.xml` and `hindcast import` show.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/document/document.hpp"

namespace hindcast::robot {

// True if the name is that of a robot's model: .xml, .mjcf or .urdf.
bool is_robot_file(const std::filesystem::path& file);

// The model as an articulated body, with the model's step of time for 5 s, from its first keyframe if
// that has a name; for a scene file in `folder`. Throws Error if the model cannot be read, or does not
// lie in the folder, in one of `allowed` (--allow-path), or below them.
document::Document scene_of_model(const std::filesystem::path& file,
                                  const std::filesystem::path& folder,
                                  const std::vector<std::filesystem::path>& allowed = {});

}  // namespace hindcast::robot
