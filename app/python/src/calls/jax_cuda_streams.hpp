// Streams that XLA gives to handlers on CUDA.
#pragma once

#include <string>

#include "engine/backend/cuda/driver.hpp"
#include "engine/base/error.hpp"

namespace hindcast::python {

// Throws Error for what CUDA has refused.
inline void check_cuda(int result, const char* asked) {
    if (result != backend::cuda::success)
        throw Error(std::string("hindcast: CUDA was asked for ") + asked + ": " +
                    backend::cuda::driver().words_for(result));
}

// True while XLA captures it into a command buffer.
inline bool is_captured(backend::cuda::StreamHandle stream) {
    int captured = 0;
    check_cuda(backend::cuda::driver().StreamIsCapturing(stream, &captured),
               "the state of a stream");
    return captured != 0;
}

}  // namespace hindcast::python
