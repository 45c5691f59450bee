// Work that runs steps of a scene and keeps frames of them: the references that it needs.
#pragma once

#include "app/session/threads/running/built_scenes.hpp"
#include "app/session/threads/running/interrupts.hpp"

namespace hindcast::session {

class RunWork {
public:
    RunWork(RunnerState& state, DeviceFrames& frames, Interrupts& interrupts, BuiltScenes& scenes)
        : state_(state),
          shared_(state.shared),
          frames_(frames),
          interrupts_(interrupts),
          scenes_(scenes) {}

protected:
    RunnerState& state_;
    SharedState& shared_;
    DeviceFrames& frames_;
    Interrupts& interrupts_;
    BuiltScenes& scenes_;
};

}  // namespace hindcast::session
