// NVIDIA's NVRTC, not that in software: the machine's, or the one that HINDCAST_TEST_NVRTC names
// (tests/run sets it where the machine has none).
#pragma once

#include <cstdlib>
#include <string>

#include "engine/backend/cuda/nvrtc.hpp"

namespace hindcast::test {

inline const backend::Nvrtc& system_nvrtc() {
    static const backend::Nvrtc instance([] {
        const char* const named = std::getenv("HINDCAST_TEST_NVRTC");
        return std::string(named != nullptr ? named : "");
    }());
    return instance;
}

}  // namespace hindcast::test
