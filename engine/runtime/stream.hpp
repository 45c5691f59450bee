// Streams order work, events cross them.
//
// A launch runs on the stream that it was moved to (Launch::move_to), after everything that was put
// on that stream before. On the interpreter and the CPU a stream is the calling thread: run()
// returns when the launch is done, so the work of all streams happens in the order of the calls, no
// event is ever pending, and faults are raised by run() itself. Streams do not make CPU launches
// run at the same time; a launch uses all threads of its device.
//
// Code that records an event where one stream needs what another computes, and waits for it, is
// right here and stays right on devices whose streams run on their own.
#pragma once

#include "engine/base/error.hpp"
#include "engine/runtime/device.hpp"

namespace hindcast {

// A point in a stream's order of work.
class Event {
public:
    bool done() const { return true; }
};

class Stream {
public:
    explicit Stream(std::shared_ptr<Device> device) : device_(std::move(device)) {
        if (!device_) throw Error("a stream needs a device");
    }
    const std::shared_ptr<Device>& device() const { return device_; }

    Event record() const { return {}; }    // done when all work put on the stream so far is
    void wait(const Event& event) const {  // work put on the stream from now on runs after it
        static_cast<void>(event);
    }
    void synchronize() const {}  // returns when all work put on the stream is done; raises faults

private:
    std::shared_ptr<Device> device_;
};

}  // namespace hindcast
