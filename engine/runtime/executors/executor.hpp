// Executor: carries out what a timeline says (schedule/timeline.hpp), in one of several ways with
// the same bits: launch by launch, as one compiled function, or as graphs of a CUDA device.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/runtime/schedule/rollout_kinds.hpp"
#include "engine/runtime/schedule/timeline.hpp"

namespace hindcast {

// Steps from ... to - 1 without the events around them (back: to - 1 ... from), or a whole run.
struct Stretch {
    RunKind kind = RunKind::forward;
    std::int64_t from = 0, to = 0;
    std::int64_t window = 0;                          // the step that histories begin with
    const std::vector<RolloutSeed>* seeds = nullptr;  // of a whole run backwards

    std::int64_t steps() const { return to - from; }
};

// A way of running that may be refused, or may turn out slower.
class Executor {
public:
    virtual ~Executor() = default;
    // Does the work and returns true; or calls launches(), which does it launch by launch, and
    // returns false. Throws Error where DeviceOptions::whole_program is `always` and it cannot.
    virtual bool run(const Stretch& stretch, const std::function<void()>& launches) = 0;
    // "one function (1.2 us against 5.3 us launch by launch)", "one graph of 12 nodes", or why not.
    virtual std::string report(RunKind kind) const = 0;
};

}  // namespace hindcast
