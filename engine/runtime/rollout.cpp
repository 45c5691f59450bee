#include "engine/runtime/rollout.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <set>

#include "engine/base/aligned.hpp"

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

// One version of one array: kept in every step, or once.
struct History {
    Array array;
    bool per_step = false;
    AlignedBuffer<std::byte> memory;

    History(const Array& a, const std::string& name, std::int64_t slots)
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
    std::byte* slot(std::int64_t t) {
        return memory.data() + (per_step ? static_cast<std::size_t>(t) * array.bytes() : 0);
    }
};

// Where one parameter of an adjoint finds the old value.
struct Restore {
    int parameter = 0;
    History* history = nullptr;
    std::int64_t offset = 0;  // slot = step + offset
};

struct Call {
    Launch::Replay forward, backward;
    bool differentiable = true;  // false: nothing that varies is involved, backward passes over it
    std::uint64_t bindings_version = 0;
    std::vector<Array> writes;
    std::vector<History*> saves;  // to be filled just before the launch
    std::vector<Restore> restores;
    std::vector<std::pair<Need, std::uint64_t>>
        constants;  // never written by the program, with their versions
    double forward_seconds = 0, backward_seconds = 0;
    std::int64_t forward_runs = 0, backward_runs = 0;

    const std::string& name_of(const Need& need) const {
        return backward.kernel().parameter(need.parameter).name;
    }
};
using Calls = std::vector<Call>;
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

}  // namespace

struct Rollout::Schedule {
    Calls prologue, step;
    std::map<std::int64_t, Calls> events;
    std::deque<History> histories;
    std::vector<Array> gradients, reduced;
    std::vector<std::pair<Array, std::string>>
        written;  // by the program, with a parameter bound to it
    std::int64_t steps = 0;
    bool has_backward = false;
    bool kept = false;  // the last forward run stored what backward needs
    std::int64_t kept_steps = 0;

    template <class F>
    void each_call(F f) {
        for (Call& c : prologue) f(c);
        for (Call& c : step) f(c);
        for (auto& [t, calls] : events)
            for (Call& c : calls) f(c);
    }

    bool out_of_date() {
        bool yes = false;
        each_call([&](const Call& c) {
            yes |= c.bindings_version != c.forward.launch().bindings_version();
        });
        return yes;
    }
    std::uint64_t stamp() const {  // changes whenever something that the program writes does
        std::uint64_t sum = 0;
        for (const auto& [array, name] : written) sum += array.version();
        return sum;
    }

    void plan();
    void plan_step(std::size_t k, const Arrays& by_events);
    void plan_once(Calls& calls, std::size_t k, const Arrays& later, const Arrays& by_events,
                   bool is_event);
    History* kept_at(Calls& calls, const Need& need, std::size_t k, std::int64_t slots);
    History* at_step_start(const Array& array);
    void save(Call& call, std::int64_t t, ThreadPool* pool) {
        for (History* h : call.saves)
            copy_bytes(h->slot(t), h->array.data(), h->array.bytes(), pool);
    }
    void note_constants();
    void check_constants(const Array& counter, const char* when);
};

// ---------------------------------------------------------------- what must be kept

// The history of what call k of the list sees in an array, saved where that version first appears.
History* Rollout::Schedule::kept_at(Calls& calls, const Need& need, std::size_t k,
                                    std::int64_t slots) {
    std::size_t first = k;
    while (first > 0 && !contains(calls[first - 1].writes, need.array)) --first;
    for (History* h : calls[first].saves)
        if (h->array.same_memory(need.array)) return h;
    histories.emplace_back(need.array, calls[k].name_of(need), slots);
    calls[first].saves.push_back(&histories.back());
    return &histories.back();
}

History* Rollout::Schedule::at_step_start(const Array& array) {
    if (!step.empty())
        for (History* h : step.front().saves)
            if (h->array.same_memory(array)) return h;
    return nullptr;
}

void Rollout::Schedule::plan_step(std::size_t k, const Arrays& by_events) {
    Call& call = step[k];
    for (const Need& need : primal_needs(call.backward)) {
        const bool before = writes_between(step, 0, k, need.array),
                   after = writes_between(step, k, step.size(), need.array);
        const bool event = contains(by_events, need.array);
        if (!before && !after && !event) {
            call.constants.emplace_back(need, 0);
        } else if (before && !after && !event) {  // as the next step finds it
            call.restores.push_back({need.parameter, kept_at(step, need, 0, steps + 1), 1});
        } else {
            call.restores.push_back({need.parameter, kept_at(step, need, k, steps + 1), 0});
        }
    }
}

