// Results of the gradient probe (threads/tools/gradient_probe.hpp): gradients with respect to the quantities
// that are not optimized.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "app/session/frames/scene_info.hpp"
#include "app/session/frames/trajectory.hpp"

namespace hindcast::session {

struct ProbedGradients {
    SceneInfoPointer scene;  // with `base` and `parameters`: where the gradients were taken
    std::shared_ptr<const std::vector<SharedValues>> base;
    SharedValues parameters;
    bool done = false;
    // By index of the scene's quantities, rows x components. Optimized quantities are left out, and
    // those with respect to which the loss cannot be differentiated.
    std::map<std::size_t, std::vector<double>> gradients;

    bool is_of(const Trajectory& trajectory) const;
};

}  // namespace hindcast::session
