#include "app/session/background_task.hpp"

#include <memory>
#include <utility>

namespace hindcast::session {

void BackgroundTask::start(std::function<void()> work,
                           std::function<void(const std::optional<Error>&)> ended) {
    cancel();
    thread_ = std::thread([work = std::move(work), ended = std::move(ended)] {
        std::optional<Error> failure;
        try {
            work();
        } catch (const Error& error) {
            failure = error;
        } catch (const std::exception& error) {  // of the standard cache: memory, threads
            failure = Error(std::string("internal: ") + error.what());
        }
        ended(failure);
    });
}

void BackgroundTask::cancel() {
    canceled_ = true;
    if (thread_.joinable()) thread_.join();
    canceled_ = false;
}

SimulationOptions in_background(SimulationOptions options) {
    DeviceOptions device = options.device->options();
    if (device.kind == DeviceKind::cuda) device = {};
    device.threads = 1;
    options.device = std::make_shared<Device>(device);
    return options;
}

SimulationOptions in_background(ir::Precision precision) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{.threads = 1});
    options.precision = precision;
    return options;
}

}  // namespace hindcast::session
