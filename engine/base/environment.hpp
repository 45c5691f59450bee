// The process's environment, and the folders of Python's packages.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hindcast {

// The value of an environment variable; "" where it is not set.
std::string environment(const char* name);

// The folders in which pip puts packages: the virtual environment's, the user's, the system's.
std::vector<std::filesystem::path> python_packages();

}  // namespace hindcast
