// Numbers of a scene that a built simulation can take over without a new build.
#pragma once

#include <optional>
#include <vector>

#include "engine/sim/simulation.hpp"

namespace hindcast {

// The values of `quantity`, which is one of the simulation's, in a scene that writes `written` in
// the place of the value at its scene_pointer and is otherwise the same; null: nothing is written
// there. Setting and uploading them gives the bits of a simulation built from that scene.
//
// None if only a build can tell: `written` is not a number, a vector or a list of them, also by
// name (but a formula, a file, "initial"), it has another shape, the build used the values for more
// than their array (Model::only_uploaded), or the build would refuse them.
std::optional<std::vector<double>> values_in_place(Simulation& simulation,
                                                   const model::Quantity& quantity,
                                                   const document::Node& written);

}  // namespace hindcast
