// Memory of gradients: the plan before the run, the measured peak after it.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/sim/simulation.hpp"

namespace hindcast::cli {

class GradientMemory {
public:
    // Plans (a few steps are run and measured), for Hessian products too if `second`. Throws Error
    // if nothing fits. The simulation must outlive this.
    explicit GradientMemory(Simulation& simulation, bool second = false);

    void allocate();  // all memory of runs, so that none of them waits for it
    const CheckpointPlan& plan() const { return plan_; }
    std::int64_t measured() const;  // bytes: the most since the plan was made
    void print_plan(int label_width = 14) const;
    void print_peak() const;
    document::Node node() const;  // for the summary

private:
    Rollout& rollout_;
    std::int64_t before_ = 0, predicted_ = 0;
    CheckpointPlan plan_;
    std::optional<CheckpointPlan> second_;
};

}  // namespace hindcast::cli
