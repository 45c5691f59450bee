// StepFunctions: the steps of a small roll-out compiled into functions over any range of steps
// (backend/cpu/program/program.hpp), for runs that cannot be one function (whole_program.hpp):
// those that recompute steps, and those with a horizon. The same bits as launch by launch.
//
// `automatic` measures: after a few ranges launch by launch a kind that can be compiled is, and
// whichever way has been faster is kept, by the time of a step.
#pragma once

#include <array>
#include <string>

#include "engine/runtime/compiled/program_writer.hpp"

namespace hindcast {

class StepFunctions {
public:
    // forward: all that a step does; again: what recomputing steps takes (Call::recomputed);
    // recording: histories are filled as well.
    enum Kind { forward, recording, again, recording_again, back };
    static constexpr int kinds = 5;
    static bool records(Kind kind) { return kind == recording || kind == recording_again; }
    static bool repeats(Kind kind) { return kind == again || kind == recording_again; }

    StepFunctions(Schedule& schedule, const Array& counter, DeviceOptions device);

    // Runs the steps from .. to-1, back: to-1 .. from, without the events around them, or returns
    // false: launch by launch, please. `window`: the step that the histories begin with. Under
    // `always` throws Error if the steps cannot be compiled.
    bool run(Kind kind, std::int64_t from, std::int64_t to, std::int64_t window);
    // Tells how long a range took launch by launch.
    bool wants_time(Kind kind) const { return way(kind).wants_time(); }
    void took(Kind kind, std::int64_t steps, double seconds) {
        way(kind).took(seconds / static_cast<double>(steps));
    }
    // For who measures first. Whether a kind that takes so long launch by launch, in seconds a
    // step, is worth compiling and can be: then it runs as a function until judged by how long that
    // takes.
    bool offer(Kind kind, double launches);
    void judge(Kind kind, double function);
    // What all functions will work with besides histories, in bytes; 0 if they cannot be compiled.
    std::int64_t predicted_bytes();
    // "one function a step, 0.2 us against 3.1 us launch by launch" or why not.
    std::string report(Kind kind) const { return way(kind).report(); }

private:
    // Where every call is recomputed, a step that is run again does what it did before.
    Kind same_as(Kind kind) const;
    ExecutionChoice& way(Kind kind) { return ways_[same_as(kind)]; }
    const ExecutionChoice& way(Kind kind) const { return ways_[same_as(kind)]; }
    std::string refuse(Kind kind) const;
    backend::ProgramText text_of(Kind kind);
    void compile(Kind kind);
    void call(Kind kind, std::int64_t from, std::int64_t to, std::int64_t window);

    Schedule& schedule_;
    Array counter_;
    DeviceOptions device_;
    ProgramWriter writer_;
    bool all_recomputed_ = true;
    std::array<ExecutionChoice, kinds> ways_;
};

}  // namespace hindcast
