#include "app/python/src/device_recordings.hpp"

#include <algorithm>
#include <vector>

#include "app/python/src/kernel_recordings.hpp"
#include "engine/base/error.hpp"

namespace hindcast::python {

namespace cuda = backend::cuda;

DeviceRecording::DeviceRecording(const KernelFunction& function, KernelFunction::Kind kind,
                                 std::shared_ptr<Device> device)
    : function_(function),
      kind_(kind),
      device_(std::move(device)),
      recording_(function.record(kind, device_)) {
    const std::shared_ptr<cuda::Context>& context = device_->cuda();
    std::size_t most = sizeof(double);
    for (const auto* list : {&function.operands(kind), &function.results(kind)})
        for (const KernelFunction::Outside& outside : *list) most = std::max(most, outside.bytes());
    const Array scratch =
        Array::on(context, ir::Type::f64,
                  {static_cast<std::int64_t>((most + sizeof(double) - 1) / sizeof(double))});
    auto* const bytes = static_cast<std::byte*>(scratch.device_data());
    const auto own = std::make_shared<cuda::Stream>(context);
    const cuda::Stream stream(context, own->handle(), own);  // as if it were another library's
    const cuda::Context::Lock held = context->lock();
    context->synchronize();
    {
        const cuda::Context::Rehearsal rehearsal(*context);
        if (!capture(stream, bytes)) return;  // calls say why
    }
    context->synchronize();
    can_be_captured_ = capture(stream, bytes) && !context->is_unsettled();
    context->synchronize();
}

DeviceRecording::~DeviceRecording() = default;

// Into a graph that goes at once. False: what is needed cannot be had there.
bool DeviceRecording::capture(const cuda::Stream& stream, std::byte* scratch) const {
    const cuda::Driver& d = cuda::driver();
    if (d.StreamBeginCapture(stream.handle(), cuda::relaxed_capture) != cuda::success) return false;
    bool whole = true;
    try {
        const cuda::Context::Following following(*device_->cuda(), &stream);
        const std::vector<const std::byte*> operands(function_.operands(kind_).size(), scratch);
        const std::vector<std::byte*> results(function_.results(kind_).size(), scratch);
        recording_->run(function_, operands.data(), results.data());
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
    recording_.recording_->run(recording_.function_, operands, results);
}

void DeviceRecording::Call::finish() const {
    if (!recording_.can_be_captured_) recording_.device_->settle();
}

}  // namespace hindcast::python
