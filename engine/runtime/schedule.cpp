// Planner finds what must be kept: for every value that an adjoint reads, whether it stays as it is
// or in which history it lies. make_schedule(), at the end, binds the launches.
#include "engine/runtime/schedule.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace hindcast {

namespace {

constexpr std::size_t copy_chunk = 256 * 1024;  // bytes; smaller copies stay on the caller

void copy_bytes(void* to, const void* from, std::size_t bytes, ThreadPool* pool) {
    const std::size_t chunks = (bytes + copy_chunk - 1) / copy_chunk;
    if (chunks <= 1 || pool == nullptr || pool->threads() == 1) {
        if (bytes > 0) std::memcpy(to, from, bytes);
        return;
    }
    pool->run(static_cast<int>(chunks), [&](int c) {
        const std::size_t begin = static_cast<std::size_t>(c) * copy_chunk;
        std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                    std::min(copy_chunk, bytes - begin));
    });
}

using Arrays = std::set<const void*>;  // by their version counters

bool contains(const std::vector<Array>& list, const Array& array) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Array& a) { return a.same_memory(array); });
}
bool contains(const Arrays& set, const Array& array) {
    return set.contains(array.version_counter());
}

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
    void plan_step(std::size_t k, const Arrays& by_events);
    void plan_once(Calls& calls, std::size_t k, const Arrays& later, const Arrays& by_events,
                   bool is_event);
    History* kept_at(Calls& calls, const Need& need, std::size_t k, std::int64_t slots);
    History* at_step_start(const Array& array);

    Schedule& s_;
};

// The history of what call k of the list sees in an array, saved where that version first appears.
History* Planner::kept_at(Calls& calls, const Need& need, std::size_t k, std::int64_t slots) {
    std::size_t first = k;
    while (first > 0 && !contains(calls[first - 1].writes, need.array)) --first;
    for (History* h : calls[first].saves)
        if (h->array.same_memory(need.array)) return h;
    s_.histories.emplace_back(need.array, calls[k].name_of(need), slots);
    calls[first].saves.push_back(&s_.histories.back());
    return &s_.histories.back();
}

History* Planner::at_step_start(const Array& array) {
    if (!s_.step.empty())
        for (History* h : s_.step.front().saves)
            if (h->array.same_memory(array)) return h;
    return nullptr;
}

void Planner::plan_step(std::size_t k, const Arrays& by_events) {
    Call& call = s_.step[k];
    for (const Need& need : primal_needs(call.backward)) {
        const bool before = writes_between(s_.step, 0, k, need.array),
                   after = writes_between(s_.step, k, s_.step.size(), need.array);
        const bool event = contains(by_events, need.array);
        if (!before && !after && !event) {
            call.constants.emplace_back(need, 0);
        } else if (before && !after && !event) {  // as the next step finds it
            call.restores.push_back({need.parameter, kept_at(s_.step, need, 0, s_.steps + 1), 1});
        } else {
            call.restores.push_back({need.parameter, kept_at(s_.step, need, k, s_.steps + 1), 0});
        }
    }
}

// A call of the prologue or of an event; `later` is what is written after the list has run.
void Planner::plan_once(Calls& calls, std::size_t k, const Arrays& later, const Arrays& by_events,
                        bool is_event) {
    Call& call = calls[k];
    for (const Need& need : primal_needs(call.backward)) {
        History* const shared =
            is_event && !contains(by_events, need.array) ? at_step_start(need.array) : nullptr;
        if (shared != nullptr)
            call.restores.push_back({need.parameter, shared, 0});
        else if (contains(later, need.array) || writes_between(calls, k, calls.size(), need.array))
            call.restores.push_back({need.parameter, kept_at(calls, need, k, 1), 0});
        else
            call.constants.emplace_back(need, 0);
    }
}

