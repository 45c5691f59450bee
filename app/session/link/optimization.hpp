// The optimization: its state, and the history of its iterations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/session/link/command.hpp"
#include "app/session/link/run.hpp"

namespace hindcast::session {

// One row of the optimization's history. Its numbers never change.
struct IterationInfo {
    std::int64_t iteration = 0;  // counted across branches
    std::int64_t branched_from = -1;
    double loss = 0, gradient_norm = 0, seconds = 0;
    std::vector<TermInfo> terms;
    // Null where they were dropped to save memory.
    std::shared_ptr<const std::vector<double>> parameters, gradient;
    std::vector<double> adjoint_norms;  // at each kept frame; empty if there are none
    bool frames_kept = false;           // its trajectory is in memory; else it is run again
    std::int64_t build = 0;             // SceneSnapshot::build of the scene it was run with
    std::int64_t epoch = 0;             // SceneSnapshot::epoch at that time
    // False: its scene or its parameters were dropped to save memory. Its losses remain.
    bool can_show = true;
};

struct OptimizationSnapshot {
    std::string optimizer;  // "adam, rate 0.05"; empty: the scene has no parameters
    Live live{.on = false};
    bool live_waits = false;  // for an edit: it has ended, and would go on
    std::int64_t iterations_planned = 0;
    std::int64_t shown_iteration = -1, ghost_iteration = -1, best_iteration = -1;
    std::string ghost_problem;  // why the ghost cannot be drawn; empty: it can
    std::shared_ptr<const std::vector<IterationInfo>> history;
    std::string stop_reason;
    bool stopped_well = false;  // converged, or all iterations are done
    bool unaccepted = false;    // the current parameters differ from the document's
};

}  // namespace hindcast::session
