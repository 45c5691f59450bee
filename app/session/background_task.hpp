// One piece of work at a time on a thread of its own, which can be canceled.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "engine/base/error.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

class BackgroundTask {
public:
    BackgroundTask() = default;
    ~BackgroundTask() { cancel(); }
    BackgroundTask(const BackgroundTask&) = delete;
    BackgroundTask& operator=(const BackgroundTask&) = delete;

    // Cancels the work that runs. `work` must check canceled(). `ended` gets the Error that it
    // threw, on the same thread, also after a cancellation.
    void start(std::function<void()> work, std::function<void(const std::optional<Error>&)> ended);
    void cancel();  // and waits
    // True also for work that is being replaced: its results are discarded.
    const std::atomic<bool>& canceled() const { return canceled_; }

private:
    std::atomic<bool> canceled_ = false;
    std::thread thread_;
};

// The same simulation options with a device of their own: one thread of the processor, so that the
// other devices are not slowed down.
SimulationOptions in_background(SimulationOptions options);
// Options for what is told nothing else: the same device.
SimulationOptions in_background(ir::Precision precision);

}  // namespace hindcast::session
