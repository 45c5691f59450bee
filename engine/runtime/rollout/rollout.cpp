// forward() and backward(); what they keep and how they get at it is Recording's (recording.hpp).
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "engine/backend/jit/interruption.hpp"
#include "engine/runtime/rollout/work.hpp"

namespace hindcast {

// ---------------------------------------------------------------- running

// The executor of whole runs; nullptr: launch by launch.
Executor* Rollout::Work::executor(ModeState& m) {
    if (!steps.device->cuda()) return steps.whole(m);
    if (steps.launches.profiles()) return nullptr;
    if (!m.graphs)
        m.graphs = std::make_unique<GraphExecutor>(*m.schedule, m.recording, modes.counter(),
                                                   *steps.device, follower(m.mode));
    return m.graphs.get();
}

std::string Rollout::Work::whole_program_report() const {
    const ModeState* const found = modes.find(RolloutMode::first);
    if (found == nullptr) return "";
    const ModeState& m = *found;
    const Executor* const whole =
        m.graphs ? static_cast<const Executor*>(m.graphs.get()) : m.whole.get();
    std::string text;
    if (whole != nullptr)
        text = "forward " + whole->report(RunKind::forward) + "; forward with history " +
               whole->report(RunKind::recording) + "; backward " + whole->report(RunKind::back);
    if (m.graphs == nullptr && m.steps != nullptr)
        text += (text.empty() ? "a step: forward " : "; a step: forward ") +
                m.steps->report(RunKind::forward) + ", with history " +
                m.steps->report(RunKind::recording) + ", backward " +
                m.steps->report(RunKind::back);
    return text;
}

std::int64_t Rollout::Work::forward(bool keep, const Watch& watch, RolloutMode mode) {
    ModeState& m = keep ? modes.allocated(mode) : modes.mode_for(mode, false);
    Schedule& s = *m.schedule;
    m.recording.forget();
    if (m.rotation) m.rotation->forget();
    const auto events = [&](std::int64_t t, bool record) {
        steps.launches.set_counter(t);
        if (const Schedule::Event* const event = s.event(t))
            steps.run_event(m, *event, record ? RunKind::recording : RunKind::forward, t,
                            m.recording.moment(t, event));
    };
    const auto goes_on = [&](std::int64_t t) {
        backend::interruption_point();
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
    steps.finite.forget();
    FunctionExecutor* const functions = keep ? steps.step_functions(m) : nullptr;
    const RunKind kind = keep ? RunKind::recording : RunKind::forward;
    std::int64_t done = 0;
    const auto launches = [&] {
        if (keep) m.recording.begin();
        for (const Array& a : s.reduced) a.clear();
        steps.finite.clear_flags();
        steps.launches.run(m.timeline.prologue(kind), 0, {});
        if (keep) s.note_constants();
        std::int64_t t = 0;
        if (const State* const from = start()) {
            t = from->step;
            steps.launches.set_counter(t);
            for (const auto& [array, copy] : from->arrays) array.copy_from(copy);
        } else {
            events(0, keep);
        }
        if (keep) s.note_inputs();
        for (bool go_on = goes_on(t); go_on && !steps.finite.stops(t, s.steps) && t < s.steps;
             go_on = goes_on(t)) {
            if (t == s.cut && t > 0) {
                if (keep) s.check_constants(modes.counter(), "while the roll-out ran");
                cut_tangents(s);
                if (keep) s.note_inputs();  // recomputed steps read the tangents as they are now
            }
            const bool record = keep && m.recording.arrive(t);
            const std::int64_t end = watch || !steps.goes_in_ranges(m, functions)
                                         ? t + 1
                                         : steps.forward_range_end(s, t);
            steps.run_steps(
                m, functions,
                {record ? RunKind::recording : RunKind::forward, t, end, m.recording.window()});
            t = end;
            events(t, record);
            if (m.graphs) m.graphs->split_long_graph();
        }
        done = t;
    };
    const bool may_be_whole = !watch && (!keep || may_be_whole_run(m)) && start() == nullptr &&
                              (s.cut == 0 || mode == RolloutMode::first);
    if (keep) m.recording.begin();
    if (may_be_whole && run_whole(m, kind, {}, std::ref(launches))) {
        if (keep) {
            s.note_constants();
            s.note_inputs();
            m.recording.finish(s.steps);
        }
        return s.steps;
    }
    if (!may_be_whole) launches();
    steps.device->settle();
    if (keep) {
        s.check_constants(modes.counter(), "while the roll-out ran");
        m.recording.finish(done);
    }
    return done;
}

// On a CUDA device also those that recompute steps; checkpoints in files pass through the host.
bool Rollout::Work::may_be_whole_run(const ModeState& m) const {
    if (steps.device->cuda()) return m.plan.segments == 1 ? m.schedule->cut == 0 : !m.plan.spilled;
    return m.plan.may_compile && !RolloutSteps::uses_step_functions(m);
}

// All of one kind; false: launch by launch, by `launches`.
bool Rollout::Work::run_whole(ModeState& m, RunKind kind, const std::vector<Seed>& seeds,
                              const std::function<void()>& launches) {
    Executor* const executor = this->executor(m);
    if (executor == nullptr) {
        launches();
        return false;
    }
    if (!executor->run({kind, 0, m.schedule->steps, 0, &seeds}, launches)) return false;
    if (!steps.device->cuda()) return true;
    steps.device->settle();
    // Only single steps can stop where a number was not finite.
    if (kind == RunKind::back || !steps.finite.found_by_graph()) return true;
    launches();
    return false;
}

void Rollout::Work::backward(const std::vector<Seed>& seeds, RolloutMode mode) {
    if (mode == RolloutMode::tangent || mode == RolloutMode::tangent_tangent)
        throw Error("forward mode has no backward()")
            .remedy("run forward(true) and backward() in the first or second mode");
    ModeState& m = modes.mode_for(mode, true);
    Schedule& s = *m.schedule;
    const std::int64_t end = m.recording.steps_done();
    if (!m.recording.complete())
        throw Error("backward() without a forward run that kept its values")
            .remedy("call forward(true) first");
    if (s.cut > 0 && end <= s.cut)
        throw Error("the run was stopped after " + std::to_string(end) +
                    " steps, before its horizon of the last " + std::to_string(modes.horizon()) +
                    " of " + std::to_string(s.steps))
            .remedy("let it run on, or make the horizon longer");
    s.check_constants(modes.counter(), "between forward and backward");
    const auto seed_gradients = [&] {
        for (const Array& g : s.gradients) g.clear();
        for (const Seed& seed : seeds)
            if (seed.from)
                seed.of.gradient().copy_from(seed.from);
            else if (seed.values.empty())
                seed.of.gradient().fill(seed.value);
            else
                seed.of.gradient().assign(seed.values);
    };
    if (!steps.device->cuda()) seed_gradients();
    struct Leave {  // the launches may be used elsewhere, and outlive the histories
        ModeState& mode;
        ~Leave() {
            mode.each_call([](const Call& call) { call.unbind(); });
            mode.recording.end_backward();
        }
    } const leave{m};
    // Graphs keep what is the same in every run.
    const auto is_number = [](const Seed& seed) { return seed.values.empty(); };
    const bool may_be_whole = !steps.adjoints.looks() && may_be_whole_run(m) && end == s.steps &&
                              (!steps.device->cuda() || std::ranges::all_of(seeds, is_number));
    const Sequence* const follower = this->follower(mode);
    const auto launches = [&] {
        m.recording.begin_backward();
        if (steps.device->cuda()) seed_gradients();
        go_back(m, end, mode);
        m.recording.end_backward();
        if (follower != nullptr && steps.device->cuda()) follower->put();
    };
    if (!may_be_whole) launches();
    if (!may_be_whole || !run_whole(m, RunKind::back, seeds, std::ref(launches))) {
        steps.device->settle();
        s.check_constants(modes.counter(), "by an adjoint that adds to it");
    }
    if (follower != nullptr && !steps.device->cuda()) follower->put();
}

void Rollout::Work::follow_backward(const Sequence* sequence) {
    if (sequence == follower_) return;
    follower_ = sequence;
    modes.forget_graphs();
}

void Rollout::Work::leave_backward(const Sequence* sequence) {
    if (sequence == follower_) follow_backward(nullptr);
}

// All adjoints, launch by launch.
void Rollout::Work::go_back(ModeState& m, std::int64_t end, RolloutMode mode) {
    Schedule& s = *m.schedule;
    steps.adjoints.begin(s.cut, end);
    const Recording::Run again = [this, &m](std::int64_t from, std::int64_t to, bool record) {
        steps.run_again(m, from, to, record);
    };
    try {
        for (std::int64_t t = end; t > s.cut;) {
            backend::interruption_point();
            const std::int64_t begin = m.recording.load(t, again);
            steps.run_back(m, begin, t);
            t = begin;
        }
    } catch (...) {  // a state may be stored by half
        if (s.plan.segments > 1) m.recording.forget();
        throw;
    }
    if (s.cut > 0) {
        steps.adjoints.at_boundary(s, s.cut);
        cut_gradients(m, mode);
    } else {
        if (const Schedule::Event* const event = s.event(0))
            steps.run_event(m, *event, RunKind::back, 0, {});
        steps.adjoints.at_boundary(s, 0);
    }
    steps.launches.run(m.timeline.prologue(RunKind::back), 0, {});
}

// ---------------------------------------------------------------- what it takes

std::vector<Rollout::KeptValue> Rollout::Work::kept_values(RolloutMode mode) {
    std::vector<KeptValue> list;
    for (const History& h : modes.mode_for(mode, true).schedule->histories)
        list.push_back({h.name, h.array, h.kept, h.mostly_empty});
    return list;
}

std::vector<Rollout::KeptSum> Rollout::Work::kept_sums(RolloutMode mode) {
    std::vector<KeptSum> list;
    for (const Call& call : modes.mode_for(mode, true).schedule->step)
        for (const SparseHistory* r : call.results)
            list.push_back({call.forward.launch().description(), r->array(), r->slot_bytes()});
    return list;
}

std::vector<Rollout::Profile> Rollout::Work::profiles() const {
    std::map<std::pair<std::string, Direction>, Profile> sums;
    modes.each([&](ModeState& m) {
        m.each_call([&](const Call& call) {
            const auto add = [&](const Launch::Replay& replay, std::int64_t runs,
                                 double seconds) -> Profile& {
                const std::string& launch = replay.launch().description();
                Profile& p = sums[{launch, replay.direction()}];
                p.launch = launch;
                p.direction = replay.direction();
                p.replay = replay;
                p.runs += runs;
                p.seconds += seconds;
                return p;
            };
            if (call.forward_runs > 0) {
                Profile& p = add(call.forward, call.forward_runs, call.forward_seconds);
                p.copies += call.copies;
                p.copied_bytes += call.copied_bytes;
            }
            if (call.backward_runs > 0)
                add(call.backward, call.backward_runs, call.backward_seconds);
        });
    });
    std::vector<Profile> list;
    for (auto& [key, p] : sums) list.push_back(p);
    std::sort(list.begin(), list.end(),
              [](const Profile& a, const Profile& b) { return a.seconds > b.seconds; });
    return list;
}

std::string Rollout::Work::launch_between_steps() {
    const ModeState& m = modes.mode_for(RolloutMode::first, true);
    return m.rotation ? m.rotation->call.forward.launch().description() : "";
}

}  // namespace hindcast
