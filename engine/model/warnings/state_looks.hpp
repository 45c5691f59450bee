// Looks at the state while a simulation runs, for warnings: output only.
//
// A look comes after every so many steps and at the end of a run. It may read any array; what it
// finds it adds to the model's warnings.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/model/warnings/warning.hpp"

namespace hindcast::model {

struct Look {
    std::int64_t step = 0;  // whole steps that were made
    double time = 0;        // s
    Warnings& warnings;
};

using StateLooks = std::vector<std::function<void(const Look&)>>;

}  // namespace hindcast::model
