// Environment variables that are set for a part of a test, and then restored. The threads that
// compile read variables (the code cache's folder) too: code that earlier tests left to be optimized is
// finished first.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/jit/machine_code.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hindcast::test {

class Environment {
public:
    Environment(std::string name, const std::string& value) : name_(std::move(name)) {
        backend::wait_for_all_code();
        if (const char* before = std::getenv(name_.c_str())) before_ = before;
        ::setenv(name_.c_str(), value.c_str(), 1);
    }
    ~Environment() {
        backend::wait_for_all_code();
        before_ ? ::setenv(name_.c_str(), before_->c_str(), 1) : ::unsetenv(name_.c_str());
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    std::string name_;
    std::optional<std::string> before_;
};

// A code cache of its own for one test.
class Cache {
public:
    std::filesystem::path path() const { return folder_.path(); }
    std::vector<std::filesystem::path> entries() const {
        std::vector<std::filesystem::path> found;
        for (const auto& e : std::filesystem::directory_iterator(folder_.path()))
            found.push_back(e.path());
        return found;
    }

private:
    TemporaryFolder folder_;
    Environment variable_{"HINDCAST_CACHE", folder_.path().string()};
};

}  // namespace hindcast::test
