// Runs whose frames are kept: trajectories of the current parameters, and iterations that are run
// again. A run that was left starts again at step 0.
#pragma once

#include <functional>

#include "app/session/threads/running/run_work.hpp"

namespace hindcast::session {

class TrajectoryRuns : RunWork {
public:
    using RunWork::RunWork;

    // A trajectory without frames. Makes room for it in the memory of frames, which also decides
    // how many steps lie between its frames. `iteration`: -1: it has no row in the history.
    TrajectoryPointer make(const SceneInfoPointer& scene, std::int64_t iteration,
                           SharedNumbers base, SharedValues parameters);
    // Makes a trajectory of the current parameters the one to show. The runner runs it next.
    void show_current();

    // Records the frames of a run of `of` into the trajectory, until `interrupted` says so. `held`:
    // a point of the scene whose position is recorded with each frame; -1: none.
    Rollout::Watch recorder(const TrajectoryPointer& trajectory, Simulation& of,
                            std::function<bool()> interrupted, std::int64_t held = -1);
    // Ends a trajectory after its last step: loss, terms, and the reason if a number is not finite.
    void finish(const TrajectoryPointer& trajectory, Simulation& of, double loss);

    // `as_current`: the trajectory is SharedState::current, and so is one that replaces it.
    void run(const TrajectoryPointer& wanted, bool as_current);
    // Throws Error if an older scene's iteration cannot be run again as it was.
    void run_iteration(std::int64_t iteration);
    // True if the look needs arrays that the trajectory's frames do not hold.
    bool needs_more(const Trajectory& trajectory);

private:
    void forget(std::int64_t iteration);
};

}  // namespace hindcast::session
