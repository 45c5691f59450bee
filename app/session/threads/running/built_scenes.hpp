// The simulations of a session: the scene as it is now (RunnerState::now), and at most one scene
// before an edit, built again to show iterations of it. The second simulation is dropped when
// nothing of it is shown any more. Trajectories of both lie in one cache, within one bound.
//
// Exact or an error: a scene may read files that have changed since. So a scene that is built again
// must have the same shape, and an iteration that is run again the same loss, bit for bit.
#pragma once

#include <optional>
#include <vector>

#include "app/session/threads/running/device_frames.hpp"
#include "app/session/threads/running/runner_state.hpp"

namespace hindcast::session {

// States copied during a run, from which its steps are run again (BetweenFrames).
struct StepStates {
    TrajectoryPointer of;
    std::vector<Rollout::State> states;  // of its simulation, in order of copying
    bool failed = false;                 // the run to a step has failed: it is not tried again
};

class BuiltScenes {
public:
    BuiltScenes(RunnerState& state, DeviceFrames& frames) : state_(state), frames_(frames) {}

    // The simulation of this scene, which is built again if it is gone. Throws Error if it cannot
    // be built, or has another shape than it had.
    BuiltScene& built_for(const SceneInfoPointer& scene);
    bool gradients_failed(const SceneInfoPointer& scene) const;
    // Throws Error if an older scene's iteration that was run again has another loss.
    void check_rerun(const Trajectory& trajectory, double loss) const;

    // Drops all that belongs to the simulation now and to the older one, and replaces it.
    void replace_now(BuiltScene next);
    void drop_older();
    void drop_unused_older();

    // Copied states of a trajectory; null: none.
    const StepStates* find_states(const TrajectoryPointer& trajectory) const;
    // The same; added if there are none. Those of at most two trajectories are kept: of the one
    // shown and of the ghost.
    StepStates& states_of(const TrajectoryPointer& trajectory);
    void fail_states(const TrajectoryPointer& trajectory) {
        states_.push_back({trajectory, {}, true});
    }
    void drop_states() { states_.clear(); }

private:
    RunnerState& state_;
    DeviceFrames& frames_;
    std::optional<BuiltScene> older_;
    std::vector<StepStates> states_;
};

}  // namespace hindcast::session
