// Checkpoints: values of the parameters that are kept with the scene under a name.
//
//     "checkpoints": [{"name": "soft", "loss": 0.12,
//                      "values": {"cage.stiffness": 50, "ball.velocity[0].z": 3.5}}]
//
// Each key is a path of numbers that are parameters. Its value is written as the scene writes those
// numbers: one number or vector for all, or one per element; of a path with an element or a
// component the numbers alone. {"file": "x.npy"} holds many. Parameters that no key names keep the
// scene's values. Numbers are written with the fewest digits that read back to the same bits, or as
// .npy of 64 bits, so that nothing is rounded.
#pragma once

#include <string_view>

#include "engine/document/document.hpp"

namespace hindcast {

// Throws Error, with the place, unless "checkpoints" is a list of them with different names.
void check_checkpoints(const document::Node& list);
// The JSON schema (text) of "checkpoints".
const char* checkpoints_schema();

// The checkpoint of this name. Throws Error, with those that there are, if there is none.
const document::Node& checkpoint_named(const document::Document& scene, std::string_view name);

}  // namespace hindcast
