// The loss around the parameters, computed in the background with its own thread, simulation and
// device, so that neither the view nor the optimizer waits.
#pragma once

#include <vector>

#include "app/session/background_task.hpp"
#include "app/session/threads/shared/shared_state.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

class LossScan {
public:
    explicit LossScan(SharedState& shared) : shared_(shared) {}

    // A scan around `center`, the values of all parameters. Cancels an older scan.
    void start(const Scan& what, const Scene& scene, const Registry& registry,
               const SimulationOptions& options, std::vector<double> center);
    void cancel() { background_.cancel(); }

private:
    struct Job;
    void run(Job& job);
    // False if an edit or another scene has changed the loss since the scan began.
    bool publish(const Job& job, const Landscape& landscape);

    SharedState& shared_;
    BackgroundTask background_;
};

}  // namespace hindcast::session
