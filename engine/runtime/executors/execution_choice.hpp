// ExecutionChoice: one kind of work that can be done by launches or by a function, and which of
// them it is. `automatic` measures: after a few runs launch by launch what can be compiled is, and
// whichever has been faster is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/cpu/program/program.hpp"
#include "engine/runtime/schedule/schedule.hpp"

namespace hindcast {

struct ExecutionChoice {
    enum class Choice : std::uint8_t { open, function, launches };

    Choice choice = Choice::open;
    int launched = 0, called = 0;               // runs that were timed
    double launches = 1e300, function = 1e300;  // least seconds
    std::unique_ptr<backend::CpuProgram> program;
    std::vector<Launch::Replay> replays;  // that it runs, each once
    Premises premises;
    std::string refusal;

    // Runs of either kind, before the other one is tried or the faster one is kept.
    static constexpr int trials = 3;
    static constexpr const char* too_long = "its launches are long";
    static double now();  // seconds

    bool wants_time() const { return launched < trials; }
    void took(double seconds);         // launch by launch
    void called_once(double seconds);  // as a function
    // True if so many launches, at the time measured, take too long for compiling to be worth it.
    bool is_long(std::int64_t launch_count) const;
    // "one function (1.2 us against 5.3 us launch by launch)", or why not.
    std::string report() const;
};

}  // namespace hindcast
