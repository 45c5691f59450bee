// Planner finds what must be kept: for every value that an adjoint reads, whether it stays as it is
// or in which history it lies. make_schedule(), at the end, binds the launches.
#include "engine/runtime/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

#include "engine/backend/executable.hpp"
#include "engine/backend/optional_passes.hpp"
#include "engine/backend/plan/copy_elements.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/schedule/fusion.hpp"
#include "engine/runtime/schedule/rematerialization.hpp"

namespace hindcast {

namespace {

bool writes_between(const Calls& calls, std::size_t begin, std::size_t end, const Array& array) {
    return std::any_of(calls.begin() + static_cast<std::ptrdiff_t>(begin),
                       calls.begin() + static_cast<std::ptrdiff_t>(end),
                       [&](const Call& c) { return contains(c.writes, array); });
}

class Planner {
public:
    explicit Planner(Schedule& schedule) : s_(schedule) {}
    void plan();

private:
    using Kept = History::Kept;
    using Constants = std::vector<std::pair<Need, std::uint64_t>>;
    void plan_needs(std::size_t k, const Launch::Replay& replay, const ArraySet& by_events,
                    std::vector<Restore>& restores, Constants* constants);
    void plan_once(Calls& calls, std::size_t k, const ArraySet& later, const ArraySet& by_events,
                   const EventProgram* program);
    History* kept_at(Calls& calls, const Need& need, const std::string& name, std::size_t k,
                     Kept kept, const EventProgram* program = nullptr);
    History* at_step_start(const Array& array);

