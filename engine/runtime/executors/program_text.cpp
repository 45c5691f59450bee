#include "engine/runtime/executors/program_text.hpp"

#include <algorithm>

#include "engine/runtime/launch/launch_state.hpp"

namespace hindcast {

using backend::MovingMemory;
using backend::ProgramItem;

namespace {

MovingMemory slot_of(History& history, const Schedule::Event* event, std::int64_t offset) {
    if (history.kept == History::Kept::per_step)
        return {history.memory.data(), static_cast<std::int64_t>(history.array.bytes()), offset};
    return {history.slot({0, event != nullptr ? event->in_window() : 0}), 0, 0};
}

backend::ProgramCall call_of(const Launch::Replay& replay) {
    backend::ProgramCall call;
    call.kernel = &replay.kernel();
    call.bindings = replay.bound().bindings;
    call.items = replay.launch().items();
    call.description = replay.launch().description();
    return call;
}

class Writer {
public:
    Writer(const Schedule::Event* event, const Array& counter, std::int32_t* not_finite)
        : event_(event), counter_(counter), not_finite_(not_finite) {}

    std::vector<ProgramItem> items(const Block& block) {
        for (const TimelineItem& item : block) std::visit(*this, item);
        return std::move(items_);
    }

    void operator()(const RunItem& run) {
        const Launch::Replay& replay = run.replay();
        backend::ProgramCall call = call_of(replay);
        for (const Restore& r : run.restores())
            call.moving.emplace_back(r.parameter, slot_of(*r.history, event_, r.offset));
        items_.emplace_back(std::move(call));
        for (const Array& a : replay.bound().cleared) (*this)(ClearItem{&a});
    }
    void operator()(const CopyItem& copy) {
        History& h = *copy.history;
        items_.emplace_back(backend::ProgramCopy{h.array.data(), slot_of(h, event_, 0),
                                                 static_cast<std::int64_t>(h.array.bytes())});
    }
    void operator()(const LinesItem&) {
        throw Error("lines that are not zero are not kept by a function");
    }
    void operator()(const ClearItem& clear) {
        items_.emplace_back(backend::ProgramClear{clear.array->data(),
                                                  static_cast<std::int64_t>(clear.array->bytes())});
    }
    void operator()(const CountItem& count) {
        items_.emplace_back(
            backend::ProgramCounter{static_cast<std::int32_t*>(counter_.data()), count.offset});
    }
    void operator()(const CheckItem& check) {
        const Array& a = *check.array;
        items_.emplace_back(backend::ProgramCheck{
            a.data(), a.type(), static_cast<std::int64_t>(a.bytes() / ir::size_of(a.type())),
            check.offset, check.every, not_finite_});
    }

private:
    const Schedule::Event* event_;
    const Array& counter_;
    std::int32_t* not_finite_;
    std::vector<ProgramItem> items_;
};

// True if it adds at indices that the program changes. A compiled function takes the indices as
// they are when it is compiled.
bool adds_at_changing_indices(const Launch::Replay& replay, const Schedule& schedule) {
    std::vector<int> changing;
    for (std::size_t p = 0; p < replay.arrays().size(); ++p) {
        const Array& array = replay.arrays()[p];
        const ir::Parameter& parameter = replay.kernel().parameters[p];
        if (!array || ir::is_real(parameter.type) || parameter.access != ir::Access::read) continue;
        for (const auto& [written, name] : schedule.written)
            if (written.same_memory(array)) changing.push_back(static_cast<int>(p));
    }
    return !changing.empty() && backend::gathers_by(call_of(replay), changing);
}

}  // namespace

std::string needs_launches(const std::vector<BlockLoop>& loops, const Schedule& schedule,
                           const DeviceOptions& device) {
    if (device.kind != DeviceKind::cpu) return "the device is not the CPU";
    if (device.checked) return "a checked run goes launch by launch";
    for (const BlockLoop& loop : loops)
        for (const TimelineItem& item : loop.block) {
            if (std::holds_alternative<LinesItem>(item))
                return "sums of which most is zero are kept without the zeros";
            const auto* const run = std::get_if<RunItem>(&item);
            if (run == nullptr) continue;
            if (run->replay().kernel().is_host_function)
                return "'" + run->replay().launch().description() + "' is a function of the host";
            if (!run->call->results.empty() && run->way == RunItem::Way::again)
                return "sums of which most is zero are kept without the zeros";
            if (run->replay().bound().adds_aliases())
                return "two sums of a launch are bound to one array";
            if (adds_at_changing_indices(run->replay(), schedule))
                return "'" + run->replay().launch().description() +
                       "' adds at indices that change while it runs";
        }
    return "";
}

backend::ProgramText program_text(const std::vector<BlockLoop>& loops, const Array& counter,
                                  std::int32_t* not_finite) {
    backend::ProgramText text;
    for (const BlockLoop& loop : loops)
        text.parts.push_back(
            {Writer(loop.event, counter, not_finite).items(loop.block), loop.begin, loop.end});
    return text;
}

}  // namespace hindcast
