// The gradient of the loss in everything that could be optimised, beside what is: computed in the
// background, for the parameters that are shown, while nothing else is to be done. On a thread of
// its own with a simulation and a device of its own, as scans are.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "app/session/frames/trajectory.hpp"
#include "app/session/frames/world.hpp"
#include "app/session/threads/background.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

struct Desk;

struct Probe {
    WorldPointer world;  // with `base` and `parameters`: the point that it is at
    std::shared_ptr<const std::vector<Numbers>> base;
    Numbers parameters;
    bool done = false;
    // By quantity of the world, rows x components; none of those that are optimised, nor of those
    // that the loss could not be differentiated by.
    std::map<std::size_t, std::vector<double>> gradients;

    bool is_of(const Trajectory& trajectory) const;
};

class GradientProbe {
public:
    explicit GradientProbe(Desk& desk) : desk_(desk) {}

    // Leaves Desk::probe, done or (if it failed, with a warning) empty. An older one is cancelled.
    // `document`: what at.base was read from.
    void start(const Trajectory& at, const document::Document& document,
               const std::filesystem::path& file, const Registry& registry,
               const SimulationOptions& options);
    void cancel() { background_.cancel(); }

private:
    struct Job;
    void run(Job& job, Probe& probe) const;

    Desk& desk_;
    Background background_;
};

}  // namespace hindcast::session
