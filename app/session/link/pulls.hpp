// Pulls with the mouse.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/exchange/vec3.hpp"
#include "engine/document/document.hpp"

namespace hindcast::session {

// A pull with the mouse in progress.
struct MousePullInfo {
    std::uint64_t number = 0;     // of the Grab
    bool live = false;            // the force acts; before that only `number` is set
    std::int64_t start_step = 0;  // whole steps
    // m: the grabbed point at the start, the point at the step shown, the mouse.
    render::Vec3 anchor{}, point{}, place{};
};

// A finished pull: the force to write into the scene.
struct ReleasedPull {
    std::uint64_t number = 0;  // of the Grab
    document::Node force;      // of module "pull"
    std::string name;          // of the undo step: "Pull cage point 12"
};

struct PullsSnapshot {
    std::optional<MousePullInfo> current;          // in progress
    std::shared_ptr<const ReleasedPull> released;  // the last finished pull
};

}  // namespace hindcast::session
