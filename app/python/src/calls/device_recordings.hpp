// DeviceRecordings: calls of XLA's programs on a CUDA device: work on the streams that XLA gives,
// straight from and to the memory of the device. A call allocates nothing and waits for nothing, so
// that XLA may capture it into a graph. The graph works with the recording's arrays, which
// therefore belong to the program alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "engine/backend/cuda/context.hpp"
#include "engine/runtime/device/device.hpp"

namespace hindcast::python {

class DeviceRecording {
public:
    // Puts the work of a call on the stream that the context follows. Addresses are those of the
    // device.
    using Put = std::function<void(const std::byte* const* operands, std::byte* const* results)>;
    struct Sizes {
        std::size_t operands = 0, results = 0;  // how many
        std::size_t bytes = 0;                  // of the largest
    };
    // Makes the code and all memory, by a rehearsal: nothing runs. Throws Error.
    DeviceRecording(std::shared_ptr<Device> device, Put put, const Sizes& sizes);
    ~DeviceRecording();
    DeviceRecording(const DeviceRecording&) = delete;
    DeviceRecording& operator=(const DeviceRecording&) = delete;

    // True if calls neither wait for the device nor can fail there.
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
    bool capture(const backend::cuda::Stream& stream, const Sizes& sizes, std::byte* scratch) const;

    std::shared_ptr<Device> device_;
    Put put_;
    bool can_be_captured_ = false;
    std::mutex mutex_;
    std::shared_ptr<backend::cuda::Stream> last_;  // that calls came on
};

// Recordings of one kind of call, ahead of the programs that will have them.
class PreparedRecordings {
public:
    using Make = std::function<std::unique_ptr<DeviceRecording>(const std::shared_ptr<Device>&)>;
    // True: calls on that device can be captured into a graph, since they neither look at indices
    // nor can fail. Throws what `make` throws.
    bool prepare(const std::shared_ptr<Device>& device, const Make& make);
    // For a program: one for each device that was prepared, by the device's number.
    std::map<int, std::unique_ptr<DeviceRecording>> take(const Make& make);
    void forget_ready();  // gives their memory back

private:
    struct OnDevice {
        std::shared_ptr<Device> device;
        bool can_be_captured = false;
        std::unique_ptr<DeviceRecording> ready;  // for the next program
    };
    std::mutex mutex_;
    std::map<int, OnDevice> devices_;
};

// Those of a program.
class ProgramRecordings {
public:
    void take(std::map<int, std::unique_ptr<DeviceRecording>> prepared) {
        recordings_ = std::move(prepared);
    }
    // The recording on a device; made now if the device was not there when the program was made.
    // Throws Error if `stream` is captured then.
    DeviceRecording& on(int ordinal, backend::cuda::StreamHandle stream,
                        const PreparedRecordings::Make& make);

private:
    std::mutex mutex_;
    std::map<int, std::unique_ptr<DeviceRecording>> recordings_;
};

}  // namespace hindcast::python
