// The optimization: rows, branches, and how the user steers it. It runs in slices: a row that an
// edit or a pause ends is followed by another run(), which goes on from the parameters as they then
// are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/session/threads/running/history.hpp"
#include "app/session/threads/work/gradient_runs.hpp"
#include "app/session/threads/work/launches.hpp"
#include "app/session/threads/work/live_mode.hpp"
#include "app/session/threads/work/row_writer.hpp"
#include "app/session/threads/work/scene_optimization.hpp"
#include "app/session/threads/work/trajectory_runs.hpp"

namespace hindcast::session {

class Optimizer {
public:
    Optimizer(RunnerState& state, Interrupts& interrupts, History& history, BuiltScenes& scenes,
              TrajectoryRuns& trajectories, GradientRuns& gradients, Launches& launches);

    // Computes rows until something else is to be done. Needs RunnerState::optimizing.
    void run();
    // True if the user wants to see a trajectory that must be run first, between two rows.
    bool looks_elsewhere() const;

    // ---- the user's commands ----
    void steer(Optimize::What what);
    void set_live(const Live& live) { live_.set(live); }
    // Throws Error if the iteration's scene or parameters are gone.
    void branch(const Branch& command);
    void revert();
    void reset();  // as after loading; the rows stay
    void stop();   // after an error

    // ---- edits ----
    // Numbers were edited: an optimization that rests begins anew.
    void follow_numbers();
    // Another simulation takes over. Call leave() before, enter() after, and publish_scene() under
    // the shared lock. `fresh`: it is of another scene.
    SceneOptimization::Carried leave(bool fresh);
    void enter(const SceneOptimization::Carried& carried, bool fresh);
    void publish_scene(bool fresh);

private:
    // One roll-out, whose frames are kept. None: it was interrupted.
    std::optional<Ensemble::Result> evaluate(const std::vector<double>& values, bool gradient);
    bool add_row(const Optimization::Row& row);  // false: the run ends after it
    // With a rate: until the next row is due, or something else is asked for.
    void wait_for_next_row();
    void end(const Optimization::Outcome& outcome);
    double progress_at(std::int64_t iteration, double of_none);

    RunnerState& state_;
    SharedState& shared_;
    Interrupts& interrupts_;
    History& history_;
    BuiltScenes& scenes_;
    TrajectoryRuns& trajectories_;
    GradientRuns& gradients_;
    Launches& launches_;

    RowWriter rows_;
    SceneOptimization optimization_;
    LiveMode live_;
    std::int64_t rows_left_ = -1;  // after "one step"; -1: no limit
};

}  // namespace hindcast::session
