// The ways to run work that was noted as a CUDA graph.
#pragma once

#include <cstdint>

namespace hindcast::backend {

// Choice of running it as one kernel of a single block (block.hpp), with the same bits.
enum class SingleBlockUse : std::uint8_t { automatic, always, never };

}  // namespace hindcast::backend
