// The gradient of the loss with respect to every quantity that could be optimized but is not.
// Computed in the background at the parameters shown, while the runner has nothing else to do. Like
// a loss scan it has its own thread, simulation and device.
#pragma once

#include <memory>
#include <vector>

#include "app/session/background_task.hpp"
#include "app/session/frames/probed_gradients.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

struct SharedState;

class GradientProbe {
public:
    explicit GradientProbe(SharedState& shared) : shared_(shared) {}

    // Sets SharedState::probed_gradients, which is empty (with a warning) after a failure. Cancels
    // an older one. `document`: the one that at.base was read from.
    void start(const Trajectory& at, const document::Document& document,
               const std::filesystem::path& file, const Registry& registry,
               const SimulationOptions& options);
    void cancel() { background_.cancel(); }

private:
    struct Job;
    void run(Job& job, ProbedGradients& probe) const;

    SharedState& shared_;
    BackgroundTask background_;
};

}  // namespace hindcast::session
