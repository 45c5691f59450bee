// LaunchExecutor: blocks of a timeline launch by launch, the definition of what they mean.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "engine/backend/cpu/launch/deferred_work.hpp"
#include "engine/backend/executable.hpp"
#include "engine/runtime/device/device.hpp"
#include "engine/runtime/executors/executor.hpp"
#include "engine/runtime/schedule/step_rotation.hpp"
#include "engine/runtime/schedule/timeline.hpp"

namespace hindcast {

class LaunchExecutor {
public:
    explicit LaunchExecutor(std::shared_ptr<Device> device);
    ~LaunchExecutor();

    void use_counter(const Array& counter) { counter_ = counter; }
    // Each launch is timed (Call::forward_seconds, ...), and nothing is deferred.
    void profile(bool on) { profiling_ = on; }
    bool profiles() const { return profiling_; }
    // Launches may leave loops over elements to the ones after them, within run_steps().
    bool may_defer() const;

    // The items of a block at step t; its histories at `at`.
    void run(const Block& block, std::int64_t t, const SlotIndex& at);
    // Steps without the events around them. `rotation`: of the timeline's step, or nullptr;
    // whether it is to be used is the caller's to say.
    void run_steps(const Timeline& timeline, StepRotation* rotation, bool rotate,
                   const Stretch& stretch);
    void set_counter(std::int64_t step);

private:
    void run(const RunItem& item, const SlotIndex& at);
    void launch(const Launch::Replay& replay, double& seconds, std::int64_t& runs);
    void copy(History& history, const SlotIndex& at);
    void run_rotated(StepRotation& rotation, const Stretch& stretch);
    void run_back_rotated(StepRotation& rotation, const Stretch& stretch);
    void need_dropped(StepRotation& rotation, std::int64_t t, std::int64_t window);
    void flush_copies();

    std::shared_ptr<Device> device_;
    Array counter_;
    bool profiling_ = false;
    std::unique_ptr<backend::DeferredWork> deferred_;  // on the threads of the device
    bool deferring_ = false;
    std::array<backend::Copy, 16> copies_;  // that wait for the next launch, to be made with it
    std::size_t copy_count_ = 0;
};

}  // namespace hindcast
