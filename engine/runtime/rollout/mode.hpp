// What a roll-out has for each of its modes; for this folder only.
#pragma once

#include <memory>

#include "engine/backend/cpu/launch/deferred_work.hpp"
#include "engine/runtime/compiled/graph_runs.hpp"
#include "engine/runtime/compiled/whole_program.hpp"
#include "engine/runtime/rollout/recording.hpp"
#include "engine/runtime/rollout/work.hpp"
#include "engine/runtime/schedule/step_rotation.hpp"

namespace hindcast {

// While one is there, launches defer what they may; whoever looks at arrays by other
// means runs these before. Not while launches are timed.
class Rollout::Work::Deferring {
public:
    explicit Deferring(Work& rollout) : rollout_(rollout) {
        rollout_.deferring_ = rollout_.may_defer();
    }
    ~Deferring() {
        rollout_.deferred_->run();
        rollout_.deferring_ = false;
    }
    Deferring(const Deferring&) = delete;
    Deferring& operator=(const Deferring&) = delete;

private:
    Work& rollout_;
};

struct Rollout::Work::Mode {
    std::unique_ptr<Schedule> schedule;
    std::unique_ptr<StepRotation> seam;  // of the schedule; nullptr: there is none
    Recording recording;
    bool has_plan = false;
    CheckpointPlan plan;
    StepCosts costs;
    RolloutMode mode;
    // Measured: what launches work with that forward(false) has not.
    std::int64_t scratch = 0;
    std::int64_t functions = 0;  // predicted: what compiled runs or steps for backward() work with
    std::int64_t others = 0;     // in the plan: what stays of other modes
    std::unique_ptr<WholeProgram> whole;
    std::unique_ptr<StepFunctions> steps;
    std::optional<std::int64_t> step_bytes;  // predicted: what functions of steps work with
    std::unique_ptr<GraphRuns> graphs;       // instead, on a CUDA device

    // What this mode has beside arrays of derivatives as long as there is a plan.
    std::int64_t stays() const { return scratch + (has_plan && plan.may_compile ? functions : 0); }

    template <class F>
    void each_call(F f) {
        schedule->each_call(f);
        if (seam) f(seam->call);
    }

    // What the mode needs, where this much stays of the others.
    MemoryDemand demand(std::int64_t others_stay) const {
        MemoryDemand all = schedule->demand;
        all.fixed += scratch + others_stay;
        return all;
    }

    Mode(RolloutMode which, std::unique_ptr<Schedule> s, const Device& device)
        : schedule(std::move(s)), recording(*schedule, device), mode(which) {}
};

}  // namespace hindcast
