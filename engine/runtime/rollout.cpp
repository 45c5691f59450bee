#include "engine/runtime/rollout.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

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
        std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, std::min(copy_chunk, bytes - begin));
    });
}

// One version of one array, kept for every step (or once).
struct History {
    Array array;
    std::size_t before = 0;  // saved just before this launch of the step; 0 also stands for the start of the step
    std::size_t slots = 0;
    AlignedBuffer<std::byte> memory;

    std::byte* slot(std::int64_t t) { return memory.data() + static_cast<std::size_t>(t) * array.bytes(); }
};

// Where one parameter of one adjoint launch finds the old value.
struct Restore {
    int parameter = 0;
    int history = -1;
    std::int64_t offset = 0;  // slot = step + offset
};

struct Call {
    Launch::Replay forward, backward;
    bool differentiable = true;  // false: nothing that varies is involved, backward passes over it
    std::vector<Restore> restores;
    std::vector<std::pair<Need, std::uint64_t>> constants;  // never written by the program: must not change meanwhile
    double forward_seconds = 0, backward_seconds = 0;
    std::int64_t forward_runs = 0, backward_runs = 0;
};

std::int64_t count_writes(const std::vector<Call>& calls, const Array& array, std::size_t end) {
    std::int64_t n = 0;
    for (std::size_t k = 0; k < end; ++k)
        for (const Array& w : primal_writes(calls[k].forward)) n += w.same_memory(array);
    return n;
}

}  // namespace

struct Rollout::Schedule {
    std::vector<Call> prologue, step;
    std::map<std::int64_t, std::vector<Call>> events;
    std::vector<History> step_histories, prologue_histories;
    std::vector<std::vector<int>> saves_before;  // per launch of the step: histories to save just before it
    std::vector<Array> gradients, reduced;
    std::int64_t steps = 0;
    bool has_backward = false;
    bool kept = false;          // the last forward run stored what backward needs
    std::int64_t kept_steps = 0;

    template <class F>
    void each_call(F f) {
        for (Call& c : prologue) f(c);
        for (Call& c : step) f(c);
        for (auto& [t, calls] : events)
            for (Call& c : calls) f(c);
    }

    int step_history(const Array& array, std::size_t before) {
        for (std::size_t h = 0; h < step_histories.size(); ++h)
            if (step_histories[h].array.same_memory(array) && step_histories[h].before == before) return static_cast<int>(h);
        step_histories.push_back({array, before, static_cast<std::size_t>(steps) + 1, {}});
        return static_cast<int>(step_histories.size()) - 1;
    }

    void plan();
    void plan_step_call(std::size_t k);
    void save(std::vector<History>& histories, int h, std::int64_t slot, ThreadPool* pool) {
        History& history = histories[static_cast<std::size_t>(h)];
        copy_bytes(history.slot(slot), history.array.data(), history.array.bytes(), pool);
    }
};

// ---------------------------------------------------------------- what must be kept

void Rollout::Schedule::plan_step_call(std::size_t k) {
    Call& call = step[k];
    if (!call.differentiable) return;
    for (const Need& need : primal_needs(call.backward)) {
        const std::int64_t all = count_writes(step, need.array, step.size()), before = count_writes(step, need.array, k);
        if (all == 0) {
            call.constants.emplace_back(need, 0);
        } else if (before == 0) {
            call.restores.push_back({need.parameter, step_history(need.array, 0), 0});
        } else if (before == all) {  // as the next step finds it
            call.restores.push_back({need.parameter, step_history(need.array, 0), 1});
        } else {
            std::size_t first = k;  // the first launch that sees this version
            while (first > 0 && count_writes(step, need.array, first - 1) == before) --first;
            call.restores.push_back({need.parameter, step_history(need.array, std::max<std::size_t>(first, 1)), 0});
        }
    }
}

