// The loss around the parameters, computed in the background: a thread of its own with a simulation
// and a device of its own, so that neither the view nor the optimiser waits.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "app/session/desk.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

class Scanner {
public:
    explicit Scanner(Desk& desk) : desk_(desk) {}
    ~Scanner() { cancel(); }
    Scanner(const Scanner&) = delete;
    Scanner& operator=(const Scanner&) = delete;

    // Around `centre` of all parameters. One scan at a time: an older one is cancelled.
    void start(const Scan& what, const Scene& scene, const Registry& registry,
               const SimulationOptions& options, std::vector<double> centre);
    void cancel();

private:
    struct Job;
    void run(Job& job);
    void publish(const Landscape& landscape);

    Desk& desk_;
    std::atomic<bool> cancelled_ = false;
    std::thread thread_;
};

}  // namespace hindcast::session
