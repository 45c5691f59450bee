#include "engine/runtime/launch_text.hpp"

namespace hindcast {

std::string launch_text(const Launch::Replay& replay, backend::KernelText what) {
    const DeviceOptions& options = replay.launch().device()->options();
    return backend::kernel_text(replay.kernel(), what, {options.width, options.checked});
}

std::string launch_text(const Launch& launch, Direction direction, backend::KernelText what) {
    if (direction == Direction::forward) {  // without binding anything
        const DeviceOptions& options = launch.device()->options();
        return backend::kernel_text(launch.kernel(), what, {options.width, options.checked});
    }
    return launch_text(launch.replay(direction), what);
}

}  // namespace hindcast
