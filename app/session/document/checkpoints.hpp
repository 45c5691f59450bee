// The checkpoints of a scene as the window edits them: each function gives the changed document, to
// become one step of undo. engine/sim/values/checkpoint.hpp defines checkpoints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/document/document.hpp"

namespace hindcast::session {

struct CheckpointInfo {
    std::string name, pointer;   // "/checkpoints/0"
    std::optional<double> loss;  // none: not written
    std::size_t numbers = 0;     // in it; of a file 1
};
// In their order. Empty for a list that does not read.
std::vector<CheckpointInfo> checkpoints_of(const document::Document& scene);

// A new one at the end, or these values in place of those of the one of this name, which keeps its
// place. A loss that is not finite is left out. Throws Error for an empty name.
document::Document with_checkpoint(const document::Document& scene, const std::string& name,
                                   const document::Node& values, double loss);
// Throws Error if there is no such checkpoint, or for a name that is empty or taken.
document::Document with_checkpoint_renamed(const document::Document& scene, const std::string& name,
                                           const std::string& fresh);
document::Document without_checkpoint(const document::Document& scene, const std::string& name);
// `wanted`, or with a number behind it if there is one of that name.
std::string unused_checkpoint_name(const document::Document& scene, const std::string& wanted);

}  // namespace hindcast::session
