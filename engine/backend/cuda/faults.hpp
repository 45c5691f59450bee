// Faults on a CUDA device, and the launches that errors name for them.
//
// A kernel notes a fault of its own (an index out of range) at a place that its launch watches: the
// error is exact. The driver reports faults of the hardware (an illegal address, a lost device) at
// whatever call comes next, without their source: the error names the work put on streams since the
// host waited last.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/backend/cuda/driver.hpp"
#include "engine/backend/cuda/prelude.hpp"

namespace hindcast::backend {
struct LaunchWords;
}

namespace hindcast::backend::cuda {

class Context;

// Work: names work on a stream in errors: a function and its launch, or a graph's content, each
// once.
struct Work {
    const std::string* function = nullptr;
    std::shared_ptr<const LaunchWords> words = {};
    std::shared_ptr<const std::vector<Work>> graph = {};
    bool operator==(const Work&) const = default;
};

// The work that was put on streams since the last synchronization, for errors.
class WorkLog {
public:
    void note(Work work);
    bool empty() const { return put_ == 0; }
    std::string text() const;
    void clear() { put_ = 0; }
    // The work of a capture, each once.
    void note_captured(Work work);
    std::vector<Work> take_captured() { return std::exchange(captured_, {}); }

private:
    std::vector<Work> recent_;  // the last ones that were not waited for, in a ring
    std::int64_t put_ = 0;
    std::vector<Work> captured_;
};

// Places where kernels note faults (see Fault), which Context::synchronize() looks at. If there are
// several faults, the first launch's is raised. A fault noted at a place that is forgotten is raised
// all the same.
class FaultWatches {
public:
    static constexpr std::size_t most = std::size_t{1} << 14;
    explicit FaultWatches(Context& context) : context_(context) {}
    FaultWatches(const FaultWatches&) = delete;
    FaultWatches& operator=(const FaultWatches&) = delete;
    void use(Fault* places);  // `most` of them, of the host, written by the device

    // `raise` throws the Error.
    using Raise = std::function<void(const Fault&)>;
    int add(Raise raise);
    void forget(int watch) noexcept;
    Address address(int watch) const { return address_of(places_ + watch); }
    void may_come(int watch);  // a launch that may note one was put on a stream
    void launched() { ++launches_; }
    // The watches that may_come() named in the work that a capture notes.
    std::vector<int> take_captured() { return std::exchange(captured_, {}); }
    // True if a launch may have noted a fault that no synchronize() has checked yet.
    bool unsettled() const { return unsettled_; }
    void raise();  // the device has done all work

private:
    struct Watch {
        Raise raise;
        std::int64_t since = 0;  // the number of the first launch since the last look; 0: none
    };
    Context& context_;
    Fault* places_ = nullptr;
    std::vector<Watch> watches_;
    std::vector<int> free_, captured_;
    std::exception_ptr forgotten_;  // a fault whose place was forgotten
    std::int64_t forgotten_since_ = 0;
    std::int64_t launches_ = 0;
    std::atomic<bool> unsettled_ = false;
};

}  // namespace hindcast::backend::cuda
