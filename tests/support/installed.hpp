// Programs of the machine that tests need, such as ffmpeg.
#pragma once

#include <cstdlib>
#include <string>

namespace hindcast::test {

// Whether `program -version` runs.
inline bool is_installed(const std::string& program) {
    return std::system((program + " -version > /dev/null 2>&1").c_str()) == 0;
}

}  // namespace hindcast::test
