// MuJoCo for tests: the wheel that tests/run unpacks into build/mujoco, and robots' models beside it.
//
//     TEST_CASE("...") {
//         HINDCAST_NEEDS_MUJOCO();
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/robot/mujoco_library.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

// The folder in which PyPI's mujoco-core is unpacked.
inline std::filesystem::path mujoco_folder() {
    return std::filesystem::path(source_dir) / "build/mujoco";
}
// The folders mjx and robots, with models of MJX's tests and URDFs.
inline std::filesystem::path robot_models_folder() {
    return std::filesystem::path(source_dir) / "build/robot_models";
}

// "" if MuJoCo is there, for this process and those that it starts; else why not.
inline std::string why_no_mujoco() {
    const std::filesystem::path library = mujoco_folder() / "mujoco/libmujoco.so.4.0.1";
    if (std::getenv("HINDCAST_MUJOCO") == nullptr && std::filesystem::exists(library))
        ::setenv("HINDCAST_MUJOCO", library.c_str(), 1);
    return robot::mujoco_library().info().problem;
}

}  // namespace hindcast::test

#define HINDCAST_NEEDS_MUJOCO()                                                      \
    do {                                                                             \
        if (const std::string why = ::hindcast::test::why_no_mujoco(); !why.empty()) \
            HINDCAST_SKIP(why);                                                      \
    } while (false)
