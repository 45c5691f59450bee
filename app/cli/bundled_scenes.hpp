// The scenes that come with the program.
#pragma once

#include <filesystem>
#include <vector>

namespace hindcast::cli {

// Their folder: named by the environment, beside an installed program, or where this program was
// built. Empty if there is none.
std::vector<std::filesystem::path> bundled_scenes();

}  // namespace hindcast::cli
