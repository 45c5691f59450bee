// A kernel made ready for a device, with or without checks of its indices.
#pragma once

#include <memory>

#include "engine/backend/executable.hpp"
#include "engine/runtime/device/device.hpp"

namespace hindcast {

// all: an index out of range is an error, which is found as cheaply as it can be known
// (backend/plan/index_check.hpp). The interpreter and checked devices always find it.
enum class IndexChecks : std::uint8_t { none, all };

// `launch`: what errors say of it.
std::shared_ptr<backend::Executable> compile_on(const Device& device, const ir::Kernel& kernel,
                                                const backend::LaunchWords& launch,
                                                IndexChecks checks);

}  // namespace hindcast
