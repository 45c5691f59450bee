#include "engine/runtime/compiled/whole_program.hpp"

#include <algorithm>

namespace hindcast {

using backend::ProgramItem;
using backend::ProgramText;

ProgramText WholeProgram::forward_text(bool keep) {
    Schedule& s = schedule_;
    ProgramText text;
    std::vector<ProgramItem> items;
    ProgramWriter::clears(s.reduced, items);
    writer_.counter(0, items);
    for (Call& c : s.prologue) ProgramWriter::forward(c, nullptr, keep, items);
    text.parts.push_back({std::move(items), 0, 1});
    std::int64_t done = 0;
    const auto checks = [&](std::int64_t every, std::vector<ProgramItem>& list) {
        if (every <= 0) return;
        for (const Array& a : checked_)
            if (ir::is_real(a.type()))
                list.emplace_back(backend::ProgramCheck{
                    a.data(), a.type(),
                    static_cast<std::int64_t>(a.bytes() / ir::size_of(a.type())), 1, every,
                    &not_finite_});
    };
    const auto steps_until = [&](std::int64_t t) {
        if (t == done) return;
        std::vector<ProgramItem> list;
        for (Call& c : s.step) ProgramWriter::forward(c, nullptr, keep, list);
        writer_.counter(1, list);
        if (every_ <= s.steps) checks(every_, list);
        text.parts.push_back({std::move(list), done, t});
        done = t;
    };
    for (const auto& [t, event] : s.events) {
        steps_until(t);
        std::vector<ProgramItem> list;
        for (Call& c : event.program->calls) ProgramWriter::forward(c, &event, keep, list);
        text.parts.push_back({std::move(list), t, t + 1});
    }
    steps_until(s.steps);
    if (every_ > 0 && s.steps > 0 && s.steps % every_ != 0) {
        std::vector<ProgramItem> list;
        checks(1, list);
        text.parts.push_back({std::move(list), s.steps, s.steps + 1});
    }
    return text;
}

ProgramText WholeProgram::backward_text() {
    Schedule& s = schedule_;
    ProgramText text;
    const auto reversed = [&](Calls& calls, const Schedule::Event* event,
                              std::vector<ProgramItem>& items) {
        for (std::size_t k = calls.size(); k-- > 0;)
            ProgramWriter::backward(calls[k], event, items);
    };
    std::int64_t at = s.steps;
    const auto steps_down_to = [&](std::int64_t t) {
        if (t == at) return;
        std::vector<ProgramItem> list;
        writer_.counter(0, list);
        reversed(s.step, nullptr, list);
        text.parts.push_back({std::move(list), at, t});
        at = t;
    };
    for (auto found = s.events.rbegin(); found != s.events.rend(); ++found) {
        const auto& [t, event] = *found;
        steps_down_to(t);
        std::vector<ProgramItem> list;
        writer_.counter(0, list);
        reversed(event.program->calls, &event, list);
        text.parts.push_back({std::move(list), t, t + 1});
    }
    steps_down_to(0);
    std::vector<ProgramItem> list;
    writer_.counter(0, list);
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
        for (History* h : schedule_.step.front().saves) ProgramWriter::save(*h, nullptr, items);
        text.parts.push_back({std::move(items), schedule_.steps, schedule_.steps + 1});
    }
    return text;
}

// Why this kind goes launch by launch; "" if it need not.
std::string WholeProgram::refuse(Kind kind) const {
    if (schedule_.events.size() > most_events) return "there are too many events";
    return writer_.refuse(device_, kind == backward);
}

void WholeProgram::compile(Kind kind) {
    ways_[kind].make(
        refuse(kind), [&] { return text_of(kind); }, device_.width, schedule_, counter_);
}

bool WholeProgram::call(Kind kind) {
    not_finite_ = 0;
    ways_[kind].program->run();
    schedule_.each_call([&](const Call& call) {
        if (kind == backward)
            call.each_back([](const Launch::Replay& replay) { replay.ran(); });
        else
            call.forward.ran();
    });
    if (counter_) counter_.touch();
    return not_finite_ == 0;
}

bool WholeProgram::run(Kind kind) {
    const auto launch_count = [&] {
        std::size_t count = schedule_.prologue.size() +
                            schedule_.step.size() * static_cast<std::size_t>(schedule_.steps);
        for (const auto& [t, event] : schedule_.events) count += event.program->calls.size();
        return static_cast<std::int64_t>(count);
    };
    return ways_[kind].run(
        device_.whole_program, schedule_, "the program", 1, launch_count, [&] { compile(kind); },
        [&] { return call(kind); });
}

}  // namespace hindcast