void Planner::plan() {
    Arrays by_step, by_events;
    for (const Call& c : s_.step)
        for (const Array& a : c.writes) by_step.insert(a.version_counter());
    for (const auto& [t, calls] : s_.events)
        for (const Call& c : calls)
            for (const Array& a : c.writes) by_events.insert(a.version_counter());
    Arrays later = by_step;
    later.insert(by_events.begin(), by_events.end());
    for (std::size_t k = 0; k < s_.step.size(); ++k)
        if (s_.step[k].differentiable) plan_step(k, by_events);
    for (auto& [t, calls] : s_.events)
        for (std::size_t k = 0; k < calls.size(); ++k)
            if (calls[k].differentiable) plan_once(calls, k, later, by_events, true);
    for (std::size_t k = 0; k < s_.prologue.size(); ++k)
        if (s_.prologue[k].differentiable) plan_once(s_.prologue, k, later, by_events, false);
    std::set<const void*> seen;
    s_.each_call([&](Call& call) {
        if (!call.differentiable) return;
        const std::vector<Array>& arrays = call.backward.arrays();
        for (std::size_t p = 0; p < arrays.size(); ++p)
            if (arrays[p] && call.backward.is_gradient(static_cast<int>(p)) &&
                seen.insert(arrays[p].version_counter()).second)
                s_.gradients.push_back(arrays[p]);
    });
}

}  // namespace

// ---------------------------------------------------------------- histories and versions

History::History(const Array& a, const std::string& name, std::int64_t slots)
    : array(a), per_step(slots > 1) {
    const auto count = static_cast<std::size_t>(slots);
    const bool wraps = array.bytes() > 0 && count > SIZE_MAX / array.bytes();
    try {
        memory = AlignedBuffer<std::byte>(wraps ? SIZE_MAX : array.bytes() * count);
    } catch (Error& e) {
        e.note("to keep '" + name + "', " + std::to_string(array.bytes()) + " bytes, " +
               std::to_string(slots) + " times for the backward pass");
        throw;
    }
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

void Schedule::save(Call& call, std::int64_t t, ThreadPool* pool) {
    for (History* h : call.saves) copy_bytes(h->slot(t), h->array.data(), h->array.bytes(), pool);
}

void Schedule::note_constants() {
    each_call([](Call& call) {
        for (auto& [need, version] : call.constants) version = need.array.version();
    });
}

void Schedule::check_constants(const Array& counter, const char* when) {
    each_call([&](const Call& call) {
        for (const auto& [need, version] : call.constants)
            if (version != need.array.version() && !(counter && need.array.same_memory(counter)))
                throw Error("'" + call.name_of(need) + "' was changed " + when)
                    .in_kernel(call.forward.launch().description())
                    .remedy(
                        "run forward(true) again before backward(), and change nothing in between");
    });
}

// ---------------------------------------------------------------- binding

std::unique_ptr<Schedule> make_schedule(const Program& prologue, const Program& step,
                                        std::int64_t steps,
                                        const std::map<std::int64_t, Program>& events,
                                        RolloutMode mode, bool backward) {
    auto fresh = std::make_unique<Schedule>();
    Schedule& s = *fresh;
    s.steps = steps;
    s.has_backward = backward;
    const Direction forward = mode == RolloutMode::first ? Direction::forward : Direction::tangent;
    const Direction reverse =
        mode == RolloutMode::second ? Direction::adjoint_tangent : Direction::adjoint;
    const auto calls = [&](const Program& program) {
        Calls list;
        for (const Launch& launch : program.launches()) {
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
    s.prologue = calls(prologue);
    s.step = calls(step);
    for (const auto& [t, program] : events) s.events[t] = calls(program);
    std::set<const void*> seen;
    s.each_call([&](Call& call) {
        const ir::Kernel& kernel = call.forward.kernel();
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
            const Array& array = call.forward.arrays()[p];
            if (!array || !contains(call.writes, array) ||
                !seen.insert(array.version_counter()).second)
                continue;
            s.written.emplace_back(array, kernel.parameters[p].name);
            if (kernel.parameters[p].access == ir::Access::reduce) s.reduced.push_back(array);
        }
    });
    if (backward) Planner(s).plan();
    return fresh;
}

}  // namespace hindcast
