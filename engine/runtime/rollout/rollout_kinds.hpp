// Words of roll-outs that plans and schedules use, too.
#pragma once

#include <cstdint>

namespace hindcast {

enum class RolloutMode : std::uint8_t { first, tangent, second, tangent_tangent };

// How often a value is kept for the adjoints.
enum class KeptHow : std::uint8_t { once, per_step, per_event };

}  // namespace hindcast
