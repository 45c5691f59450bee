// The files that a model in MJCF or URDF is read from.
#pragma once

#include <filesystem>
#include <vector>

namespace hindcast::robot {

// The model's own file first, then those that it includes, and meshes, height fields, textures and
// models to attach that it names and that are there: beside the model, in its meshdir, texturedir and
// assetdir, or beside the included file that names them. Each once, as a normal path. Throws Error if
// the model itself cannot be read.
std::vector<std::filesystem::path> files_of_model(const std::filesystem::path& file);

}  // namespace hindcast::robot
