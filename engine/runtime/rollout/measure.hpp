// StepMeasurement: measures what steps of a mode cost, so that plans predict by that; for this folder
// only.
#pragma once

#include "engine/runtime/rollout/modes.hpp"

namespace hindcast {

class CheckpointStore;

class StepMeasurement {
public:
    StepMeasurement(RolloutModes& modes, RolloutSteps& steps) : modes_(modes), steps_(steps) {}

    // See Rollout.
    const StepCosts& measure(RolloutMode mode);
    void warm_up();

private:
    void measure_steps(ModeState& m);
    void measure_long(ModeState& m);
    void measure_functions(ModeState& m, CheckpointStore& store);
    StepCosts timed_steps(ModeState& m, FunctionExecutor* functions, std::int64_t n,
                          CheckpointStore& store);
    void start_of_steps(ModeState& m);
    void first_steps(ModeState& m, FunctionExecutor* functions, std::int64_t n, bool record);
    void first_steps_back(ModeState& m, FunctionExecutor* functions, std::int64_t n);
    void run_all_once(ModeState& m, RunKind kind);
    void run_all_back(ModeState& m);
    // Bytes that the limit leaves for histories and checkpoints.
    std::int64_t room(const ModeState& m) const {
        return modes_.limit().bytes - m.demand(modes_.bytes_of_others(m)).fixed;
    }

    RolloutModes& modes_;
    RolloutSteps& steps_;
};

}  // namespace hindcast
