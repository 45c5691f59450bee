// Timeline: a roll-out lowered to blocks of items, which executors carry out (executors/).
//
//   run      a launch: forwards, forwards once more on the way back, or its adjoint
//   copy     an array into its slot of a history
//   lines    the lines of an array that are not zero into their slot of a sparse history
//   clear    an array to zeros
//   count    the step counter = t + offset
//   check    whether the numbers of an array are finite
//
// The prologue, a step and every event program have one block for each kind of run. Loops over
// blocks make a whole run:
//
//   forwards   clear; prologue; event 0; { step; event } ...       backwards   in reverse
//
// What is kept, what is run once more and which launches are joined was decided before, by the
// passes of make_schedule() (schedule.hpp); describe() shows the outcome.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/runtime/schedule/schedule.hpp"

namespace hindcast {

// forward: all that a program does; recording: histories are filled as well; again: only what
// recomputing steps takes (Call::recomputed); recording_again: both; back: the adjoints.
enum class RunKind : std::uint8_t { forward, recording, again, recording_again, back };
inline constexpr std::size_t run_kinds = 5;
inline bool records(RunKind kind) {
    return kind == RunKind::recording || kind == RunKind::recording_again;
}
inline bool repeats(RunKind kind) {
    return kind == RunKind::again || kind == RunKind::recording_again;
}

struct RunItem {
    enum class Way : std::uint8_t { forward, again, back };
    Call* call = nullptr;
    Way way = Way::forward;

    const Launch::Replay& replay() const {
        return way == Way::back ? call->backward : call->forward;
    }
    // Places where its parameters find old values.
    std::span<const Restore> restores() const {
        if (way == Way::forward) return {};
        return way == Way::back ? call->restores : call->restores_again;
    }
};
struct CopyItem {
    History* history = nullptr;
};
struct LinesItem {
    SparseHistory* history = nullptr;
};
struct ClearItem {
    const Array* array = nullptr;
};
struct CountItem {
    std::int64_t offset = 0;
};
struct CheckItem {  // where t + offset divides by `every`
    const Array* array = nullptr;
    std::int32_t offset = 0, every = 1;
};
using TimelineItem = std::variant<RunItem, CopyItem, LinesItem, ClearItem, CountItem, CheckItem>;

using Block = std::vector<TimelineItem>;

// A block for t = begin ... end - 1 or, where end < begin, t = begin - 1 ... end.
struct BlockLoop {
    Block block;
    std::int64_t begin = 0, end = 1;
    const Schedule::Event* event = nullptr;  // whose slots it uses
};

class Timeline {
public:
    // `counter`: of steps, or empty.
    Timeline(Schedule& schedule, Array counter);

    // Whole runs look for numbers in these arrays that are not finite every so many steps (0:
    // never), and after the last one.
    void check_finite(std::vector<Array> arrays, std::int64_t every) {
        checked_ = std::move(arrays);
        every_ = every;
    }

    // If every call is recomputed, a step that is run again does what it did before.
    RunKind same_as(RunKind kind) const;

    Schedule& schedule() const { return schedule_; }
    const Array& counter() const { return counter_; }

    // Made when they are first asked for.
    const Block& prologue(RunKind kind) const;
    const Block& step(RunKind kind) const;
    const Block& event(EventProgram& program, RunKind kind) const;
    // A whole run: forward, recording or back.
    std::vector<BlockLoop> run(RunKind kind) const;

    // The items of some calls, without the count.
    static Block items_of(std::span<Call> calls, RunKind kind);
    // Those that run once more before the adjoints of these calls do.
    static Block made_again(std::span<Call> calls);

    // One line for each item of each block, forwards with histories and backwards.
    std::string describe() const;

private:
    using Blocks = std::array<std::optional<Block>, run_kinds>;
    const Block& made(Blocks& blocks, Calls& calls, RunKind kind) const;
    void append_checks(Block& block, std::int64_t offset, std::int64_t every) const;

    Schedule& schedule_;
    Array counter_;
    std::vector<Array> checked_;
    std::int64_t every_ = 0;
    bool all_recomputed_ = true;
    mutable Blocks prologue_, step_;
    mutable std::map<const EventProgram*, Blocks> events_;
};

// One line for each item.
std::string describe(const Block& block);

}  // namespace hindcast
