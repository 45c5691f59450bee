// Rollout::Work: the implementation of Rollout (documented there); for this folder only.
#pragma once

#include "engine/runtime/executors/function_executor.hpp"
#include "engine/runtime/executors/launch_executor.hpp"
#include "engine/runtime/program/sequence.hpp"
#include "engine/runtime/rollout/adjoint_look.hpp"
#include "engine/runtime/rollout/finite_check.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "engine/runtime/schedule/schedule.hpp"

namespace hindcast {

class CheckpointStore;

class Rollout::Work {
public:
    using Parts = Rollout::Parts;
    using Watch = Rollout::Watch;
    using State = Rollout::State;
    using Seed = Rollout::Seed;
    using MemoryLimit = Rollout::MemoryLimit;
    using Profile = Rollout::Profile;
    using KeptValue = Rollout::KeptValue;
    using KeptSum = Rollout::KeptSum;

    Work(std::shared_ptr<Device> device, Parts parts);
    ~Work();

    void set_step_counter(const Array& counter);

    std::int64_t forward(bool keep, const Watch& watch = {}, RolloutMode mode = RolloutMode::first);
    State copy_state(std::int64_t step);
    std::int64_t forward_from(const State& state, const Watch& watch);
    void stop_if_not_finite(std::vector<Array> arrays, std::int64_t every);
    FiniteCheck& finite() { return finite_; }

    void backward(const std::vector<Seed>& seeds, RolloutMode mode = RolloutMode::first);
    void follow_backward(const Sequence* sequence);
    void leave_backward(const Sequence* sequence);

    void limit_memory(MemoryLimit limit);
    std::int64_t memory_limit() const { return limit_.bytes; }
    void force_plan(std::int64_t segment, std::int64_t checkpoints);
    void set_horizon(std::int64_t steps);
    std::int64_t horizon() const { return horizon_; }
    void start_at_horizon();
    bool starts_at_horizon() const { return at_cut_.has_value(); }

    const CheckpointPlan& plan(RolloutMode mode = RolloutMode::first);
    void allocate(RolloutMode mode = RolloutMode::first) { allocated(mode); }
    std::int64_t planned_bytes(const std::vector<RolloutMode>& modes);
    void warm_up();
    std::int64_t function_bytes() const;
    const StepCosts& measure(RolloutMode mode = RolloutMode::first);

    std::string whole_program_report() const;

    void profile(bool on);
    std::vector<Profile> profiles() const;
    std::string timeline() const;

    std::vector<KeptValue> kept_values(RolloutMode mode = RolloutMode::first);
    std::vector<KeptSum> kept_sums(RolloutMode mode = RolloutMode::first);

    AdjointLook& adjoints() { return adjoints_; }

    std::int64_t kept_bytes() const;
    std::int64_t steps() const;
    std::size_t launches_per_step() const;
    std::size_t joined_launches_per_step();
    std::string launch_between_steps();

private:
    struct Mode;
    PassSet passes() const;
    Mode& mode_for(RolloutMode mode, bool backward);
    Mode& planned(RolloutMode mode);
    Mode& allocated(RolloutMode mode);
    std::int64_t bytes_of_others(const Mode& m) const;
    void forget_plans();
    bool compiles() const;
    static bool is_one_function(const Schedule& s);
    static bool uses_step_functions(const Mode& m);
    FunctionExecutor* step_functions(Mode& m) const;
    std::int64_t step_function_bytes(Mode& m) const;
    bool may_compile_back(Mode& m) const;
    void run_steps(Mode& m, FunctionExecutor* functions, const Stretch& stretch);
    bool goes_in_ranges(const Mode& m, const FunctionExecutor* functions) const;
    bool rotates(const Mode& m, const Stretch& stretch) const;
    static std::int64_t range_end(const Schedule& s, std::int64_t from, std::int64_t to);
    static std::int64_t range_begin(const Schedule& s, std::int64_t from, std::int64_t to);
    std::int64_t forward_range_end(const Schedule& s, std::int64_t t) const;
    void run_range(Mode& m, FunctionExecutor* functions, const Stretch& stretch, bool with_events);
    void run_again(Mode& m, std::int64_t from, std::int64_t to, bool record);
    void run_event(const Mode& m, const Schedule::Event& event, RunKind kind, std::int64_t t,
                   const SlotIndex& at);
    void run_back(Mode& m, std::int64_t from, std::int64_t to);
    // The state that the run begins with instead of step 0; nullptr: it begins at step 0.
    const State* start() const { return from_ != nullptr ? from_ : at_cut_ ? &*at_cut_ : nullptr; }
    static void cut_tangents(Schedule& s);
    void cut_gradients(Mode& m, RolloutMode mode);
    void measure_steps(Mode& m);
    void measure_long(Mode& m);
    void start_of_steps(Mode& m);
    void first_steps(Mode& m, FunctionExecutor* functions, std::int64_t n, bool record);
    void first_steps_back(Mode& m, FunctionExecutor* functions, std::int64_t n);
    StepCosts timed_steps(Mode& m, FunctionExecutor* functions, std::int64_t n,
                          CheckpointStore& store);
    void measure_functions(Mode& m, CheckpointStore& store);
    bool may_recompute(Mode& m) const;
    void run_all_once(Mode& m, RunKind kind);
    void run_all_back(Mode& m);
    bool run_whole(Mode& m, RunKind kind, const std::vector<Seed>& seeds,
                   const std::function<void()>& launches);
    bool may_be_whole_run(const Mode& m) const;
    void go_back(Mode& m, std::int64_t end, RolloutMode mode);
    FunctionExecutor* whole(Mode& m);
    Executor* executor(Mode& m);
    const Sequence* follower(RolloutMode mode) const {
        return mode == RolloutMode::first ? follower_ : nullptr;
    }

    std::shared_ptr<Device> device_;
    Parts parts_;
    Array counter_;
    LaunchExecutor launches_;
    MemoryLimit limit_;
    std::optional<std::pair<std::int64_t, std::int64_t>> forced_;
    std::int64_t horizon_ = 0;
    std::optional<State> at_cut_;  // the state that runs begin with
    const State* from_ = nullptr;  // the state that this run begins with
    FiniteCheck finite_{device_};
    const Sequence* follower_ = nullptr;
    AdjointLook adjoints_;
    std::map<RolloutMode, std::unique_ptr<Mode>> modes_;
};

}  // namespace hindcast
