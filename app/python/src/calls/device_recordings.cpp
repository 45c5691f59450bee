#include "app/python/src/calls/device_recordings.hpp"

#include <string>
#include <vector>

#include "app/python/src/arrays/devices.hpp"
#include "app/python/src/calls/jax_cuda_streams.hpp"
#include "engine/base/error.hpp"

namespace hindcast::python {

namespace cuda = backend::cuda;

DeviceRecording::DeviceRecording(std::shared_ptr<Device> device, Put put, const Sizes& sizes)
    : device_(std::move(device)), put_(std::move(put)) {
    const std::shared_ptr<cuda::Context>& context = device_->cuda();
    const Array scratch = Array::on(context, ir::Type::f64,
                                    {static_cast<std::int64_t>(sizes.bytes / sizeof(double) + 1)});
    auto* const bytes = static_cast<std::byte*>(scratch.device_data());
    const auto own = std::make_shared<cuda::Stream>(context);
    const cuda::Stream stream(context, own->handle(), own);  // as if it were another library's
    const cuda::Context::Lock held = context->lock();
    context->synchronize();
    {
        const cuda::Context::Rehearsal rehearsal(*context);
        if (!capture(stream, sizes, bytes)) return;  // calls say why
    }
    context->synchronize();
    can_be_captured_ = capture(stream, sizes, bytes) && !context->is_unsettled();
    context->synchronize();
}

DeviceRecording::~DeviceRecording() = default;

// Into a graph that goes at once. False: what is needed cannot be had there.
bool DeviceRecording::capture(const cuda::Stream& stream, const Sizes& sizes,
                              std::byte* scratch) const {
    const cuda::Driver& d = cuda::driver();
    if (d.StreamBeginCapture(stream.handle(), cuda::relaxed_capture) != cuda::success) return false;
    bool whole = true;
    try {
        const cuda::Context::Following following(*device_->cuda(), &stream);
        const std::vector<const std::byte*> operands(sizes.operands, scratch);
        const std::vector<std::byte*> results(sizes.results, scratch);
        put_(operands.data(), results.data());
    } catch (const Error&) {
        whole = false;
    }
    cuda::GraphHandle graph = nullptr;
    if (d.StreamEndCapture(stream.handle(), &graph) != cuda::success) return false;
    d.GraphDestroy(graph);
    return whole;
}

// XLA captures on streams that come and go: these are not kept.
std::shared_ptr<cuda::Stream> DeviceRecording::stream_of(std::uintptr_t handle) {
    const auto theirs = reinterpret_cast<cuda::StreamHandle>(handle);  // NOLINT: a handle is one
    if (last_ && last_->handle() == theirs) return last_;
    auto stream = std::make_shared<cuda::Stream>(device_->cuda(), theirs, nullptr);
    if (!device_->cuda()->is_captured(theirs)) last_ = stream;
    return stream;
}

DeviceRecording::Call::Call(DeviceRecording& recording, std::uintptr_t stream)
    : recording_(recording),
      lock_(recording.mutex_),
      stream_(recording.stream_of(stream)),
      following_(*recording.device_->cuda(), stream_.get()) {}

void DeviceRecording::Call::run(const std::byte* const* operands, std::byte* const* results) const {
    recording_.put_(operands, results);
}

void DeviceRecording::Call::finish() const {
    if (!recording_.can_be_captured_) recording_.device_->settle();
}

// ---------------------------------------------------------------- of programs

bool PreparedRecordings::prepare(const std::shared_ptr<Device>& device, const Make& make) {
    const std::lock_guard lock(mutex_);
    OnDevice& on = devices_[device->cuda()->ordinal()];
    if (!on.device) {
        on.ready = make(device);
        on.can_be_captured = on.ready->can_be_captured();
        on.device = device;
    }
    return on.can_be_captured;
}

std::map<int, std::unique_ptr<DeviceRecording>> PreparedRecordings::take(const Make& make) {
    const std::lock_guard lock(mutex_);
    std::map<int, std::unique_ptr<DeviceRecording>> taken;
    for (auto& [ordinal, on] : devices_)
        if (on.device) taken[ordinal] = on.ready ? std::move(on.ready) : make(on.device);
    return taken;
}

void PreparedRecordings::forget_ready() {
    const std::lock_guard lock(mutex_);
    for (auto& [ordinal, on] : devices_) on.ready.reset();
}

DeviceRecording& ProgramRecordings::on(int ordinal, cuda::StreamHandle stream,
                                       const PreparedRecordings::Make& make) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<DeviceRecording>& recording = recordings_[ordinal];
    if (!recording) {
        if (is_captured(stream))
            throw Error("hindcast: a call is captured on CUDA device " + std::to_string(ordinal) +
                        ", which was not there when the program was made");
        recording = make(cuda_device(ordinal));
    }
    return *recording;
}

}  // namespace hindcast::python