    Schedule& s_;
    ArraySet made_again_;
};

// The history of what call k of the list sees in an array, saved where that version first appears.
History* Planner::kept_at(Calls& calls, const Need& need, const std::string& name, std::size_t k,
                          Kept kept, const EventProgram* program) {
    std::size_t first = k;
    while (first > 0 && !contains(calls[first - 1].writes, need.array)) --first;
    for (History* h : calls[first].saves)
        if (h->array.same_memory(need.array)) return h;
    s_.histories.push_back({need.array, name, kept, program, {}});
    calls[first].saves.push_back(&s_.histories.back());
    return &s_.histories.back();
}

History* Planner::at_step_start(const Array& array) {
    if (!s_.step.empty())
        for (History* h : s_.step.front().saves)
            if (h->array.same_memory(array)) return h;
    return nullptr;
}

// Plans where call k of the step finds the values that a replay of it reads.
void Planner::plan_needs(std::size_t k, const Launch::Replay& replay, const ArraySet& by_events,
                         std::vector<Restore>& restores, Constants* constants) {
    for (const Need& need : primal_needs(replay)) {
        const std::string& name = replay.kernel().parameter(need.parameter).name;
        const std::size_t at = need.after ? k + 1 : k;  // as this call would find it
        const bool before = writes_between(s_.step, 0, at, need.array),
                   after = writes_between(s_.step, at, s_.step.size(), need.array);
        const bool event = by_events.contains(need.array);
        if (made_again_.contains(need.array)) continue;
        if (!before && !after && !event) {
            if (constants != nullptr) constants->emplace_back(need, 0);
        } else if (before && !after && !event) {  // as the next step finds it
            restores.push_back(
                {need.parameter, kept_at(s_.step, need, name, 0, Kept::per_step), 1});
        } else if (at == s_.step.size()) {
            throw Error("an event changes '" + name + "', which '" + replay.launch().description() +
                        "' leaves at the end of the step")
                .remedy("let a launch of the step follow it, or the event write another array");
        } else {
            restores.push_back(
                {need.parameter, kept_at(s_.step, need, name, at, Kept::per_step), 0});
        }
    }
}

// A call of an event, or (without a program) of the prologue; `later` are the arrays written after
// the list has run. The event before the first step is never recomputed, so it keeps its values.
void Planner::plan_once(Calls& calls, std::size_t k, const ArraySet& later,
                        const ArraySet& by_events, const EventProgram* program) {
    Call& call = calls[k];
    const Kept kept =
        program != nullptr && program->times.front() > 0 ? Kept::per_event : Kept::once;
    for (const Need& need : primal_needs(call.backward)) {
        const std::string& name = call.name_of(need);
        const std::size_t at = need.after ? k + 1 : k;
        History* const shared = program != nullptr && !by_events.contains(need.array)
                                    ? at_step_start(need.array)
                                    : nullptr;
        if (shared != nullptr)
            call.restores.push_back({need.parameter, shared, 0});
        else if (later.contains(need.array) || writes_between(calls, at, calls.size(), need.array))
            call.restores.push_back(
                {need.parameter, kept_at(calls, need, name, at, kept, program), 0});
        else
            call.constants.emplace_back(need, 0);
    }
}

void Planner::plan() {
    const ArraySet by_events = written_by_events(s_);
    ArraySet later = by_events;
    for (const Call& c : s_.step) later.insert(c.writes);
    for (const Call& c : s_.step)
        if (c.made_again) made_again_.insert(c.writes);
    for (std::size_t k = 0; k < s_.step.size(); ++k) {
        Call& call = s_.step[k];
        if (call.made_again) plan_needs(k, call.forward, by_events, call.restores_again, nullptr);
        if (call.differentiable)
            plan_needs(k, call.backward, by_events, call.restores, &call.constants);
    }
    for (EventProgram& program : s_.event_programs)
        for (std::size_t k = 0; k < program.calls.size(); ++k)
            if (program.calls[k].differentiable)
                plan_once(program.calls, k, later, by_events, &program);
    for (std::size_t k = 0; k < s_.prologue.size(); ++k)
        if (s_.prologue[k].differentiable) plan_once(s_.prologue, k, later, by_events, nullptr);
    ArraySet seen;
    s_.each_call([&](Call& call) {
        if (!call.differentiable) return;
        const std::vector<Array>& arrays = call.backward.arrays();
        for (std::size_t p = 0; p < arrays.size(); ++p)
            if (arrays[p] && call.backward.is_gradient(static_cast<int>(p)) &&
                seen.insert(arrays[p]))
                s_.gradients.push_back(arrays[p]);
    });
}

std::int64_t bytes_of(const Array& array) { return static_cast<std::int64_t>(array.bytes()); }

// The demand for memory of the histories, the checkpoints and the derivatives.
MemoryDemand demand_of(Schedule& s) {
    MemoryDemand demand;
    demand.steps = s.steps - s.cut;
    std::map<const EventProgram*, std::int64_t> event_bytes;
    for (const History& h : s.histories) {
        switch (h.kept) {
            case History::Kept::once: demand.fixed += bytes_of(h.array); break;
            case History::Kept::per_step: demand.per_step += bytes_of(h.array); break;
            case History::Kept::per_event: event_bytes[h.program] += bytes_of(h.array);
        }
    }
    for (const SparseHistory& r : s.results)
        demand.per_step += static_cast<std::int64_t>(r.slot_bytes());
    for (const auto& [program, bytes] : event_bytes) {
        MemoryDemand::Events events{bytes, 0, demand.steps};
        std::int64_t before = -1;
        for (const std::int64_t t : program->times) {
            if (t <= s.cut) continue;
            ++events.count;
            if (before >= 0) events.gap = std::min(events.gap, t - before);
            before = t;
        }
        events.gap = std::max<std::int64_t>(events.gap, 1);
        demand.events.push_back(events);
    }
    for (const Array& a : s.state) demand.checkpoint += bytes_of(a);
    for (const Array& a : s.recomputed) demand.if_recomputed += bytes_of(a);
    for (const Array& a : s.derivatives) demand.fixed += bytes_of(a);
    return demand;
}

void find_derivatives(Schedule& s) {
    s.derivatives = s.gradients;
    ArraySet seen;
    s.each_call([&](const Call& call) {
        const ir::Kernel& kernel = call.forward.kernel();
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
            const Array& array = call.forward.arrays()[p];
            if (array && call.forward.is_derivative(static_cast<int>(p)) && seen.insert(array))
                s.derivatives.push_back(array);
        }
    });
}

}  // namespace

