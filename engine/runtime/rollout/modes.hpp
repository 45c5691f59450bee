// RolloutModes: the modes that a roll-out was run in, and the memory of gradients that all of them
// take together; for this folder only.
#pragma once

#include "engine/runtime/rollout/steps.hpp"

namespace hindcast {

class RolloutModes {
public:
    RolloutModes(RolloutSteps& steps, Rollout::Parts parts);

    const Rollout::Parts& parts() const { return parts_; }
    const Array& counter() const { return counter_; }
    void set_step_counter(const Array& counter);
    std::int64_t horizon() const { return horizon_; }
    void set_horizon(std::int64_t steps);
    void stop_if_not_finite(std::vector<Array> arrays, std::int64_t every);
    void forget_graphs();

    // The state of a mode, made anew where it is out of date; with a plan; with memory besides.
    ModeState& mode_for(RolloutMode mode, bool backward);
    ModeState& planned(RolloutMode mode);
    ModeState& allocated(RolloutMode mode);
    // nullptr: it was never run.
    const ModeState* find(RolloutMode mode) const;
    // In the order of the modes.
    template <class F>
    void each(F f) const {
        for (const auto& [mode, m] : modes_) f(*m);
    }

    void limit_memory(Rollout::MemoryLimit limit);
    const Rollout::MemoryLimit& limit() const { return limit_; }
    void force_plan(std::int64_t segment, std::int64_t checkpoints);
    // True if there is a choice between keeping values and running steps again.
    bool may_recompute(ModeState& m) const;
    std::int64_t bytes_of_others(const ModeState& m) const;
    std::int64_t planned_bytes(const std::vector<RolloutMode>& modes);
    std::int64_t function_bytes() const;
    std::int64_t kept_bytes() const;

    std::string describe() const;  // the timeline, after each pass

private:
    PassSet passes() const;
    void forget_plans();

    RolloutSteps& steps_;
    Rollout::Parts parts_;
    Array counter_;
    Rollout::MemoryLimit limit_;
    std::optional<std::pair<std::int64_t, std::int64_t>> forced_;
    std::int64_t horizon_ = 0;
    std::map<RolloutMode, std::unique_ptr<ModeState>> modes_;
};

}  // namespace hindcast
