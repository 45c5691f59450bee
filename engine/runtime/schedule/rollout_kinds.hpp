// Words of roll-outs that plans and schedules use, too.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/runtime/array/array.hpp"

namespace hindcast {

enum class RolloutMode : std::uint8_t { first, tangent, second, tangent_tangent };

// The frequency with which a value is kept for the adjoints.
enum class KeptHow : std::uint8_t { once, per_step, per_event };

// The gradient that backward() begins with, of one array.
struct RolloutSeed {
    Array of;
    double value = 1;                 // of every element
    std::vector<double> values = {};  // or, if there are any, one for each scalar in C order
    Array from = {};                  // or, if there is one, what it holds: like `of`
};

}  // namespace hindcast
