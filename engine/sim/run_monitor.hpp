// RunMonitor: looks at a simulation's state while it runs and adds warnings. Output only: runs have
// the same bits with and without it.
//
// Three looks, each with a warning of its own:
//   speed          an object moves farther in one step than the whole scene is large (finish())
//   boxes          pairs that nothing keeps apart first overlap (each step of the first run; after
//                  that at the end of runs)
//   modules' own   Model::state_looks()
// With h the step, S the size of the scene at the start (the diagonal of the box around all points,
// or the way of free flight, whichever is longer) and d the way from the start, a run has left
// physics where |v| h > S and, as in exponential growth, |v| h > d / 4; or |v| h > 1000 S.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/runtime/rollout/rollout.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast {

class RunMonitor {
public:
    // The simulation must be built, and must outlive this.
    explicit RunMonitor(Simulation& simulation);

    // A watch that looks and then calls `watch`. Empty if `watch` is and no step needs a look.
    Rollout::Watch watch(const Rollout::Watch& watch);
    // After a run of so many substeps.
    void finish(std::int64_t substeps);
    // A look at speeds since the last watch() found that the run has left physics.
    bool left_physics() const { return left_physics_; }

private:
    void look(std::int64_t substeps);
    void look_at_boxes(std::int64_t substeps);
    void look_at_speeds(std::int64_t substeps);
    double time_after(std::int64_t substeps) const;
    std::int64_t whole_steps(std::int64_t substeps) const;

    Simulation& simulation_;
    std::vector<model::ContactPairs::Pair> pairs_;  // that are watched
    double size_ = 0;                               // of the scene at the start, m
    bool first_run_ = true, left_physics_ = false;
};

}  // namespace hindcast
