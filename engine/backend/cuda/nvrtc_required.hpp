// That NVRTC is there, where nothing can go on without it.
#pragma once

#include "engine/backend/cuda/nvrtc.hpp"

namespace hindcast::backend {

// Throws Error, with what to install, where it is not available.
void require(const NvrtcInfo& nvrtc);

}  // namespace hindcast::backend
