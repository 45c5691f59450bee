// How work runs that was noted as a CUDA graph.
#pragma once

#include <cstdint>

namespace hindcast::backend {

// Whether it runs as one kernel of a single block instead: never changes a bit (block.hpp).
enum class SingleBlockUse : std::uint8_t { automatic, always, never };

}  // namespace hindcast::backend
