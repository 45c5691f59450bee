// ModeState: a roll-out in one of its modes: its schedule, plan and executors; for this folder only.
#pragma once

#include <memory>

#include "engine/runtime/executors/function_executor.hpp"
#include "engine/runtime/executors/graph_executor.hpp"
#include "engine/runtime/schedule/recording.hpp"
#include "engine/runtime/schedule/step_rotation.hpp"

namespace hindcast {

struct ModeState {
    std::unique_ptr<Schedule> schedule;
    Timeline timeline;
    std::unique_ptr<StepRotation> rotation;  // of its step; nullptr: there is none
    Recording recording;
    bool has_plan = false;
    CheckpointPlan plan;
    StepCosts costs;
    RolloutMode mode;
    // Measured: what launches work with that forward(false) has not.
    std::int64_t scratch = 0;
    std::int64_t functions = 0;  // predicted: what compiled runs or steps for backward() work with
    std::int64_t others = 0;     // in the plan: what stays of other modes
    std::unique_ptr<FunctionExecutor> whole, steps;  // of runs, of steps
    std::optional<std::int64_t> step_bytes;          // predicted: what functions of steps work with
    std::unique_ptr<GraphExecutor> graphs;           // instead, on a CUDA device

    // Bytes that this mode holds besides arrays of derivatives as long as it has a plan.
    std::int64_t stays() const { return scratch + (has_plan && plan.may_compile ? functions : 0); }

    template <class F>
    void each_call(F f) {
        schedule->each_call(f);
        if (rotation) f(rotation->call);
    }

    // The mode's demand if the other modes hold this many bytes.
    MemoryDemand demand(std::int64_t others_stay) const {
        MemoryDemand all = schedule->demand;
        all.fixed += scratch + others_stay;
        return all;
    }

    ModeState(RolloutMode which, std::unique_ptr<Schedule> s, const Array& counter,
              const Device& device)
        : schedule(std::move(s)),
          timeline(*schedule, counter),
          recording(*schedule, device),
          mode(which) {}
};

}  // namespace hindcast