ArraySet written_by_events(const Schedule& schedule) {
    ArraySet written;
    for (const EventProgram& program : schedule.event_programs)
        for (const Call& call : program.calls) written.insert(call.writes);
    return written;
}

bool contains(const std::vector<Array>& list, const Array& array) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Array& a) { return a && a.same_memory(array); });
}

// ---------------------------------------------------------------- histories and versions

void History::allocate(const Device& device, std::int64_t slots) {
    const auto count = static_cast<std::size_t>(slots);
    const bool wraps = array.bytes() > 0 && count > SIZE_MAX / array.bytes();
    try {
        memory = {};
        memory = device.allocate(wraps ? SIZE_MAX : array.bytes() * count);
    } catch (Error& e) {
        e.note("to keep '" + name + "', " + std::to_string(array.bytes()) + " bytes, " +
               std::to_string(slots) + " times for the backward pass");
        throw;
    }
}

backend::Copy History::copy(const SlotIndex& at) {
    return {array.binding(), array.components(), ir::size_of(array.type()), slot(at)};
}

void Schedule::allocate(const Device& device, std::int64_t segment) {
    release();
    try {
        for (History& h : histories) {
            std::int64_t slots = 1;
            if (h.kept == History::Kept::per_step) slots = segment + 1;
            if (h.kept == History::Kept::per_event) {
                const std::vector<std::int64_t>& times = h.program->times;
                slots = 0;  // the most in any segment
                std::int64_t in_segment = 0, of = -1;
                for (const std::int64_t t : times) {
                    if (t <= cut) continue;
                    const std::int64_t k = (t - cut - 1) / std::max<std::int64_t>(segment, 1);
                    in_segment = k == of ? in_segment + 1 : 1;
                    of = k;
                    slots = std::max(slots, in_segment);
                }
            }
            h.allocate(device, slots);
            history_bytes += static_cast<std::int64_t>(h.memory.size());
        }
        for (SparseHistory& r : results) {
            r.allocate(segment + 1);
            history_bytes += static_cast<std::int64_t>(r.bytes());
        }
    } catch (...) {
        release();
        throw;
    }
}

void Schedule::release() {
    for (History& h : histories) h.memory = {};
    for (SparseHistory& r : results) r.release();
    history_bytes = 0;
}

void Schedule::move_window(std::int64_t begin) {
    for (SparseHistory& r : results) r.forget();
    for (EventProgram& program : event_programs)
        program.first = std::upper_bound(program.times.begin(), program.times.end(), begin) -
                        program.times.begin();
}

void Schedule::save(const Call& call, const SlotIndex& at, const Device& device) {
    std::array<backend::Copy, 16> some;
    std::size_t count = 0;
    const auto make = [&] {
        backend::copy_out(std::span(some.data(), std::exchange(count, 0)),
                          device.run_options().pool);
    };
    for (History* h : call.saves) {
        if (device.cuda()) {
            device.save(h->array, h->slot(at));
            continue;
        }
        some[count++] = h->copy(at);
        if (count == some.size()) make();
    }
    make();
}

void Schedule::bring_to_host() {
    if (!Memory::any_on_device()) return;
    each_array([](const Array& a) {
        if (a) a.memory().host();
    });
}

void Premises::note(Schedule& schedule, const Array& counter) {
    histories_.clear();
    for (History& h : schedule.histories) histories_.push_back(h.memory.data());
    indices_.note([&](const auto& visit) { schedule.each_array(visit); }, counter);
}

bool Premises::hold(Schedule& schedule) const {
    return std::equal(histories_.begin(), histories_.end(), schedule.histories.begin(),
                      schedule.histories.end(),
                      [](const std::byte* at, History& h) { return at == h.memory.data(); }) &&
           indices_.hold();
}

bool Schedule::out_of_date() {
    bool yes = false;
    each_call(
        [&](const Call& c) { yes |= c.bindings_version != c.forward.launch().bindings_version(); });
    return yes;
}

std::uint64_t Schedule::stamp() const {
    std::uint64_t sum = 0;
    for (const auto& [array, name] : written) sum += array.version();
    return sum;
}

