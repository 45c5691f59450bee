// Gradients of trajectories: with respect to the parameters, and, for the look, to arrays at the
// steps of the frames.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/threads/running/run_work.hpp"

namespace hindcast::session {

class GradientRuns : RunWork {
public:
    using RunWork::RunWork;

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
};

}  // namespace hindcast::session
