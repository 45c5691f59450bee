// The kernels of launches as text for people: the IR, the code for the CPU, the CUDA C++.
//
//     launch_text(pull, Direction::adjoint, backend::KernelText::ir)
#pragma once

#include <cstdint>
#include <string>

#include "engine/runtime/launch/launch.hpp"

namespace hindcast {

namespace backend {
enum class KernelText : std::uint8_t;  // kernel_text.hpp
}

// The kernel that the replay runs, for as many lanes as its launch's device has. Throws Error as
// backend::kernel_text() does.
std::string launch_text(const Launch::Replay& replay, backend::KernelText what);
// The same of one direction of a launch, which is made (Launch::replay) if it was not there. Throws
// Error for a derivative of a launch that has none.
std::string launch_text(const Launch& launch, Direction direction, backend::KernelText what);

}  // namespace hindcast
