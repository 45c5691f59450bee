// Work beside everything else: a thread that can be told to stop, one piece of work at a time.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "engine/base/error.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

class Background {
public:
    Background() = default;
    ~Background() { cancel(); }
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    // Cancels what runs. `work` looks at cancelled(); `ended` gets what it threw, on the same
    // thread, also where it was cancelled.
    void start(std::function<void()> work, std::function<void(const std::optional<Error>&)> ended);
    void cancel();  // and waits
    // True also for work that is being replaced: its results are not wanted any more.
    const std::atomic<bool>& cancelled() const { return cancelled_; }

private:
    std::atomic<bool> cancelled_ = false;
    std::thread thread_;
};

// The same simulation with a device of its own, which leaves the others alone: one thread of the
// processor.
SimulationOptions in_background(SimulationOptions options);

}  // namespace hindcast::session
