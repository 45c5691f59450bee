// Why a step cannot be made, in the words of the module that knows: in place of a kernel's error
// about an index. A simulation asks after a launch has failed, with the state as it was before that
// step.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/model/model.hpp"

namespace hindcast::model {

// Model::shared() holds it.
struct StepFaults {
    // Each gives the error if the state is one that it cannot step from.
    std::vector<std::function<std::optional<Error>(Model& model)>> reasons;
};

}  // namespace hindcast::model
