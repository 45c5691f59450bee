#include "engine/runtime/schedule/timeline.hpp"

#include <fmt/format.h>

#include <utility>

#include "engine/runtime/launch/launch_state.hpp"

namespace hindcast {

namespace {

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};

void append(Block& block, Block more) {
    block.insert(block.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
}

}  // namespace

// ---------------------------------------------------------------- blocks

Block Timeline::items_of(std::span<Call> calls, RunKind kind) {
    Block items;
    if (kind == RunKind::back) {
        for (std::size_t k = calls.size(); k-- > 0;)
            if (calls[k].differentiable) items.emplace_back(RunItem{&calls[k], RunItem::Way::back});
        return items;
    }
    for (Call& call : calls) {
        if (records(kind))
            for (History* h : call.saves) items.emplace_back(CopyItem{h});
        if (repeats(kind) && !call.recomputed) continue;
        items.emplace_back(RunItem{&call, RunItem::Way::forward});
        if (records(kind))
            for (SparseHistory* h : call.results) items.emplace_back(LinesItem{h});
    }
    return items;
}

Block Timeline::made_again(std::span<Call> calls) {
    Block items;
    for (Call& call : calls)
        if (call.made_again) items.emplace_back(RunItem{&call, RunItem::Way::again});
    return items;
}

const Block& Timeline::made(Blocks& blocks, Calls& calls, RunKind kind) const {
    std::optional<Block>& block = blocks[static_cast<std::size_t>(kind)];
    if (!block) {
        block.emplace();
        if (counter_) block->emplace_back(CountItem{0});
        if (kind == RunKind::back) append(*block, made_again(calls));
        append(*block, items_of(calls, kind));
        block->shrink_to_fit();
    }
    return *block;
}

Timeline::Timeline(Schedule& schedule, Array counter)
    : schedule_(schedule), counter_(std::move(counter)) {
    for (const Call& call : schedule_.step) all_recomputed_ &= call.recomputed;
}

RunKind Timeline::same_as(RunKind kind) const {
    if (!all_recomputed_) return kind;
    return kind == RunKind::again             ? RunKind::forward
           : kind == RunKind::recording_again ? RunKind::recording
                                              : kind;
}

const Block& Timeline::prologue(RunKind kind) const {
    return made(prologue_, schedule_.prologue, kind);
}
const Block& Timeline::step(RunKind kind) const {
    return made(step_, schedule_.step, same_as(kind));
}
const Block& Timeline::event(EventProgram& program, RunKind kind) const {
    return made(events_[&program], program.calls, kind);
}

// ---------------------------------------------------------------- whole runs

void Timeline::append_checks(Block& block, std::int64_t offset, std::int64_t every) const {
    for (const Array& a : checked_)
        if (ir::is_real(a.type()))
            block.emplace_back(
                CheckItem{&a, static_cast<std::int32_t>(offset), static_cast<std::int32_t>(every)});
}

std::vector<BlockLoop> Timeline::run(RunKind kind) const {
    const Schedule& s = schedule_;
    std::vector<BlockLoop> loops;
    const auto once = [&](Block block, std::int64_t t, const Schedule::Event* event = nullptr) {
        loops.push_back({std::move(block), t, t + 1, event});
    };
    if (kind == RunKind::back) {
        std::int64_t at = s.steps;
        const auto down_to = [&](std::int64_t t) {
            if (t < at) loops.push_back({step(kind), at, t});
            at = t;
        };
        for (auto found = s.events.rbegin(); found != s.events.rend(); ++found) {
            down_to(found->first);
            once(event(*found->second.program, kind), found->first, &found->second);
        }
        down_to(0);
        once(prologue(kind), 0);
        return loops;
    }
    Block begin;
    for (const Array& a : s.reduced) begin.emplace_back(ClearItem{&a});
    append(begin, Block(prologue(kind)));
    once(std::move(begin), 0);
    std::int64_t at = 0;
    const auto up_to = [&](std::int64_t t) {
        if (t == at) return;
        Block block = step(kind);
        if (every_ > 0 && every_ <= s.steps) append_checks(block, 1, every_);
        loops.push_back({std::move(block), at, t});
        at = t;
    };
    for (const auto& [t, event] : s.events) {
        up_to(t);
        once(this->event(*event.program, kind), t, &event);
    }
    up_to(s.steps);
    Block end;
    if (counter_) end.emplace_back(CountItem{0});
    if (every_ > 0 && s.steps > 0 && s.steps % every_ != 0) append_checks(end, 0, 1);
    if (!end.empty()) once(std::move(end), s.steps);
    return loops;
}

// ---------------------------------------------------------------- text

std::string describe(const Block& block) {
    std::string text;
    const auto line = [&](const char* word, const std::string& rest) {
        text += fmt::format("  {:<6} {}\n", word, rest);
    };
    static constexpr const char* when[] = {"once", "of each step", "of each event"};
    for (const TimelineItem& item : block)
        std::visit(
            Overloaded{
                [&](const RunItem& run) {
                    const Launch& launch = run.replay().launch();
                    std::string restored;
                    for (const Restore& r : run.restores())
                        restored +=
                            fmt::format("{}{}{}", restored.empty() ? "; from history: " : ", ",
                                        r.history->name, r.offset != 0 ? " of the next step" : "");
                    if (run.way == RunItem::Way::again && !run.call->results.empty())
                        restored += "; or its lines that are not zero, where kept";
                    line(run.way == RunItem::Way::again ? "again" : "run",
                         fmt::format("{}, {}, {} items{}", launch.description(),
                                     name_of(run.replay().direction()), launch.items(), restored));
                    for (const Array& a : run.replay().bound().cleared)
                        line("clear", fmt::format("{} bytes, after it", a.bytes()));
                },
                [&](const CopyItem& copy) {
                    line("copy", fmt::format("{} to its history {}, {} bytes", copy.history->name,
                                             when[static_cast<std::size_t>(copy.history->kept)],
                                             copy.history->array.bytes()));
                },
                [&](const LinesItem& lines) {
                    line("lines", fmt::format("that are not zero, {} bytes at most",
                                              lines.history->slot_bytes()));
                },
                [&](const ClearItem& clear) {
                    line("clear", fmt::format("{} bytes", clear.array->bytes()));
                },
                [&](const CountItem& count) {
                    line("count", count.offset == 0 ? "t" : fmt::format("t + {}", count.offset));
                },
                [&](const CheckItem& check) {
                    line("check", fmt::format("{} bytes for numbers that are not "
                                              "finite, every {} steps",
                                              check.array->bytes(), check.every));
                }},
            item);
    return text;
}

std::string Timeline::describe() const {
    const Schedule& s = schedule_;
    std::string text;
    const auto part = [&](const std::string& title, const Block& block) {
        text += title + "\n" + hindcast::describe(block);
    };
    const RunKind forward = s.has_backward ? RunKind::recording : RunKind::forward;
    const auto title_of = [](const EventProgram& program) {
        return program.times.size() == 1
                   ? fmt::format("after step {}", program.times.front())
                   : fmt::format("after steps {}, {} ... {} ({} times)", program.times[0],
                                 program.times[1], program.times.back(), program.times.size());
    };
    const std::string range = fmt::format("step t, t = 0 ... {}", s.steps - 1);
    part("before the first step", prologue(forward));
    part(range, step(forward));
    for (EventProgram& program : schedule_.event_programs)
        part(title_of(program), event(program, forward));
    if (!s.has_backward) return text;
    for (EventProgram& program : schedule_.event_programs)
        part("backwards, " + title_of(program), event(program, RunKind::back));
    part(fmt::format("backwards, step t, t = {} ... {}", s.steps - 1, s.cut), step(RunKind::back));
    part("backwards, before the first step", prologue(RunKind::back));
    return text;
}

}  // namespace hindcast
