#include "engine/base/environment.hpp"

#include <cstdlib>
#include <system_error>

namespace hindcast {

namespace fs = std::filesystem;

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

std::vector<fs::path> python_packages() {
    std::vector<fs::path> prefixes;
    if (const char* active = std::getenv("VIRTUAL_ENV")) prefixes.emplace_back(active);
    if (const char* home = std::getenv("HOME")) prefixes.push_back(fs::path(home) / ".local");
    prefixes.insert(prefixes.end(), {"/usr/local", "/usr"});
    std::vector<fs::path> folders;
    for (const fs::path& prefix : prefixes) {
        std::error_code unreadable;
        for (const auto& python : fs::directory_iterator(prefix / "lib", unreadable)) {
            if (!python.path().filename().string().starts_with("python3")) continue;
            for (const char* packages : {"site-packages", "dist-packages"})
                folders.push_back(python.path() / packages);
        }
    }
    return folders;
}

}  // namespace hindcast
