#include "engine/runtime/whole_program.hpp"

#include <algorithm>
#include <chrono>

namespace hindcast {

using backend::MovingMemory;
using backend::ProgramCall;
using backend::ProgramItem;
using backend::ProgramText;

namespace {

constexpr int trials = 3;
constexpr std::size_t most_events = 16;
// Launches of less than this are worth compiling together, in seconds each.
constexpr double short_launch = 2e-6;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Everything is stored: windows start at step 0.
MovingMemory slot_of(History& history, const Schedule::Event* event, std::int64_t offset) {
    if (history.kept == History::Kept::per_step)
        return {history.memory.data(), static_cast<std::int64_t>(history.array.bytes()), offset};
    const std::int64_t occurrence =
        event != nullptr ? event->occurrence - event->program->first : 0;
    return {history.slot({0, occurrence}), 0, 0};
}

ProgramCall call_of(const Launch::Replay& replay) {
    ProgramCall call;
    call.kernel = &replay.kernel();
    call.bindings = replay.bindings();
    call.items = replay.launch().items();
    call.description = replay.launch().description();
    return call;
}

void add_clears(const std::vector<Array>& arrays, std::vector<ProgramItem>& items) {
    for (const Array& a : arrays)
        items.emplace_back(backend::ProgramClear{a.data(), static_cast<std::int64_t>(a.bytes())});
}

}  // namespace

void WholeProgram::add_save(History& history, const Schedule::Event* event,
                            std::vector<ProgramItem>& items) const {
    items.emplace_back(backend::ProgramCopy{history.array.data(), slot_of(history, event, 0),
                                            static_cast<std::int64_t>(history.array.bytes())});
}

void WholeProgram::add_counter(std::int64_t offset, std::vector<ProgramItem>& items) const {
    if (counter_)
        items.emplace_back(
            backend::ProgramCounter{static_cast<std::int32_t*>(counter_.data()), offset});
}

void WholeProgram::add_forward(Call& call, const Schedule::Event* event, bool keep,
                               std::vector<ProgramItem>& items) const {
    if (keep)
        for (History* h : call.saves) add_save(*h, event, items);
    items.emplace_back(call_of(call.forward));
    add_clears(call.forward.cleared_after(), items);
}

void WholeProgram::add_backward(Call& call, const Schedule::Event* event,
                                std::vector<ProgramItem>& items) const {
    if (!call.differentiable) return;
    ProgramCall adjoint = call_of(call.backward);
    for (const Restore& r : call.restores)
        adjoint.moving.emplace_back(r.parameter, slot_of(*r.history, event, r.offset));
    items.emplace_back(std::move(adjoint));
    add_clears(call.backward.cleared_after(), items);
}

ProgramText WholeProgram::forward_text(bool keep) {
    Schedule& s = schedule_;
    ProgramText text;
    std::vector<ProgramItem> items;
    add_clears(s.reduced, items);
    add_counter(0, items);
    for (Call& c : s.prologue) add_forward(c, nullptr, keep, items);
    text.parts.push_back({std::move(items), 0, 1});
    std::int64_t done = 0;
    const auto steps_until = [&](std::int64_t t) {
        if (t == done) return;
        std::vector<ProgramItem> list;
        for (Call& c : s.step) add_forward(c, nullptr, keep, list);
        add_counter(1, list);
        if (every_ > 0 && every_ < s.steps)
            for (const Array& a : checked_)
                if (ir::is_real(a.type()))
                    list.emplace_back(backend::ProgramCheck{
                        a.data(), a.type(),
                        static_cast<std::int64_t>(a.bytes() / ir::size_of(a.type())), 1, every_,
                        &not_finite_});
        text.parts.push_back({std::move(list), done, t});
        done = t;
    };
    for (const auto& [t, event] : s.events) {
        steps_until(t);
        std::vector<ProgramItem> list;
        for (Call& c : event.program->calls) add_forward(c, &event, keep, list);
        text.parts.push_back({std::move(list), t, t + 1});
    }
    steps_until(s.steps);
    return text;
}

ProgramText WholeProgram::backward_text() {
    Schedule& s = schedule_;
    ProgramText text;
    const auto reversed = [&](Calls& calls, const Schedule::Event* event,
                              std::vector<ProgramItem>& items) {
        for (std::size_t k = calls.size(); k-- > 0;) add_backward(calls[k], event, items);
    };
    std::int64_t at = s.steps;
    const auto steps_down_to = [&](std::int64_t t) {
        if (t == at) return;
        std::vector<ProgramItem> list;
        add_counter(0, list);
        reversed(s.step, nullptr, list);
        text.parts.push_back({std::move(list), at, t});
        at = t;
    };
    for (auto found = s.events.rbegin(); found != s.events.rend(); ++found) {
        const auto& [t, event] = *found;
        steps_down_to(t);
        std::vector<ProgramItem> list;
        add_counter(0, list);
        reversed(event.program->calls, &event, list);
        text.parts.push_back({std::move(list), t, t + 1});
    }
    steps_down_to(0);
    std::vector<ProgramItem> list;
    add_counter(0, list);
    reversed(s.prologue, nullptr, list);
    text.parts.push_back({std::move(list), 0, 1});
    return text;
}

ProgramText WholeProgram::text_of(Kind kind) {
    return kind == backward ? backward_text() : forward_text(kind == forward_keeping);
}

std::int64_t WholeProgram::predicted_bytes(Kind kind) {
    if (!refuse(kind).empty()) return 0;
    const ProgramText text = text_of(kind);
    return backend::cannot_compile(text).empty() ? backend::working_bytes(text, device_.width) : 0;
}

std::int64_t WholeProgram::bytes(Kind kind) const {
    return ways_[kind].program ? ways_[kind].program->working_bytes() : 0;
}

ProgramText WholeProgram::text(Kind kind) {
    if (const std::string why = refuse(kind); !why.empty())
        throw Error("the program cannot be one function: " + why);
    if (kind == backward) return backward_text();
    ProgramText text = forward_text(kind != forward);
    if (kind == forward_keeping && !schedule_.step.empty()) {  // as Recording::finish does
        std::vector<ProgramItem> items;
        for (History* h : schedule_.step.front().saves) add_save(*h, nullptr, items);
        text.parts.push_back({std::move(items), schedule_.steps, schedule_.steps + 1});
    }
    return text;
}

// Why this kind goes launch by launch; "" if it need not.
std::string WholeProgram::refuse(Kind kind) const {
    if (device_.kind != DeviceKind::cpu) return "the device is not the CPU";
    if (device_.checked) return "a checked run goes launch by launch";
    if (schedule_.events.size() > most_events) return "there are too many events";
    std::string why;
    schedule_.each_call([&](const Call& call) {
        if (call.made_again && kind == backward) why = "a launch is made again on the way back";
        if (kind == backward && !call.differentiable) return;
        const Launch::Replay& replay = kind == backward ? call.backward : call.forward;
        if (replay.adds_aliases()) why = "two sums of a launch are bound to one array";
        for (std::size_t p = 0; p < replay.arrays().size(); ++p) {
            const Array& array = replay.arrays()[p];
            const ir::Parameter& parameter = replay.kernel().parameters[p];
            if (!array || ir::is_real(parameter.type) || parameter.access != ir::Access::read)
                continue;
            for (const auto& [written, name] : schedule_.written)
                if (written.same_memory(array)) why = "indices change while it runs";
        }
    });
    return why;
}

void WholeProgram::compile(Kind kind) {
    Way& way = ways_[kind];
    way.program.reset();
    way.refusal = refuse(kind);
    if (!way.refusal.empty()) return;
    const ProgramText text = text_of(kind);
    way.refusal = backend::cannot_compile(text);
    if (!way.refusal.empty()) return;
    way.program = std::make_unique<backend::CpuProgram>(text, device_.width);
    way.premises.note(schedule_, counter_);
}

bool WholeProgram::call(Kind kind, Way& way) {
    schedule_.bring_to_host();
    if (!way.premises.hold(schedule_)) compile(kind);
    if (!way.program) {
        way.choice = Choice::launches;
        return false;
    }
    not_finite_ = 0;
    way.program->run();
    schedule_.each_call([&](const Call& call) {
        if (kind != backward)
            call.forward.ran();
        else if (call.differentiable)
            call.backward.ran();
    });
    if (counter_) counter_.touch();
    return not_finite_ == 0;
}

bool WholeProgram::run(Kind kind) {
    Way& way = ways_[kind];
    const WholeProgramUse use = device_.whole_program;
    if (use == WholeProgramUse::never) return false;
    if (use == WholeProgramUse::always) {
        if (!way.program) compile(kind);
        if (!way.refusal.empty())
            throw Error("the program cannot be one function: " + way.refusal)
                .remedy("let the program choose (automatic)");
        return call(kind, way);
    }
    if (way.choice == Choice::launches || way.launched < trials) return false;
    if (way.choice == Choice::function) return call(kind, way);
    if (!way.program) {
        std::size_t per_run = schedule_.prologue.size() +
                              schedule_.step.size() * static_cast<std::size_t>(schedule_.steps);
        for (const auto& [t, event] : schedule_.events) per_run += event.program->calls.size();
        if (way.launches > short_launch * static_cast<double>(std::max<std::size_t>(per_run, 1)))
            way.refusal = "its launches are long";
        else
            compile(kind);
        if (!way.refusal.empty()) {
            way.choice = Choice::launches;
            return false;
        }
    }
    const double start = now();
    if (!call(kind, way)) return false;
    way.function = std::min(way.function, now() - start);
    if (++way.called == trials)
        way.choice = way.function < way.launches ? Choice::function : Choice::launches;
    return true;
}

bool WholeProgram::wants_time(Kind kind) const { return ways_[kind].launched < trials; }

void WholeProgram::took(Kind kind, double seconds) {
    ++ways_[kind].launched;
    ways_[kind].launches = std::min(ways_[kind].launches, seconds);
}

std::string WholeProgram::report(Kind kind) const {
    const Way& way = ways_[kind];
    const auto microseconds = [](double seconds) {
        char text[32];
        std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
        return std::string(text);
    };
    const std::string times = way.called > 0 && way.launched > 0
                                  ? " (" + microseconds(way.function) + " against " +
                                        microseconds(way.launches) + " launch by launch)"
                                  : "";
    if (!way.refusal.empty()) return "launch by launch: " + way.refusal;
    if (way.choice == Choice::launches) return "launch by launch" + times;
    return way.program ? "one function" + times : "launch by launch: run a few times only";
}

}  // namespace hindcast
