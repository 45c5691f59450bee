// Rollout::Work: the implementation of Rollout (documented there): its runs, and the parts that they
// are made of; for this folder only.
#pragma once

#include "engine/runtime/program/sequence.hpp"
#include "engine/runtime/rollout/measure.hpp"

namespace hindcast {

class Rollout::Work {
public:
    Work(std::shared_ptr<Device> device, Parts parts)
        : steps(std::move(device)), modes(steps, std::move(parts)), costs(modes, steps) {}

    RolloutSteps steps;
    RolloutModes modes;
    StepMeasurement costs;

    std::int64_t forward(bool keep, const Watch& watch = {}, RolloutMode mode = RolloutMode::first);
    State copy_state(std::int64_t step);
    std::int64_t forward_from(const State& state, const Watch& watch);
    void backward(const std::vector<Seed>& seeds, RolloutMode mode);
    void follow_backward(const Sequence* sequence);
    void leave_backward(const Sequence* sequence);

    void set_horizon(std::int64_t length);
    void start_at_horizon();
    bool starts_at_horizon() const { return at_cut_.has_value(); }

    std::string whole_program_report() const;
    std::vector<Profile> profiles() const;
    std::vector<KeptValue> kept_values(RolloutMode mode);
    std::vector<KeptSum> kept_sums(RolloutMode mode);
    std::string launch_between_steps();

private:
    // The state that the run begins with instead of step 0; nullptr: it begins at step 0.
    const State* start() const { return from_ != nullptr ? from_ : at_cut_ ? &*at_cut_ : nullptr; }
    static void cut_tangents(Schedule& s);
    static void cut_gradients(ModeState& m, RolloutMode mode);
    bool run_whole(ModeState& m, RunKind kind, const std::vector<Seed>& seeds,
                   const std::function<void()>& launches);
    bool may_be_whole_run(const ModeState& m) const;
    void go_back(ModeState& m, std::int64_t end, RolloutMode mode);
    Executor* executor(ModeState& m);
    const Sequence* follower(RolloutMode mode) const {
        return mode == RolloutMode::first ? follower_ : nullptr;
    }

    std::optional<State> at_cut_;  // the state that runs begin with
    const State* from_ = nullptr;  // the state that this run begins with
    const Sequence* follower_ = nullptr;
};

}  // namespace hindcast
