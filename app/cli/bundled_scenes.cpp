#include "app/cli/bundled_scenes.hpp"

#include <cstdlib>

namespace hindcast::cli {

namespace fs = std::filesystem;

std::vector<fs::path> bundled_scenes() {
    std::vector<fs::path> folders;
    std::error_code error;
    if (const char* named = std::getenv("HINDCAST_SCENES"); named != nullptr && *named != '\0')
        folders.emplace_back(named);
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    for (const char* beside : {"../share/hindcast/scenes", "../../scenes"})
        folders.push_back(program.parent_path() / beside);
    for (const fs::path& folder : folders)
        if (fs::is_directory(folder, error)) return {fs::weakly_canonical(folder, error)};
    return {};
}

}  // namespace hindcast::cli
