// The origin of a number that is not finite: step, launch, array, element, and operation.
//
// The roll-out is run again step by step until an array holds such a value, then that step launch
// by launch, then the item that stored it operation by operation on the interpreter. For a gradient
// the same happens with the derivatives in the direction of the parameter whose entry is not
// finite. Slow, and only made when a run has failed.
#pragma once

#include <span>
#include <string>

#include "engine/sim/simulation.hpp"

namespace hindcast {

// The name of the model's array with this memory, or "".
std::string name_of(const model::Model& model, const Array& array);

// After a run that diverged or whose loss is not finite: one sentence that says why, as far as it can be found.
// Leaves the state as the last step it looked at left it.
std::string explain_loss(Simulation& simulation);

// After a gradient that is not finite while the loss is.
std::string explain_gradient(Simulation& simulation, std::span<const double> gradient);

}  // namespace hindcast
