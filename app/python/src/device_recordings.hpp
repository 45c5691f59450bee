// A recording of a kernel function on a CUDA device, for one program of XLA: its calls go to the
// streams that XLA gives, straight from and to the memory of the device. Nothing is made or waited
// for in a call, so that XLA may capture it into a graph. That works with the recording's arrays,
// which therefore belong to the program alone.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "app/python/src/kernel_functions.hpp"
#include "engine/backend/cuda_context.hpp"

namespace hindcast::python {

class DeviceRecording {
public:
    // Makes the code and all memory, by a rehearsal: nothing runs. Throws Error.
    DeviceRecording(const KernelFunction& function, KernelFunction::Kind kind,
                    std::shared_ptr<Device> device);
    ~DeviceRecording();
    DeviceRecording(const DeviceRecording&) = delete;
    DeviceRecording& operator=(const DeviceRecording&) = delete;

    // Whether calls neither wait for the device nor can fail there.
    bool can_be_captured() const { return can_be_captured_; }

    // Calls on a stream of XLA's, by one thread at a time. Addresses are those of the device.
    class Call {
    public:
        // `stream`: a CUstream.
        Call(DeviceRecording& recording, std::uintptr_t stream);
        void run(const std::byte* const* operands, std::byte* const* results) const;
        void finish() const;  // raises what the kernels have failed with, if they can

    private:
        DeviceRecording& recording_;
        std::unique_lock<std::mutex> lock_;
        std::shared_ptr<backend::cuda::Stream> stream_;
        backend::cuda::Context::Following following_;
    };

private:
    std::shared_ptr<backend::cuda::Stream> stream_of(std::uintptr_t handle);
    bool capture(const backend::cuda::Stream& stream, std::byte* scratch) const;

    const KernelFunction& function_;
    KernelFunction::Kind kind_;
    std::shared_ptr<Device> device_;
    std::unique_ptr<KernelFunction::Recording> recording_;
    bool can_be_captured_ = false;
    std::mutex mutex_;
    std::shared_ptr<backend::cuda::Stream> last_;  // that calls came on
};

}  // namespace hindcast::python
