// Files of a URDF that are named within a package: package://NAME/PATH.
#pragma once

#include <filesystem>
#include <string>

namespace hindcast::robot {

// The text with each package://NAME/ replaced by the nearest folder NAME: one that `file` lies in,
// or one beside those. A package that is not found stays as it is, and MuJoCo says that it cannot
// open the file. Lines keep their numbers.
std::string with_packages_found(const std::string& text, const std::filesystem::path& file);

}  // namespace hindcast::robot
