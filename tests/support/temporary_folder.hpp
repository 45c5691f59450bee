// A folder for the files of one test, removed with everything in it at the end.
#pragma once

#include <filesystem>
#include <string>

#include "app/cli/temporary_folder.hpp"

namespace hindcast::test {

class TemporaryFolder : public cli::TemporaryFolder {
public:
    std::filesystem::path operator/(const std::string& name) const { return path() / name; }
};

}  // namespace hindcast::test