void Rollout::Schedule::plan() {
    for (std::size_t k = 0; k < step.size(); ++k) plan_step_call(k);
    for (auto& [t, calls] : events)
        for (Call& call : calls) {
            if (!call.differentiable) continue;
            for (const Need& need : primal_needs(call.backward)) {
                if (count_writes(calls, need.array, calls.size()) > 0)
                    throw Error("an objective term overwrites '" + call.backward.kernel().parameter(need.parameter).name + "', which its adjoint needs")
                        .in_kernel(call.forward.launch().description());
                if (count_writes(step, need.array, step.size()) == 0) call.constants.emplace_back(need, 0);
                else call.restores.push_back({need.parameter, step_history(need.array, 0), 0});
            }
        }
    for (std::size_t k = 0; k < prologue.size(); ++k) {
        if (!prologue[k].differentiable) continue;
        for (const Need& need : primal_needs(prologue[k].backward)) {
            const bool later = count_writes(prologue, need.array, prologue.size()) > count_writes(prologue, need.array, k) ||
                               count_writes(step, need.array, step.size()) > 0;
            if (!later) {
                prologue[k].constants.emplace_back(need, 0);
                continue;
            }
            prologue[k].restores.push_back({need.parameter, static_cast<int>(prologue_histories.size()), 0});
            prologue_histories.push_back({need.array, k, 1, {}});
        }
    }
    saves_before.assign(step.size() + 1, {});
    for (std::size_t h = 0; h < step_histories.size(); ++h) saves_before[step_histories[h].before].push_back(static_cast<int>(h));
    for (auto* histories : {&step_histories, &prologue_histories})
        for (History& h : *histories) h.memory = AlignedBuffer<std::byte>(h.array.bytes() * h.slots);
    each_call([&](Call& call) {
        if (!call.differentiable) return;
        const ir::Kernel& kernel = call.backward.kernel();
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
            const Array& array = call.backward.arrays()[p];
            if (!array || kernel.parameters[p].name.find(".a") == std::string::npos) continue;
            if (std::none_of(gradients.begin(), gradients.end(), [&](const Array& g) { return g.same_memory(array); })) gradients.push_back(array);
        }
    });
}

Rollout::Schedule& Rollout::schedule(RolloutMode mode, bool backward) {
    std::unique_ptr<Schedule>& entry = schedules_[mode];
    if (entry && (entry->has_backward || !backward)) return *entry;
    entry = std::make_unique<Schedule>();
    Schedule& s = *entry;
    s.steps = parts_.steps;
    s.has_backward = backward;
    const Direction forward = mode == RolloutMode::first ? Direction::forward : Direction::tangent;
    const Direction reverse = mode == RolloutMode::second ? Direction::adjoint_tangent : Direction::adjoint;
    const auto calls = [&](const Program& program) {
        std::vector<Call> list;
        for (const Launch& launch : program.launches()) {
            Call call;
            call.differentiable = launch.has_derivative();
            call.forward = launch.replay(call.differentiable ? forward : Direction::forward);
            if (backward && call.differentiable) call.backward = launch.replay(reverse);
            list.push_back(std::move(call));
        }
        return list;
    };
    s.prologue = calls(parts_.prologue);
    s.step = calls(parts_.step);
    for (const auto& [t, program] : parts_.events) s.events[t] = calls(program);
    s.each_call([&](Call& call) {
        const ir::Kernel& kernel = call.forward.kernel();
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p)
            if (kernel.parameters[p].access == ir::Access::reduce && call.forward.arrays()[p]) s.reduced.push_back(call.forward.arrays()[p]);
    });
    if (backward) s.plan();
    return s;
}

// ---------------------------------------------------------------- running

Rollout::Rollout(std::shared_ptr<Device> device, Parts parts) : device_(std::move(device)), parts_(std::move(parts)) {
    if (parts_.steps < 0) throw Error("a roll-out of " + std::to_string(parts_.steps) + " steps is not possible");
    for (const auto& [t, program] : parts_.events)
        if (t < 0 || t > parts_.steps) throw Error("an event after step " + std::to_string(t) + " of a roll-out of " + std::to_string(parts_.steps) + " steps");
}

Rollout::~Rollout() = default;

