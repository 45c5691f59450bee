#include "engine/runtime/compiled/program_writer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace hindcast {

using backend::MovingMemory;
using backend::ProgramCall;

namespace {

// Launches of less than this are worth compiling together, in seconds each.
constexpr double short_launch = 2e-6;

// The window's first step is the text's step 0, or lies `shift` before it (CpuProgram::run).
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

}  // namespace

void ProgramWriter::clears(const std::vector<Array>& arrays, Items& items) {
    for (const Array& a : arrays)
        items.emplace_back(backend::ProgramClear{a.data(), static_cast<std::int64_t>(a.bytes())});
}

void ProgramWriter::counter(std::int64_t offset, Items& items) const {
    if (counter_)
        items.emplace_back(
            backend::ProgramCounter{static_cast<std::int32_t*>(counter_.data()), offset});
}

void ProgramWriter::save(History& history, const Schedule::Event* event, Items& items) {
    items.emplace_back(backend::ProgramCopy{history.array.data(), slot_of(history, event, 0),
                                            static_cast<std::int64_t>(history.array.bytes())});
}

void ProgramWriter::forward(Call& call, const Schedule::Event* event, bool keep, Items& items) {
    if (keep)
        for (History* h : call.saves) save(*h, event, items);
    items.emplace_back(call_of(call.forward));
    clears(call.forward.cleared_after(), items);
}

void ProgramWriter::backward(Call& call, const Schedule::Event* event, Items& items) {
    if (!call.differentiable) return;
    ProgramCall adjoint = call_of(call.backward);
    for (const Restore& r : call.restores)
        adjoint.moving.emplace_back(r.parameter, slot_of(*r.history, event, r.offset));
    items.emplace_back(std::move(adjoint));
    clears(call.backward.cleared_after(), items);
}

std::string ProgramWriter::refuse(const DeviceOptions& device, bool backward) const {
    if (device.kind != DeviceKind::cpu) return "the device is not the CPU";
    if (device.checked) return "a checked run goes launch by launch";
    std::string why;
    schedule_.each_call([&](const Call& call) {
        if (call.made_again && backward) why = "a launch is made again on the way back";
        if (backward && !call.differentiable) return;
        const Launch::Replay& replay = backward ? call.backward : call.forward;
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

// ---------------------------------------------------------------- which way is faster

double ExecutionChoice::now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void ExecutionChoice::took(double seconds) {
    ++launched;
    launches = std::min(launches, seconds);
}

void ExecutionChoice::called_once(double seconds) {
    function = std::min(function, seconds);
    if (++called == trials) choice = function < launches ? Choice::function : Choice::launches;
}

bool ExecutionChoice::is_long(std::int64_t launch_count) const {
    return launches > short_launch * static_cast<double>(std::max<std::int64_t>(launch_count, 1));
}

std::string ExecutionChoice::report() const {
    const auto microseconds = [](double seconds) {
        char text[32];
        std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
        return std::string(text);
    };
    const std::string times = called > 0 && launched > 0
                                  ? " (" + microseconds(function) + " against " +
                                        microseconds(launches) + " launch by launch)"
                                  : "";
    if (!refusal.empty()) return "launch by launch: " + refusal;
    if (choice == Choice::launches) return "launch by launch" + times;
    return program ? "one function" + times : "launch by launch: run a few times only";
}

}  // namespace hindcast
