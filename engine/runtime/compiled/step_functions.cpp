#include "engine/runtime/compiled/step_functions.hpp"

#include <algorithm>

namespace hindcast {

StepFunctions::StepFunctions(Schedule& schedule, const Array& counter, DeviceOptions device)
    : schedule_(schedule),
      counter_(counter),
      device_(std::move(device)),
      writer_(schedule, counter) {
    for (const Call& call : schedule_.step) all_recomputed_ &= call.recomputed;
}

StepFunctions::Kind StepFunctions::same_as(Kind kind) const {
    if (!all_recomputed_) return kind;
    return kind == again ? forward : kind == recording_again ? recording : kind;
}

std::string StepFunctions::refuse(Kind kind) const {
    if (const std::string why = writer_.refuse(device_, kind == back); !why.empty()) return why;
    for (const Call& call : schedule_.step)
        if (!call.results.empty() && kind != back) return "results of launches are kept";
    return "";
}

backend::ProgramText StepFunctions::text_of(Kind kind) {
    ProgramWriter::Items items;
    writer_.counter(0, items);
    const bool keep = records(kind);
    if (kind == back) {
        for (std::size_t k = schedule_.step.size(); k-- > 0;)
            ProgramWriter::backward(schedule_.step[k], nullptr, items);
    } else {
        for (Call& call : schedule_.step) {
            if (!repeats(kind) || call.recomputed) {
                ProgramWriter::forward(call, nullptr, keep, items);
            } else if (keep) {
                for (History* h : call.saves) ProgramWriter::save(*h, nullptr, items);
            }
        }
    }
    backend::ProgramText text;
    text.ranged = true;
    text.parts.push_back({std::move(items), kind == back ? 1 : 0, kind == back ? 0 : 1});
    return text;
}

std::int64_t StepFunctions::predicted_bytes() {
    std::int64_t sum = 0;
    for (int k = 0; k < kinds; ++k) {
        const Kind kind = static_cast<Kind>(k);
        if (same_as(kind) != kind || !refuse(kind).empty()) continue;
        const backend::ProgramText text = text_of(kind);
        if (backend::cannot_compile(text).empty())
            sum += backend::working_bytes(text, device_.width);
    }
    return sum;
}

void StepFunctions::compile(Kind kind) {
    way(kind).make(
        refuse(kind), [&] { return text_of(same_as(kind)); }, device_.width, schedule_, counter_);
}

void StepFunctions::call(Kind kind, std::int64_t from, std::int64_t to, std::int64_t window) {
    way(kind).program->run(from, to, window);
    for (const Call& call : schedule_.step) {
        if (kind == back) {
            call.each_back([](const Launch::Replay& replay) { replay.ran(); });
        } else if (!repeats(kind) || call.recomputed) {
            call.forward.ran();
        }
    }
    if (counter_) counter_.touch();
}

bool StepFunctions::offer(Kind kind, double launches) {
    ExecutionChoice& w = way(kind);
    w.launches = launches;
    w.launched = ExecutionChoice::trials;
    if (device_.whole_program != WholeProgramUse::always &&
        w.is_long(static_cast<std::int64_t>(schedule_.step.size())))
        w.refusal = ExecutionChoice::too_long;
    else if (!w.program)
        compile(kind);
    w.choice = w.program ? ExecutionChoice::Choice::function : ExecutionChoice::Choice::launches;
    return w.program != nullptr;
}

void StepFunctions::judge(Kind kind, double function) {
    ExecutionChoice& w = way(kind);
    w.function = function;
    w.called = ExecutionChoice::trials;
    if (function >= w.launches) w.choice = ExecutionChoice::Choice::launches;
}

bool StepFunctions::run(Kind kind, std::int64_t from, std::int64_t to, std::int64_t window) {
    return way(kind).run(
        device_.whole_program, schedule_, "the steps", to - from,
        [&] { return static_cast<std::int64_t>(schedule_.step.size()); }, [&] { compile(kind); },
        [&] {
            call(kind, from, to, window);
            return true;
        });
}

}  // namespace hindcast
