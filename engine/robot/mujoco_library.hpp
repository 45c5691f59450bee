// MuJoCo's own library, opened at run time: a model's text in, a compiled mjModel out.
//
// Nothing of MuJoCo is linked and none of its headers is needed. The library is searched and opened
// when the first model is loaded: HINDCAST_MUJOCO names it; else it is taken from the code cache's
// folder (app/run puts it there), from the system's places, or from where pip puts
// mujoco-core. Its structs are read by offsets (layout/model_layout.hpp), which hold for one
// release, so any other release is refused before anything is read.
//
// Start at RobotModel (robot_model.hpp): it copies a CompiledModel and lets go of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/robot/mass_sources.hpp"

namespace hindcast::robot {

// The machine's MuJoCo library.
struct MujocoInfo {
    bool available = false;
    std::string version, path;  // "4.0.1", "/usr/lib/..."
    std::string problem;        // why it is not available
};

// A model that MuJoCo's compiler made, in its memory, freed at the end.
struct CompiledModel {
    std::shared_ptr<const std::byte> memory;  // begins with mjModel's fields
    std::vector<std::string> warnings;        // as MuJoCo says them, in order
    MassSources masses;
};

class MujocoLibrary {
public:
    // Opens this file; empty: searches.
    explicit MujocoLibrary(const std::string& path = "");

    const MujocoInfo& info() const { return info_; }

    // Compiles MJCF or URDF. `file` is where the text stands, or would: what the text names lies
    // relative to its folder, and messages name it. Throws Error where the library is not
    // available, and with MuJoCo's words where it refuses the text. One model is compiled at a
    // time, whatever the threads.
    CompiledModel compile(const std::string& text, const std::filesystem::path& file) const;

    // A function of the library by its name, for tests that compare with what it computes. Throws
    // Error where the library is not available or has none of that name.
    void* function(const char* name) const;

private:
    struct Functions;
    void require() const;

    MujocoInfo info_;
    void* handle_ = nullptr;
    std::shared_ptr<const Functions> functions_;
};

// The one of this process, opened at the first call.
const MujocoLibrary& mujoco_library();

}  // namespace hindcast::robot