void Schedule::note_constants() {
    each_call([](Call& call) {
        for (auto& [need, version] : call.constants) version = need.array.version();
    });
}

void Schedule::note_inputs() {
    for (Input& input : inputs) input.version = input.array.version();
}

void Schedule::check_constants(const Array& counter, const char* when) {
    const auto check = [&](const Array& array, std::uint64_t version, const std::string& name,
                           const std::string& launch) {
        if (version == array.version() || (counter && array.same_memory(counter))) return;
        throw Error("'" + name + "' was changed " + when)
            .in_kernel(launch)
            .remedy("run forward(true) again before backward(), and change nothing in between");
    };
    each_call([&](const Call& call) {
        for (const auto& [need, version] : call.constants)
            check(need.array, version, call.name_of(need), call.forward.launch().description());
    });
    const bool made_again =
        std::any_of(step.begin(), step.end(), [](const Call& call) { return call.made_again; });
    if (plan.segments > 1 || made_again)
        for (const Input& input : inputs)
            check(input.array, input.version, input.name, input.launch);
}

// ---------------------------------------------------------------- binding

std::unique_ptr<Schedule> make_schedule(const Program& prologue, const Program& step,
                                        std::int64_t steps,
                                        const std::map<std::int64_t, Program>& events,
                                        RolloutMode mode, bool backward, std::int64_t horizon,
                                        const PassSet& on) {
    auto fresh = std::make_unique<Schedule>();
    Schedule& s = *fresh;
    s.steps = steps;
    s.cut = horizon > 0 ? std::max<std::int64_t>(steps - horizon, 0) : 0;
    s.has_backward = backward;
    const Direction forward = mode == RolloutMode::first             ? Direction::forward
                              : mode == RolloutMode::tangent_tangent ? Direction::tangent_tangent
                                                                     : Direction::tangent;
    const Direction reverse =
        mode == RolloutMode::second ? Direction::adjoint_tangent : Direction::adjoint;
    const auto calls = [&](const std::vector<Launch>& launches) {
        Calls list;
        for (const Launch& launch : launches) {
            Call call;
            call.bindings_version = launch.bindings_version();
            call.differentiable = launch.has_derivative();
            call.forward = launch.replay(call.differentiable ? forward : Direction::forward);
            if (backward && call.differentiable) call.backward = launch.replay(reverse);
            call.writes = primal_writes(call.forward);
            list.push_back(std::move(call));
        }
        return list;
    };
    s.prologue = calls(prologue.launches());
    s.step = calls(step.launches());
    // The same launches make the same program; that before the first step stands by itself.
    std::map<std::vector<const void*>, EventProgram*> known;
    for (const auto& [t, program] : events) {
        const std::vector<Launch> launches = program.launches();
        std::vector<const void*> key{t == 0 ? nullptr : &s};
        for (const Launch& launch : launches) key.push_back(&launch.kernel());
        EventProgram*& entry = known[key];
        if (entry == nullptr) {
            entry = &s.event_programs.emplace_back();
            entry->calls = calls(launches);
        }
        s.events[t] = {entry, static_cast<std::int64_t>(entry->times.size())};
        entry->times.push_back(t);
    }
    ArraySet seen;
    s.each_call([&](Call& call) {
        const ir::Kernel& kernel = call.forward.kernel();
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
            const Array& array = call.forward.arrays()[p];
            if (!array || !contains(call.writes, array) || !seen.insert(array)) continue;
            s.written.emplace_back(array, kernel.parameters[p].name);
            if (kernel.parameters[p].access == ir::Access::reduce) s.reduced.push_back(array);
        }
    });
    if (backward) {
        if (on.has(Pass::rematerialization)) rematerialize(s, on.has(Pass::sparse_history));
        Planner(s).plan();
        find_what_is_recomputed(s);
        find_derivatives(s);
        s.demand = demand_of(s);
    }
    if (on.has(Pass::fusion)) {
        fuse_calls(s.prologue, backward);
        fuse_calls(s.step, backward);
        for (EventProgram& program : s.event_programs) fuse_calls(program.calls, backward);
    }
    return fresh;
}

}  // namespace hindcast
