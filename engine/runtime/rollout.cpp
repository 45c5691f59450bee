#include "engine/runtime/rollout.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>

#include "engine/runtime/schedule.hpp"

namespace hindcast {

Schedule& Rollout::schedule(RolloutMode mode, bool backward) {
    std::unique_ptr<Schedule>& entry = schedules_[mode];
    if (!entry || (backward && !entry->has_backward) || entry->out_of_date())
        entry = make_schedule(parts_.prologue, parts_.step, parts_.steps, parts_.events, mode,
                              backward);
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
