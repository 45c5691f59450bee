// Scenes as functions that compiled programs call: each has a number, by which they find it.
#pragma once

#include <memory>

#include "engine/sim/scene_function.hpp"

namespace hindcast::python {

// Null: its owner is gone.
std::shared_ptr<SceneFunction> find_scene_function(std::int64_t number);

}  // namespace hindcast::python
