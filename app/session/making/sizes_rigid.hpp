// The sizes of rigid shapes that are dragged in the picture; internal to this folder.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/making/sizes.hpp"

namespace hindcast::session {

struct RigidSize {
    SizeHandle handle;
    // The object as it is then, and the size in words.
    std::function<std::pair<document::Node, std::string>(double by)> drag;
};

// The sizes of each shape of an articulated body that is written as shapes: lengths and diameters
// at both ends, radii. If the body's qpos is written, it places the free shapes, and a drag changes
// it too. None for other objects.
std::vector<RigidSize> rigid_sizes(const document::Node& object);

}  // namespace hindcast::session
