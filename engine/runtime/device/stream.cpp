#include "engine/runtime/device/stream.hpp"

#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"

namespace hindcast {

bool Event::done() const { return !cuda_ || cuda_->done(); }

Stream::Stream(std::shared_ptr<Device> device) : device_(std::move(device)) {
    if (!device_) throw Error("a stream needs a device");
    if (device_->cuda()) cuda_ = std::make_shared<backend::cuda::Stream>(device_->cuda());
}

Stream Stream::over(std::shared_ptr<Device> device, std::uintptr_t handle,
                    std::shared_ptr<void> alive) {
    if (!device) throw Error("a stream needs a device");
    if (!device->cuda())
        throw Error("the device (" + device->describe() + ") has no streams of other libraries")
            .remedy("use a CUDA device");
    if (handle == 0)
        throw Error("the stream 0 may be one of two")
            .remedy("give 1 for the legacy default stream, 2 for that of each thread");
    Stream stream;
    stream.cuda_ = std::make_shared<backend::cuda::Stream>(
        device->cuda(),
        reinterpret_cast<backend::cuda::StreamHandle>(handle),  // NOLINT: a number is what it is
        std::move(alive));
    stream.device_ = std::move(device);
    return stream;
}

Stream Stream::of(const std::shared_ptr<Device>& device) const {
    if (device == device_) return *this;
    if (!device->cuda() || !cuda_ || device->cuda()->ordinal() != device_->cuda()->ordinal())
        throw Error("a stream of the device (" + device_->describe() + ") is none of the device (" +
                    device->describe() + ")")
            .remedy(device->cuda() ? "take a stream of that device"
                                   : "streams are those of CUDA devices");
    return over(device, handle(), std::make_shared<Stream>(*this));
}

std::uintptr_t Stream::handle() const {
    if (!cuda_) throw Error("the device (" + device_->describe() + ") has no streams of its own");
    return reinterpret_cast<std::uintptr_t>(cuda_->handle());
}

bool Stream::is_captured() const {
    return cuda_ && !cuda_->is_own() && device_->cuda()->is_captured(cuda_->handle());
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
