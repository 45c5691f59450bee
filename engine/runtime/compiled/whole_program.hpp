// WholeProgram: a small roll-out compiled into one function per direction
// (backend/cpu/program/program.hpp), in place of its launches one by one; the same bits.
//
// `automatic` measures: after a few runs launch by launch a program that can be compiled is, and
// whichever way has been faster is kept. Only programs of which everything is stored: others have
// functions of their steps (step_functions.hpp). Runs with a watch, and devices that check or
// interpret, go launch by launch.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "engine/runtime/compiled/program_writer.hpp"

namespace hindcast {

class WholeProgram {
public:
    enum Kind { forward, forward_keeping, backward };

    // `checked`: every so many steps (0: never) and after the last one forward runs look for
    // numbers in these arrays that are not finite.
    WholeProgram(Schedule& schedule, Array counter, DeviceOptions device,
                 std::vector<Array> checked, std::int64_t every)
        : schedule_(schedule),
          counter_(std::move(counter)),
          device_(device),
          writer_(schedule, counter_),
          checked_(std::move(checked)),
          every_(every) {}

    // A function of more would take long to compile.
    static constexpr std::size_t most_events = 16;

    // Runs all of one kind as a function, or returns false: launch by launch, please. That is also
    // the answer where a number was not finite: only single steps can stop there.
    // Under `always` throws Error if the program cannot be compiled.
    bool run(Kind kind);
    // Tells how long a run launch by launch took, in seconds.
    bool wants_time(Kind kind) const { return ways_[kind].wants_time(); }
    void took(Kind kind, double seconds) { ways_[kind].took(seconds); }
    // What the function of this kind will work with besides histories, in bytes; 0 if it cannot be
    // compiled.
    std::int64_t predicted_bytes(Kind kind);
    std::int64_t bytes(Kind kind) const;  // now; 0 if it is not compiled
    // What it runs, for who runs it otherwise (an ensemble). The histories must be allocated.
    // Throws Error where only launches will do.
    backend::ProgramText text(Kind kind);
    // "one function (1.2 us against 5.3 us launch by launch)", or why not.
    std::string report(Kind kind) const { return ways_[kind].report(); }

private:
    std::string refuse(Kind kind) const;
    void compile(Kind kind);
    backend::ProgramText text_of(Kind kind);
    backend::ProgramText forward_text(bool keep);
    backend::ProgramText backward_text();
    bool call(Kind kind);

    Schedule& schedule_;
    Array counter_;
    DeviceOptions device_;
    ProgramWriter writer_;
    std::vector<Array> checked_;
    std::int64_t every_ = 0;
    std::int32_t not_finite_ = 0;
    std::array<ExecutionChoice, 3> ways_;
};

}  // namespace hindcast
