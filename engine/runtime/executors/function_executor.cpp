#include "engine/runtime/executors/function_executor.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "engine/runtime/launch/launch_state.hpp"

namespace hindcast {

using Choice = ExecutionChoice::Choice;

FunctionExecutor::FunctionExecutor(const Timeline& timeline, Over over, DeviceOptions device)
    : timeline_(timeline),
      schedule_(timeline.schedule()),
      over_(over),
      device_(std::move(device)) {}

// ---------------------------------------------------------------- what it compiles

std::vector<BlockLoop> FunctionExecutor::loops(RunKind kind) const {
    if (over_ == Over::run) return timeline_.run(kind);
    const bool back = kind == RunKind::back;
    return {{timeline_.step(kind), back ? 1 : 0, back ? 0 : 1}};
}

std::string FunctionExecutor::refuse(const std::vector<BlockLoop>& loops) const {
    if (over_ == Over::run && schedule_.events.size() > most_events)
        return "there are too many events";
    return needs_launches(loops, schedule_, device_);
}

backend::ProgramText FunctionExecutor::text_of(const std::vector<BlockLoop>& loops) const {
    backend::ProgramText text = program_text(loops, timeline_.counter(), &not_finite_);
    text.ranged = over_ == Over::steps;
    return text;
}

backend::ProgramText FunctionExecutor::text(RunKind kind) {
    std::vector<BlockLoop> loops = this->loops(kind);
    if (const std::string why = refuse(loops); !why.empty())
        throw Error("the program cannot be one function: " + why);
    if (kind == RunKind::recording && !schedule_.step.empty()) {  // as Recording::finish does
        BlockLoop end{{}, schedule_.steps, schedule_.steps + 1};
        for (History* h : schedule_.step.front().saves) end.block.emplace_back(CopyItem{h});
        loops.push_back(std::move(end));
    }
    return text_of(loops);
}

std::int64_t FunctionExecutor::predicted_bytes(RunKind kind) const {
    const std::vector<BlockLoop> loops = this->loops(kind);
    if (!refuse(loops).empty()) return 0;
    const backend::ProgramText text = text_of(loops);
    return backend::cannot_compile(text).empty() ? backend::working_bytes(text, device_.width) : 0;
}

std::int64_t FunctionExecutor::predicted_bytes() const {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < run_kinds; ++k)
        if (const RunKind kind = static_cast<RunKind>(k); same_as(kind) == kind)
            sum += predicted_bytes(kind);
    return sum;
}

std::int64_t FunctionExecutor::bytes(RunKind kind) const {
    return choice(kind).program ? choice(kind).program->working_bytes() : 0;
}

void FunctionExecutor::compile(RunKind kind) {
    ExecutionChoice& c = choice(kind);
    c.program.reset();
    const std::vector<BlockLoop> loops = this->loops(kind);
    c.refusal = refuse(loops);
    if (!c.refusal.empty()) return;
    const backend::ProgramText text = text_of(loops);
    c.refusal = backend::cannot_compile(text);
    if (!c.refusal.empty()) return;
    c.program = std::make_unique<backend::CpuProgram>(text, device_.width);
    c.premises.note(schedule_, timeline_.counter());
    c.replays.clear();
    std::set<std::pair<const Call*, RunItem::Way>> seen;
    for (const BlockLoop& loop : loops)
        for (const TimelineItem& item : loop.block)
            if (const auto* const run = std::get_if<RunItem>(&item);
                run != nullptr && seen.emplace(run->call, run->way).second)
                c.replays.push_back(run->replay());
}

// ---------------------------------------------------------------- which way it goes

std::int64_t FunctionExecutor::launch_count(RunKind kind) const {
    std::int64_t count = 0;
    for (const BlockLoop& loop : loops(kind))
        count += std::abs(loop.end - loop.begin) *
                 std::count_if(loop.block.begin(), loop.block.end(), [](const TimelineItem& item) {
                     return std::holds_alternative<RunItem>(item);
                 });
    return count;
}

bool FunctionExecutor::offer(RunKind kind, double launches) {
    ExecutionChoice& c = choice(kind);
    c.launches = launches;
    c.launched = ExecutionChoice::trials;
    if (device_.whole_program != WholeProgramUse::always && c.is_long(launch_count(kind)))
        c.refusal = ExecutionChoice::too_long;
    else if (!c.program)
        compile(kind);
    c.choice = c.program ? Choice::function : Choice::launches;
    return c.program != nullptr;
}

void FunctionExecutor::judge(RunKind kind, double function) {
    ExecutionChoice& c = choice(kind);
    c.function = function;
    c.called = ExecutionChoice::trials;
    if (function >= c.launches) c.choice = Choice::launches;
}

bool FunctionExecutor::chooses_function(const Stretch& stretch) {
    ExecutionChoice& c = choice(stretch.kind);
    const bool always = device_.whole_program == WholeProgramUse::always;
    if (device_.whole_program == WholeProgramUse::never) return false;
    if (!always && (c.choice == Choice::launches || (c.choice == Choice::open && c.wants_time())))
        return false;
    if (!c.program) {
        if (!always && c.is_long(launch_count(stretch.kind)))
            c.refusal = ExecutionChoice::too_long;
        else
            compile(stretch.kind);
        if (always && !c.refusal.empty())
            throw Error(std::string(over_ == Over::run ? "the program" : "the steps") +
                        " cannot be one function: " + c.refusal)
                .remedy("let the program choose (automatic)");
    }
    schedule_.bring_to_host();
    if (c.program && !c.premises.hold(schedule_)) compile(stretch.kind);
    if (!c.program) c.choice = Choice::launches;
    return c.program != nullptr;
}

// Runs the function. True if all numbers that it checked are finite.
bool FunctionExecutor::call(const Stretch& stretch) {
    backend::CpuProgram& program = *choice(stretch.kind).program;
    not_finite_ = 0;
    if (over_ == Over::run)
        program.run();
    else
        program.run(stretch.from, stretch.to, stretch.window);
    for (const Launch::Replay& replay : choice(stretch.kind).replays) replay.bound().ran();
    if (timeline_.counter()) timeline_.counter().touch();
    return not_finite_ == 0;
}

bool FunctionExecutor::run(const Stretch& stretch, const std::function<void()>& launches) {
    ExecutionChoice& c = choice(stretch.kind);
    const double parts = over_ == Over::run ? 1 : static_cast<double>(stretch.steps());
    const double start = ExecutionChoice::now();
    if (chooses_function(stretch) && call(stretch)) {
        if (c.choice == Choice::open) c.called_once((ExecutionChoice::now() - start) / parts);
        return true;
    }
    const bool timed = c.wants_time();
    const double begin = timed ? ExecutionChoice::now() : 0;
    launches();
    if (timed) c.took((ExecutionChoice::now() - begin) / parts);
    return false;
}

}  // namespace hindcast
