// A folder for files, gone at the end.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace hindcast::cli {

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "hindcast-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::filesystem::filesystem_error(
                "a folder for files cannot be made; set TMPDIR to a folder that may be written",
                name, std::error_code(errno, std::generic_category()));
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void write(const char* name, std::string_view text) const {
        std::ofstream(path_ / name) << text;
    }

private:
    std::filesystem::path path_;
};

}  // namespace hindcast::cli
