#include "engine/runtime/launch/launch_text.hpp"

#include "engine/backend/text/kernel_text.hpp"

namespace hindcast {

namespace {

std::string text_of(const ir::Kernel& kernel, const Launch& launch, backend::KernelText what) {
    const DeviceOptions& options = launch.device()->options();
    return backend::kernel_text(kernel, what, {options.width, options.checked});
}

}  // namespace

std::string launch_text(const Launch::Replay& replay, backend::KernelText what) {
    return text_of(replay.kernel(), replay.launch(), what);
}

std::string launch_text(const Launch& launch, Direction direction, backend::KernelText what) {
    if (direction == Direction::forward)  // without binding anything
        return text_of(launch.kernel(), launch, what);
    return launch_text(launch.replay(direction), what);
}

}  // namespace hindcast