void Rollout::set_step_counter(const Array& counter) { counter_ = counter; }

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
        if (seconds_ != nullptr) *seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
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
    const auto run = [&](Call& call) {
        const Clock clock(profiling_, call.forward_seconds, call.forward_runs);
        call.forward.run();
    };
    for (const Array& a : s.reduced) a.clear();
    for (std::size_t k = 0; k < s.prologue.size(); ++k) {
        if (keep)
            for (std::size_t h = 0; h < s.prologue_histories.size(); ++h)
                if (s.prologue_histories[h].before == k) s.save(s.prologue_histories, static_cast<int>(h), 0, pool);
        run(s.prologue[k]);
    }
    const auto run_events = [&](std::int64_t t) {
        if (const auto found = s.events.find(t); found != s.events.end())
            for (Call& call : found->second) run(call);
    };
    run_events(0);
    std::int64_t t = 0;
    bool go_on = !watch || watch(0);
    for (; t < s.steps && go_on; ++t) {
        set_counter(counter_, t);
        for (std::size_t k = 0; k < s.step.size(); ++k) {
            if (keep)
                for (const int h : s.saves_before[k]) s.save(s.step_histories, h, t, pool);
            run(s.step[k]);
        }
        run_events(t + 1);
        go_on = !watch || watch(t + 1);
    }
    if (keep) {
        for (std::size_t h = 0; h < s.step_histories.size(); ++h)
            if (s.step_histories[h].before == 0) s.save(s.step_histories, static_cast<int>(h), t, pool);
        s.each_call([](Call& call) {
            for (auto& [need, version] : call.constants) version = need.array.version();
        });
        s.kept = true;
        s.kept_steps = t;
    }
    return t;
}

void Rollout::backward(const std::vector<Seed>& seeds, RolloutMode mode) {
    Schedule& s = schedule(mode, true);
    if (!s.kept) throw Error("backward() without a forward run that kept its values").remedy("call forward(true) first");
    s.each_call([&](Call& call) {
        for (const auto& [need, version] : call.constants)
            if (version != need.array.version() && !(counter_ && need.array.same_memory(counter_)))
                throw Error("'" + call.backward.kernel().parameter(need.parameter).name + "' was changed between forward and backward")
                    .in_kernel(call.forward.launch().description())
                    .remedy("run forward(true) again before backward()");
    });
    for (const Array& g : s.gradients) g.clear();
    for (const Seed& seed : seeds) seed.of.gradient().fill(seed.value);
    const auto run = [&](Call& call, std::vector<History>& histories, std::int64_t t) {
        if (!call.differentiable) return;
        for (const Restore& r : call.restores)
            call.backward.bind_memory(r.parameter, histories[static_cast<std::size_t>(r.history)].slot(t + r.offset));
        const Clock clock(profiling_, call.backward_seconds, call.backward_runs);
        call.backward.run();
    };
    const auto run_events = [&](std::int64_t t) {
        if (const auto found = s.events.find(t); found != s.events.end())
            for (std::size_t k = found->second.size(); k-- > 0;) run(found->second[k], s.step_histories, t);
    };
    run_events(s.kept_steps);
    for (std::int64_t t = s.kept_steps - 1; t >= 0; --t) {
        set_counter(counter_, t);
        for (std::size_t k = s.step.size(); k-- > 0;) run(s.step[k], s.step_histories, t);
        run_events(t);
    }
    for (std::size_t k = s.prologue.size(); k-- > 0;) run(s.prologue[k], s.prologue_histories, 0);
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
            if (call.backward_runs > 0) add(call.backward, call.backward_runs, call.backward_seconds);
        });
    std::vector<Profile> list;
    for (auto& [key, p] : sums) list.push_back(p);
    std::sort(list.begin(), list.end(), [](const Profile& a, const Profile& b) { return a.seconds > b.seconds; });
    return list;
}

std::int64_t Rollout::kept_bytes() const {
    std::int64_t bytes = 0;
    if (const auto found = schedules_.find(RolloutMode::first); found != schedules_.end())
        for (const auto* histories : {&found->second->step_histories, &found->second->prologue_histories})
            for (const History& h : *histories) bytes += static_cast<std::int64_t>(h.memory.size());
    return bytes;
}

std::int64_t Rollout::steps() const { return parts_.steps; }
std::size_t Rollout::launches_per_step() const { return parts_.step.launches().size(); }

}  // namespace hindcast