// A call of the prologue or of an event; `later` is what is written after the list has run.
void Rollout::Schedule::plan_once(Calls& calls, std::size_t k, const Arrays& later,
                                  const Arrays& by_events, bool is_event) {
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

void Rollout::Schedule::plan() {
    Arrays by_step, by_events;
    for (const Call& c : step)
        for (const Array& a : c.writes) by_step.insert(a.version_counter());
    for (const auto& [t, calls] : events)
        for (const Call& c : calls)
            for (const Array& a : c.writes) by_events.insert(a.version_counter());
    Arrays later = by_step;
    later.insert(by_events.begin(), by_events.end());
    for (std::size_t k = 0; k < step.size(); ++k)
        if (step[k].differentiable) plan_step(k, by_events);
    for (auto& [t, calls] : events)
        for (std::size_t k = 0; k < calls.size(); ++k)
            if (calls[k].differentiable) plan_once(calls, k, later, by_events, true);
    for (std::size_t k = 0; k < prologue.size(); ++k)
        if (prologue[k].differentiable) plan_once(prologue, k, later, by_events, false);
    std::set<const void*> seen;
    each_call([&](Call& call) {
        if (!call.differentiable) return;
        const std::vector<Array>& arrays = call.backward.arrays();
        for (std::size_t p = 0; p < arrays.size(); ++p)
            if (arrays[p] && call.backward.is_gradient(static_cast<int>(p)) &&
                seen.insert(arrays[p].version_counter()).second)
                gradients.push_back(arrays[p]);
    });
}

void Rollout::Schedule::note_constants() {
    each_call([](Call& call) {
        for (auto& [need, version] : call.constants) version = need.array.version();
    });
}

void Rollout::Schedule::check_constants(const Array& counter, const char* when) {
    each_call([&](const Call& call) {
        for (const auto& [need, version] : call.constants)
            if (version != need.array.version() && !(counter && need.array.same_memory(counter)))
                throw Error("'" + call.name_of(need) + "' was changed " + when)
                    .in_kernel(call.forward.launch().description())
                    .remedy(
                        "run forward(true) again before backward(), and change nothing in between");
    });
}

Rollout::Schedule& Rollout::schedule(RolloutMode mode, bool backward) {
    std::unique_ptr<Schedule>& entry = schedules_[mode];
    if (entry && (entry->has_backward || !backward) && !entry->out_of_date()) return *entry;
    auto fresh = std::make_unique<Schedule>();
    Schedule& s = *fresh;
    s.steps = parts_.steps;
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
    s.prologue = calls(parts_.prologue);
    s.step = calls(parts_.step);
    for (const auto& [t, program] : parts_.events) s.events[t] = calls(program);
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
    if (backward) s.plan();
    entry = std::move(fresh);
    return *entry;
}

// ---------------------------------------------------------------- running

Rollout::Rollout(std::shared_ptr<Device> device, Parts parts)
    : device_(std::move(device)), parts_(std::move(parts)) {
    if (!device_) throw Error("a roll-out needs a device");
    if (parts_.steps < 0)
        throw Error("a roll-out of " + std::to_string(parts_.steps) + " steps is not possible");
    for (const auto& [t, program] : parts_.events)
        if (t < 0 || t > parts_.steps)
            throw Error("an event after step " + std::to_string(t) + " of a roll-out of " +
                        std::to_string(parts_.steps) + " steps");
}

Rollout::~Rollout() = default;
Rollout::Rollout(Rollout&&) noexcept = default;
Rollout& Rollout::operator=(Rollout&&) noexcept = default;

void Rollout::set_step_counter(const Array& counter) {
    if (counter.type() != ir::Type::i32 || counter.size() != 1)
        throw Error("a step counter is one i32")
            .remedy("make it with Rollout::make_step_counter()");
    if (parts_.steps > std::numeric_limits<std::int32_t>::max())
        throw Error("a roll-out of " + std::to_string(parts_.steps) +
                    " steps is too long for a step counter");
    counter_ = counter;
}

namespace {
class Clock {
public:
    Clock(bool on, double& seconds, std::int64_t& runs) : seconds_(on ? &seconds : nullptr) {
        if (on) {
            ++runs;
            start_ = std::chrono::steady_clock::now();
        }
    }
    ~Clock() {
        if (seconds_ != nullptr)
            *seconds_ +=
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    double* seconds_;
    std::chrono::steady_clock::time_point start_;
};

void set_counter(const Array& counter, std::int64_t step) {
    if (!counter) return;
    *static_cast<std::int32_t*>(counter.data()) = static_cast<std::int32_t>(step);
    counter.touch();
}
}  // namespace

std::int64_t Rollout::forward(bool keep, const Watch& watch, RolloutMode mode) {
    Schedule& s = schedule(mode, keep);
    ThreadPool* pool = device_->run_options().pool;
    s.kept = false;
    const auto run = [&](Calls& calls, std::int64_t t) {
        for (Call& call : calls) {
            if (keep) s.save(call, t, pool);
            const Clock clock(profiling_, call.forward_seconds, call.forward_runs);
            call.forward.run();
        }
    };
    const auto run_events = [&](std::int64_t t) {
        set_counter(counter_, t);
        if (const auto found = s.events.find(t); found != s.events.end()) run(found->second, t);
    };
    const auto goes_on = [&](std::int64_t t) {
        if (!watch) return true;
        const std::uint64_t before = keep ? s.stamp() : 0;
        const bool yes = watch(t);
        if (keep && s.stamp() != before)
            throw Error(
                "the watch of a roll-out changed an array that the program works on, after step " +
                std::to_string(t))
                .remedy(
                    "a watch only looks; to change the state, stop and start another run, or run "
                    "without keeping values");
        return yes;
    };
    for (const Array& a : s.reduced) a.clear();
    set_counter(counter_, 0);
    run(s.prologue, 0);
    if (keep) s.note_constants();
    run_events(0);
    std::int64_t t = 0;
    for (bool go_on = goes_on(0); t < s.steps && go_on; go_on = goes_on(t)) {
        run(s.step, t);
        run_events(++t);
    }
    if (keep) {
        s.check_constants(counter_, "while the roll-out ran");
        if (!s.step.empty()) s.save(s.step.front(), t, pool);
        s.kept = true;
        s.kept_steps = t;
    }
    return t;
}

void Rollout::backward(const std::vector<Seed>& seeds, RolloutMode mode) {
    Schedule& s = schedule(mode, true);
    if (!s.kept)
        throw Error("backward() without a forward run that kept its values")
            .remedy("call forward(true) first");
    s.check_constants(counter_, "between forward and backward");
    for (const Array& g : s.gradients) g.clear();
    for (const Seed& seed : seeds) seed.of.gradient().fill(seed.value);
    struct Unbind {  // the launches may be used elsewhere, and outlive the histories
        Schedule& schedule;
        ~Unbind() {
            schedule.each_call([](const Call& call) {
                for (const Restore& r : call.restores)
                    call.backward.bind_memory(r.parameter, nullptr);
            });
        }
    } const unbind{s};
    const auto run = [&](Calls& calls, std::int64_t t) {
        for (std::size_t k = calls.size(); k-- > 0;) {
            Call& call = calls[k];
            if (!call.differentiable) continue;
            for (const auto& [need, version] : call.constants)
                call.backward.bind_memory(need.parameter, nullptr);
            for (const Restore& r : call.restores)
                call.backward.bind_memory(r.parameter, r.history->slot(t + r.offset));
            const Clock clock(profiling_, call.backward_seconds, call.backward_runs);
            call.backward.run();
        }
    };
    const auto run_events = [&](std::int64_t t) {
        set_counter(counter_, t);
        if (const auto found = s.events.find(t); found != s.events.end()) run(found->second, t);
    };
    run_events(s.kept_steps);
    for (std::int64_t t = s.kept_steps - 1; t >= 0; --t) {
        set_counter(counter_, t);
        run(s.step, t);
        run_events(t);
    }
    run(s.prologue, 0);
    s.check_constants(counter_, "by an adjoint that adds to it");
}

void Rollout::profile(bool on) { profiling_ = on; }

std::vector<Rollout::Profile> Rollout::profiles() const {
    std::map<std::pair<std::string, Direction>, Profile> sums;
    for (const auto& [mode, s] : schedules_)
        s->each_call([&](Call& call) {
            const auto add = [&](const Launch::Replay& replay, std::int64_t runs, double seconds) {
                Profile& p = sums[{call.forward.launch().description(), replay.direction()}];
                p.launch = call.forward.launch().description();
                p.direction = replay.direction();
                p.runs += runs;
                p.seconds += seconds;
            };
            if (call.forward_runs > 0) add(call.forward, call.forward_runs, call.forward_seconds);
            if (call.backward_runs > 0)
                add(call.backward, call.backward_runs, call.backward_seconds);
        });
    std::vector<Profile> list;
    for (auto& [key, p] : sums) list.push_back(p);
    std::sort(list.begin(), list.end(),
              [](const Profile& a, const Profile& b) { return a.seconds > b.seconds; });
    return list;
}

std::int64_t Rollout::kept_bytes() const {
    std::int64_t bytes = 0;
    if (const auto found = schedules_.find(RolloutMode::first); found != schedules_.end())
        for (const History& h : found->second->histories)
            bytes += static_cast<std::int64_t>(h.memory.size());
    return bytes;
}

std::int64_t Rollout::steps() const { return parts_.steps; }
std::size_t Rollout::launches_per_step() const { return parts_.step.launches().size(); }

}  // namespace hindcast
