// The loss around the parameters, computed in the background: a thread of its own with a simulation
// and a device of its own, so that neither the view nor the optimiser waits.
#pragma once

#include <vector>

#include "app/session/threads/background.hpp"
#include "app/session/threads/desk.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

class LossScan {
public:
    explicit LossScan(Desk& desk) : desk_(desk) {}

    // Around `centre` of all parameters. One scan at a time: an older one is cancelled.
    void start(const Scan& what, const Scene& scene, const Registry& registry,
               const SimulationOptions& options, std::vector<double> centre);
    void cancel() { background_.cancel(); }

private:
    struct Job;
    void run(Job& job);
    // False: the loss is another one since, by an edit or another scene.
    bool publish(const Job& job, const Landscape& landscape);

    Desk& desk_;
    Background background_;
};

}  // namespace hindcast::session
