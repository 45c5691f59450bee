// Streams order work, events cross them.
//
// A launch runs on the stream that it was moved to (Launch::move_to), after everything that was put
// on that stream before. On the interpreter and the CPU a stream is the calling thread: run()
// returns when the launch is done, so the work of all streams happens in the order of the calls, no
// event is ever pending, and faults are raised by run() itself. Streams do not make CPU launches
// run at the same time; a launch uses all threads of its device.
//
// A stream may be one that another library has made and works with (the handle of its CUStream):
// launches on it are in order with that library's work, without events. While its owner captures it
// into a graph, launches that have run once before become nodes of that graph: they work with what
// they are bound to now, and have to live as long as it.
//
// On a CUDA device run() puts the launch on its stream, which runs on its own: only events order
// launches on different streams. Host operations on an array (reading, assigning, clearing) come
// after everything that was put on any stream of the device before. Faults are raised when the host
// waits: by synchronize() or by reading an array.
#pragma once

#include <memory>

#include "engine/runtime/device/device.hpp"

namespace hindcast {

namespace backend::cuda {
class Event;
class Stream;
}  // namespace backend::cuda

// A point in a stream's order of work.
class Event {
public:
    bool done() const;

private:
    friend class Stream;
    std::shared_ptr<const backend::cuda::Event> cuda_;
};

class Stream {
public:
    explicit Stream(std::shared_ptr<Device> device);
    // One of a CUDA device that another library has made, and `alive` keeps; 1 is the legacy default
    // stream, 2 that of each thread. Throws Error for another device.
    static Stream over(std::shared_ptr<Device> device, std::uintptr_t handle,
                       std::shared_ptr<void> alive = {});
    // The same stream for another Device of the same CUDA device. Throws Error for another one.
    Stream of(const std::shared_ptr<Device>& device) const;
    // The driver's handle. Throws Error where streams are the calling thread.
    std::uintptr_t handle() const;
    // True while its owner captures it into a graph.
    bool is_captured() const;
    const std::shared_ptr<Device>& device() const { return device_; }

    Event record() const;                 // done when all work put on the stream so far is
    void wait(const Event& event) const;  // work put on the stream from now on runs after it
    void synchronize() const;  // returns when all work put on the stream is done; raises faults

    // The stream of the device; nullptr if streams are the calling thread.
    const std::shared_ptr<const backend::cuda::Stream>& cuda() const { return cuda_; }

private:
    Stream() = default;
    std::shared_ptr<Device> device_;
    std::shared_ptr<const backend::cuda::Stream> cuda_;
};

}  // namespace hindcast
