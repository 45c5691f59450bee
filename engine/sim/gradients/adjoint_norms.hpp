// The growth of adjoints on their way back through a roll-out (Rollout::adjoint_norms), in words
// and as a file. A factor above one per step over many steps makes a gradient explode, one below
// makes it vanish.
#pragma once

#include <filesystem>
#include <string>

#include "engine/sim/simulation.hpp"

namespace hindcast {

// Norms at both ends, growth per step, and where an adjoint (of the array of that name) was first
// not finite. Lines; "" if there are no steps.
std::string describe(const Rollout::AdjointNorms& norms, const std::string& culprit);

// One row per step boundary: steps done, norm of the adjoint of the state there, and how much it
// grew over that of the next boundary. Throws Error.
void write_csv(const std::filesystem::path& file, const Rollout::AdjointNorms& norms);

}  // namespace hindcast
