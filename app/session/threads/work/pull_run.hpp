// A pull with the mouse. A second simulation has one more force of module "pull", with a place for
// each step to the end. It runs at once from the start to the step shown, which gives the same bits
// there, and from then on in real time; the place of each step is that of the mouse when the step
// begins. On release the places that were used become the force that is written into the scene. A
// run of that from step 0 gives the frames that were shown, because an item of the force adds zero
// in every step but its own.
//
// Why not in the simulation shown: a reserved pull would cost every scene a launch in every step,
// and an edited document at each drag would replace the optimization's history before the user has
// decided to keep the pull.
#pragma once

#include <optional>

#include "app/session/threads/work/trajectory_runs.hpp"
#include "engine/model/model.hpp"

namespace hindcast::session {

class PullRun {
public:
    PullRun(RunnerState& state, DeviceFrames& frames, Interrupts& interrupts,
            TrajectoryRuns& trajectories)
        : state_(state),
          shared_(state.shared),
          frames_(frames),
          interrupts_(interrupts),
          trajectories_(trajectories) {}

    // Returns when the pull has ended. An error ends the pull, is reported, and changes nothing
    // else.
    void run(const Grab& grab);

private:
    // The point that is pulled on, and where it is in its body.
    struct Grabbed {
        std::int64_t scene_point = -1;
        model::Range body;  // its points
        PullPath path;
    };

    void follow_mouse(const Grab& grab);
    // None: the pull has been released already. Throws Error if the trajectory shown cannot be
    // pulled on.
    std::optional<Grabbed> find_grabbed(const Grab& grab);
    // True if another command discards the pull. Call it under the shared lock.
    bool must_end() const;
    // Waits until the next step is due. False: the pull has ended.
    bool wait_for_mouse(Clock::time_point& due);

    RunnerState& state_;
    SharedState& shared_;
    DeviceFrames& frames_;
    Interrupts& interrupts_;
    TrajectoryRuns& trajectories_;
};

}  // namespace hindcast::session
