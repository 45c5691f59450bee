// RolloutSteps: runs steps and the events after them, one after the other or a range at once, in any
// direction; for this folder only.
#pragma once

#include "engine/runtime/executors/launch_executor.hpp"
#include "engine/runtime/rollout/adjoint_look.hpp"
#include "engine/runtime/rollout/finite_check.hpp"
#include "engine/runtime/rollout/mode.hpp"

namespace hindcast {

class RolloutSteps {
public:
    explicit RolloutSteps(std::shared_ptr<Device> on)
        : device(std::move(on)), launches(device), finite(device) {}

    // --- steps as compiled functions ---
    bool compiles() const;
    static bool is_one_function(const Schedule& s);
    static bool uses_step_functions(const ModeState& m);
    FunctionExecutor* step_functions(ModeState& m) const;
    FunctionExecutor* whole(ModeState& m) const;
    std::int64_t step_function_bytes(ModeState& m) const;
    bool may_compile_back(ModeState& m) const;

    // --- ranges of steps ---
    bool goes_in_ranges(const ModeState& m, const FunctionExecutor* functions) const;
    static std::int64_t range_begin(const Schedule& s, std::int64_t from, std::int64_t to);
    std::int64_t forward_range_end(const Schedule& s, std::int64_t t) const;

    // --- running them ---
    void run_steps(ModeState& m, FunctionExecutor* functions, const Stretch& stretch);
    void run_event(const ModeState& m, const Schedule::Event& event, RunKind kind, std::int64_t t,
                   const SlotIndex& at);
    void run_range(ModeState& m, FunctionExecutor* functions, const Stretch& stretch,
                   bool with_events);
    void run_again(ModeState& m, std::int64_t from, std::int64_t to, bool record);
    void run_back(ModeState& m, std::int64_t from, std::int64_t to);

    const std::shared_ptr<Device> device;
    LaunchExecutor launches;
    FiniteCheck finite;
    AdjointLook adjoints;

private:
    static std::int64_t range_end(const Schedule& s, std::int64_t from, std::int64_t to);
    bool rotates(const ModeState& m, const Stretch& stretch) const;
};

}  // namespace hindcast
