#include "engine/runtime/stream.hpp"

#include "engine/backend/cuda_context.hpp"
#include "engine/base/error.hpp"

namespace hindcast {

bool Event::done() const { return !cuda_ || cuda_->done(); }

Stream::Stream(std::shared_ptr<Device> device) : device_(std::move(device)) {
    if (!device_) throw Error("a stream needs a device");
    if (device_->cuda()) cuda_ = std::make_shared<backend::cuda::Stream>(device_->cuda());
}

Event Stream::record() const {
    Event event;
    if (cuda_)
        event.cuda_ = std::make_shared<backend::cuda::Event>(cuda_->context(), cuda_->handle());
    return event;
}

void Stream::wait(const Event& event) const {
    if (cuda_ && event.cuda_) event.cuda_->hold_back(cuda_->handle());
}

void Stream::synchronize() const { device_->synchronize(); }

}  // namespace hindcast
