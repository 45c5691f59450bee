// The gradient of the loss with respect to every quantity that could be optimised but is not.
// Computed in the background at the parameters shown, while the runner has nothing else to do. Like
// a loss scan it has its own thread, simulation and device.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "app/session/frames/scene_info.hpp"
#include "app/session/frames/trajectory.hpp"
#include "app/session/threads/background_task.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

struct SharedState;

struct ProbedGradients {
    SceneInfoPointer scene;  // with `base` and `parameters`: where the gradients were taken
    std::shared_ptr<const std::vector<SharedValues>> base;
    SharedValues parameters;
    bool done = false;
    // By index of the scene's quantities, rows x components. Optimised quantities are left out, and
    // those with respect to which the loss cannot be differentiated.
    std::map<std::size_t, std::vector<double>> gradients;

    bool is_of(const Trajectory& trajectory) const;
};

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
