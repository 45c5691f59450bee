// The launches of the simulation that runs, for the window: their times, and the code that each
// becomes (IR, assembly, CUDA C++).
//
// A timed launch is known by its name and direction. The text of its own direction is that of the
// kernel that ran, even if several launches were joined into it (fusion.hpp). Other directions of
// joined launches do not exist as kernels: the texts of the launches that were joined are given,
// one after the other.
#pragma once

#include "app/session/threads/work/trajectory_runs.hpp"

namespace hindcast::session {

class Launches {
public:
    Launches(RunnerState& state, TrajectoryRuns& trajectories)
        : state_(state), shared_(state.shared), trajectories_(trajectories) {}

    // On: the current trajectory is run once more, with its gradient, to be timed.
    void set_profiling(bool on);
    // A new simulation is timed as the one before was.
    void follow_scene() { state_.now.simulation->rollout().profile(profiling_); }
    // The times so far, if launches are timed.
    void publish_times();

    void answer(const LaunchText& command);
    void answer_waiting();  // those among the waiting commands

private:
    // Throws Error if the launch has not run, or has no such direction.
    std::string text_of(const LaunchText& command) const;

    RunnerState& state_;
    SharedState& shared_;
    TrajectoryRuns& trajectories_;
    bool profiling_ = false;
};

}  // namespace hindcast::session
