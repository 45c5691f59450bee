// Writes rows of the optimization into the history: each with its time, the row that it branched
// from, and the trajectory that was kept of its roll-out.
#pragma once

#include <cstdint>
#include <utility>

#include "app/session/threads/running/history.hpp"
#include "engine/sim/optimization/optimization.hpp"

namespace hindcast::session {

class RowWriter {
public:
    RowWriter(RunnerState& state, History& history)
        : state_(state), shared_(state.shared), history_(history) {}

    // The time of rows is that of the slices in which the optimization runs.
    void begin_slice() { since_ = Clock::now(); }
    void end_slice() { seconds_ += seconds_since_begin(); }
    void forget_time() { seconds_ = 0; }

    // The next row branches from this iteration; -1: it follows the last one.
    void branch_from(std::int64_t iteration) { branched_from_ = iteration; }
    void note_run(TrajectoryPointer run) { last_run_ = std::move(run); }
    const TrajectoryPointer& last_run() const { return last_run_; }  // null: none yet

    // A row that repeats the one that it branches from is left out. Call it under the shared lock.
    void write(const Optimization::Row& row, const SceneRevisionPointer& revision);

private:
    double seconds_since_begin() const;

    RunnerState& state_;
    SharedState& shared_;
    History& history_;
    std::int64_t branched_from_ = -1;
    TrajectoryPointer last_run_;
    Clock::time_point since_;  // when the present slice began
    double seconds_ = 0;       // of the slices before
};

}  // namespace hindcast::session
