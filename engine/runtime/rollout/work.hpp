// What a roll-out does, and has: rollout.hpp says what of it, for this folder only.
#pragma once

#include "engine/runtime/compiled/step_functions.hpp"
#include "engine/runtime/compiled/whole_program.hpp"
#include "engine/runtime/program/sequence.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "engine/runtime/schedule/schedule.hpp"

namespace hindcast {

class CheckpointStore;

class Rollout::Work {
public:
    using Parts = Rollout::Parts;
    using Watch = Rollout::Watch;
    using State = Rollout::State;
    using Divergence = Rollout::Divergence;
    using Seed = Rollout::Seed;
    using MemoryLimit = Rollout::MemoryLimit;
    using Profile = Rollout::Profile;
    using KeptValue = Rollout::KeptValue;
    using KeptSum = Rollout::KeptSum;
    using AdjointNorms = Rollout::AdjointNorms;
    using AdjointWatch = Rollout::AdjointWatch;

    Work(std::shared_ptr<Device> device, Parts parts);
    ~Work();

    void set_step_counter(const Array& counter);

    std::int64_t forward(bool keep, const Watch& watch = {}, RolloutMode mode = RolloutMode::first);
    State copy_state(std::int64_t step);
    std::int64_t forward_from(const State& state, const Watch& watch);
    void stop_if_not_finite(std::vector<Array> arrays, std::int64_t every);
    const std::optional<Divergence>& divergence() const { return diverged_; }
    bool look(std::int64_t step);
    void look_later(bool on) { looks_later_ = on; }
    const Array& not_finite() const { return not_finite_; }

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

    std::vector<KeptValue> kept_values(RolloutMode mode = RolloutMode::first);
    std::vector<KeptSum> kept_sums(RolloutMode mode = RolloutMode::first);

    void record_adjoint_norms(bool on);
    const AdjointNorms& adjoint_norms() const { return norms_; }
    void watch_adjoints(AdjointWatch watch) { adjoint_watch_ = std::move(watch); }

    std::int64_t kept_bytes() const;
    std::int64_t steps() const;
    std::size_t launches_per_step() const;
    std::size_t joined_launches_per_step();
    std::string launch_between_steps();

private:
    struct Mode;
    Mode& mode_for(RolloutMode mode, bool backward);
    Mode& planned(RolloutMode mode);
    Mode& allocated(RolloutMode mode);
    std::int64_t bytes_of_others(const Mode& m) const;
    void forget_plans();
    void set_counter(std::int64_t step) const;
    void run(const Launch::Replay& replay, double& seconds, std::int64_t& runs,
             std::span<const backend::Copy> copies = {});
    void run(std::span<Call> calls, const SlotIndex* record, bool again);
    bool compiles() const;
    static bool is_one_function(const Schedule& s);
    static bool uses_step_functions(const Mode& m);
    StepFunctions* step_functions(Mode& m) const;
    std::int64_t step_function_bytes(Mode& m) const;
    bool may_compile_back(Mode& m) const;
    void run_steps(Mode& m, StepFunctions* functions, StepFunctions::Kind kind, std::int64_t from,
                   std::int64_t to, std::int64_t window);
    bool may_defer() const;
    bool goes_in_ranges(const Mode& m, const StepFunctions* functions) const;
    bool rotates(const Mode& m, StepFunctions::Kind kind, std::int64_t steps) const;
    void run_rotated(Mode& m, StepFunctions::Kind kind, std::int64_t from, std::int64_t to,
                     std::int64_t window);
    void run_back_rotated(Mode& m, std::int64_t from, std::int64_t to, std::int64_t window);
    void need_dropped(Mode& m, std::int64_t t, std::int64_t window);
    static std::int64_t range_end(const Schedule& s, std::int64_t from, std::int64_t to);
    static std::int64_t range_begin(const Schedule& s, std::int64_t from, std::int64_t to);
    std::int64_t forward_range_end(const Schedule& s, std::int64_t t) const;
    void run_range(Mode& m, StepFunctions* functions, StepFunctions::Kind kind, std::int64_t from,
                   std::int64_t to, std::int64_t window, bool with_events);
    void run_again(Mode& m, std::int64_t from, std::int64_t to, bool record);
    class Deferring;
    void make_again(Calls& step, const SlotIndex& at);
    void run_back(std::span<Call> calls, const SlotIndex& at);
    void run_back(Mode& m, std::int64_t from, std::int64_t to);
    // What the run begins with instead of step 0.
    const State* start() const { return from_ != nullptr ? from_ : at_cut_ ? &*at_cut_ : nullptr; }
    static void cut_tangents(Schedule& s);
    void cut_gradients(Mode& m, RolloutMode mode);
    void measure_steps(Mode& m);
    void measure_long(Mode& m);
    void start_of_steps(Schedule& s);
    void first_steps(Mode& m, StepFunctions* functions, std::int64_t n, bool record);
    void first_steps_back(Mode& m, StepFunctions* functions, std::int64_t n);
    StepCosts timed_steps(Mode& m, StepFunctions* functions, std::int64_t n,
                          CheckpointStore& store);
    void measure_functions(Mode& m, CheckpointStore& store);
    bool may_recompute(Mode& m) const;
    void run_all_once(Schedule& s, const SlotIndex* record);
    void run_all_back(Schedule& s);
    bool diverges(std::int64_t t);
    void look_on_device();
    const Array* not_finite_on_device();
    bool run_whole(Mode& m, WholeProgram::Kind kind, const std::vector<Seed>& seeds,
                   const std::function<void()>& launches);
    bool may_be_whole_run(const Mode& m) const;
    void go_back(Mode& m, std::int64_t end, RolloutMode mode);
    WholeProgram* whole(Mode& m);
    bool looks_at_adjoints() const { return recording_norms_ || adjoint_watch_; }
    void at_boundary(const Schedule& s, std::int64_t t);
    const Sequence* follower(RolloutMode mode) const {
        return mode == RolloutMode::first ? follower_ : nullptr;
    }
    void note_norm(const Schedule& s, std::int64_t t);

    std::shared_ptr<Device> device_;
    Parts parts_;
    Array counter_;
    bool profiling_ = false;
    std::unique_ptr<backend::DeferredWork> deferred_;  // on the threads of the device
    bool deferring_ = false;                           // what launches leave to them
    MemoryLimit limit_;
    std::optional<std::pair<std::int64_t, std::int64_t>> forced_;
    std::int64_t horizon_ = 0;
    std::optional<State> at_cut_;  // what runs begin with
    const State* from_ = nullptr;  // what this run begins with
    std::vector<Array> watched_;
    std::int64_t watched_every_ = 0;
    Array not_finite_;  // on a CUDA device: an i32 for each, 1 if one was found
    bool looked_ = false, looks_later_ = false;
    const Sequence* follower_ = nullptr;
    std::optional<Divergence> diverged_;
    bool recording_norms_ = false;
    AdjointNorms norms_;
    AdjointWatch adjoint_watch_;
    std::map<RolloutMode, std::unique_ptr<Mode>> modes_;
};

}  // namespace hindcast
