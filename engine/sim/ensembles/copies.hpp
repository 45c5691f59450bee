// Copies of a simulation, each on a device of one thread, so that several members of an ensemble
// run at the same time: the outer axis of a batch, for scenes that do not go into SIMD lanes.
#pragma once

#include <memory>
#include <vector>

#include "engine/sim/simulation.hpp"

namespace hindcast {

class Copies {
public:
    // One for each thread of the simulation's device, at most `most`. Their gradients share the
    // simulation's memory limit, less the memory that it keeps now, in equal parts. Throws Error,
    // with the reason, if the copies cannot be made.
    Copies(Simulation& simulation, std::size_t most);

    const std::vector<std::unique_ptr<Simulation>>& list() const { return list_; }
    std::size_t size() const { return list_.size(); }
    // Throws Error if no plan of the gradients fits.
    void plan_gradients();

private:
    std::vector<std::unique_ptr<Simulation>> list_;
};

}  // namespace hindcast
