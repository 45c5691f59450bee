// Shots: a run in pieces, each from a state of its own (multiple shooting).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/model.hpp"
#include "kernels/articulated/tree/tree.hpp"

namespace hindcast {

void register_shots(Registry& registry);

namespace shots {

// Data that the controller of this type shares with objectives.
struct Shots {
    articulated::TreePointer tree;
    std::vector<double> times;  // s, of the starts of all shots; the first is 0
    const model::Quantity *qpos = nullptr, *qvel = nullptr;  // shot by shot
    // The state that the run reaches at the start of each shot but the first, minus the state that
    // it is set to: degree of freedom by degree of freedom, first of positions (as rotation vectors
    // where they are quaternions), then of velocities. Made when an objective asks for it.
    std::optional<Array> jumps;

    std::int64_t jump_count() const { return static_cast<std::int64_t>(times.size()) - 1; }
};

// In Model::shared().
struct AllShots {
    std::map<std::string, Shots> by_name;
};

void register_continuity(Registry& registry);

}  // namespace shots
}  // namespace hindcast
