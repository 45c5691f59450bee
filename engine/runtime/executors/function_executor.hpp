// FunctionExecutor: a small roll-out compiled into one function for each kind of run
// (backend/cpu/program/program.hpp), in place of its launches one by one; the same bits.
//
//   over a run     all of it: only where everything is stored
//   over steps     any range of steps: for runs that recompute steps, and those with a horizon
//
// Runs with a watch, and devices that check or interpret, go launch by launch.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/runtime/executors/execution_choice.hpp"
#include "engine/runtime/executors/executor.hpp"
#include "engine/runtime/executors/program_text.hpp"

namespace hindcast {

class FunctionExecutor final : public Executor {
public:
    enum class Over : std::uint8_t { run, steps };

    FunctionExecutor(const Timeline& timeline, Over over, DeviceOptions device);

    // A function of a run with more would take long to compile.
    static constexpr std::size_t most_events = 16;

    // A run in which a number was not finite goes launch by launch, too: only single steps can stop
    // there.
    bool run(const Stretch& stretch, const std::function<void()>& launches) override;
    std::string report(RunKind kind) const override { return choice(kind).report(); }

    // For a caller that measures first. offer() is given the seconds a step takes launch by launch.
    // True if the kind can be compiled and that is worth it: it then runs as a function until
    // judge() is given the seconds that takes.
    bool offer(RunKind kind, double launches);
    void judge(RunKind kind, double function);
    // Memory that the function of a kind, or all functions, will need besides histories, in bytes;
    // 0 if they cannot be compiled.
    std::int64_t predicted_bytes(RunKind kind) const;
    std::int64_t predicted_bytes() const;
    std::int64_t bytes(RunKind kind) const;  // now; 0 if it is not compiled
    // The work of a run, for others to run (an ensemble). Throws Error if only launches can do it.
    backend::ProgramText text(RunKind kind);

private:
    RunKind same_as(RunKind kind) const {
        return over_ == Over::steps ? timeline_.same_as(kind) : kind;
    }
    ExecutionChoice& choice(RunKind kind) {
        return choices_[static_cast<std::size_t>(same_as(kind))];
    }
    const ExecutionChoice& choice(RunKind kind) const {
        return choices_[static_cast<std::size_t>(same_as(kind))];
    }
    std::vector<BlockLoop> loops(RunKind kind) const;
    std::string refuse(const std::vector<BlockLoop>& loops) const;
    backend::ProgramText text_of(const std::vector<BlockLoop>& loops) const;
    std::int64_t launch_count(RunKind kind) const;
    void compile(RunKind kind);
    bool chooses_function(const Stretch& stretch);
    bool call(const Stretch& stretch);

    const Timeline& timeline_;
    Schedule& schedule_;
    Over over_;
    DeviceOptions device_;
    mutable std::int32_t not_finite_ = 0;
    std::array<ExecutionChoice, run_kinds> choices_;
};

}  // namespace hindcast
