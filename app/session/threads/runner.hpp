// The thread of a session that computes: it builds simulations, runs them, keeps their frames, and
// optimizes. It takes its commands from the shared state in order. When there are none it computes
// the data that the window lacks: the trajectory to show, the ghost's, the gradients of the
// trajectory shown.
//
// Between steps it reads the shared state. A command that makes the run obsolete stops it. During
// an optimization edits wait for the end of the row; everything else acts at once.
//
// Runner is the loop. Each kind of work is a class (work/, tools/); running/ has the data that they
// share.
#pragma once

#include <functional>

#include "app/session/threads/running/history.hpp"
#include "app/session/threads/tools/tools.hpp"
#include "app/session/threads/work/between_frames.hpp"
#include "app/session/threads/work/documents.hpp"
#include "app/session/threads/work/pull_run.hpp"
#include "app/session/threads/work/scene_values.hpp"

namespace hindcast::session {

class Runner {
public:
    Runner(SharedState& shared, const Registry& registry, SessionOptions options);

    void run();  // until SharedState::ends

private:
    // Reports any error of the work; the loop goes on.
    void guarded(const std::function<void()>& work);
    bool take_commands();  // true if there were any
    void take(Command& command);
    void compute_rows();
    // Does one piece of work that the user waits for. False: nothing is missing.
    bool do_missing();
    void wait();  // until there is something to do

    SharedState& shared_;
    RunnerState state_;
    DeviceFrames frames_;
    Interrupts interrupts_;
    History history_;
    BuiltScenes scenes_;

    TrajectoryRuns trajectories_;
    GradientRuns gradients_;
    BetweenFrames between_;
    PullRun pull_;
    Launches launches_;
    Optimizer optimizer_;
    SceneValues values_;
    WarningCheck warnings_;
    Documents documents_;
    Tools tools_;
};

}  // namespace hindcast::session
