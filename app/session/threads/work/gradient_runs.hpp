// Gradients of trajectories: with respect to the parameters, and, for the look, to arrays at the
// steps of the frames.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/threads/running/built_scenes.hpp"
#include "app/session/threads/running/interrupts.hpp"

namespace hindcast::session {

class GradientRuns {
public:
    GradientRuns(RunnerState& state, DeviceFrames& frames, Interrupts& interrupts,
                 BuiltScenes& scenes)
        : state_(state),
          shared_(state.shared),
          frames_(frames),
          interrupts_(interrupts),
          scenes_(scenes) {}

    // Plans the memory of gradients, once for each build. Throws Error if there is too little.
    void plan(BuiltScene& of);
    // True if the complete trajectory lacks a gradient that can be had.
    bool wants(const Trajectory& trajectory);
    // Runs the trajectory once more, with its gradient.
    void run(const TrajectoryPointer& trajectory);
    // The gradient of a run of `of` that has ended and has kept its values. The trajectory gets the
    // adjoints at its frames' steps. None: the work was interrupted.
    std::optional<std::vector<double>> compute(const TrajectoryPointer& trajectory, Simulation& of);

private:
    // Arrays whose derivatives the look shows. Call it under the shared lock.
    std::vector<std::string> wanted_arrays(const SceneInfo& scene) const;

    RunnerState& state_;
    SharedState& shared_;
    DeviceFrames& frames_;
    Interrupts& interrupts_;
    BuiltScenes& scenes_;
};

}  // namespace hindcast::session
