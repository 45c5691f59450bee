// forward() and backward(); what they keep and how they get at it is Recording's (recording.hpp).
#include "engine/backend/executable.hpp"
#include "engine/backend/jit/interruption.hpp"
#include "engine/backend/optional_passes.hpp"
#include "engine/runtime/rollout/work.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "engine/base/thread_pool.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/rollout/mode.hpp"

namespace hindcast {

// ---------------------------------------------------------------- set-up

Rollout::Work::Work(std::shared_ptr<Device> device, Parts parts)
    : device_(std::move(device)), parts_(std::move(parts)), launches_(device_) {
    if (parts_.steps < 0)
        throw Error("a roll-out of " + std::to_string(parts_.steps) + " steps is not possible");
    for (const auto& [t, program] : parts_.events)
        if (t < 0 || t > parts_.steps)
            throw Error("an event after step " + std::to_string(t) + " of a roll-out of " +
                        std::to_string(parts_.steps) + " steps");
}

Rollout::Work::~Work() = default;

void Rollout::Work::set_step_counter(const Array& counter) {
    if (counter.type() != ir::Type::i32 || counter.size() != 1)
        throw Error("a step counter is one i32")
            .remedy("make it with Rollout::make_step_counter()");
    if (parts_.steps > std::numeric_limits<std::int32_t>::max())
        throw Error("a roll-out of " + std::to_string(parts_.steps) +
                    " steps is too long for a step counter");
    counter_ = counter;
    launches_.use_counter(counter);
    modes_.clear();
}

void Rollout::Work::stop_if_not_finite(std::vector<Array> arrays, std::int64_t every) {
    finite_.set(std::move(arrays), every);
    for (auto& [mode, m] : modes_) {
        m->whole.reset();
        m->graphs.reset();
        m->timeline.check_finite(finite_.arrays(), every);
    }
}

// A checked run, and the interpreter, which is the definition, go launch by launch.
PassSet Rollout::Work::passes() const {
    const DeviceOptions& options = device_->options();
    const PassSet on = options.passes;
    return options.kind == DeviceKind::interpreter || options.checked
               ? on.without(Pass::fusion).without(Pass::rotation)
               : on;
}

Rollout::Work::Mode& Rollout::Work::mode_for(RolloutMode mode, bool backward) {
    std::unique_ptr<Mode>& entry = modes_[mode];
    if (!entry || (backward && !entry->schedule->has_backward) || entry->schedule->out_of_date()) {
        const PassSet on = passes();
        auto schedule = make_schedule(parts_.prologue, parts_.step, parts_.steps, parts_.events,
                                      mode, backward, horizon_, on);
        schedule->each_call([&](const Call& call) {
            const Launch& launch = call.forward.launch();
            if (launch.device()->cuda() != device_->cuda())
                throw Error("a launch works in the memory of another device than its roll-out, " +
                            launch.device()->describe() + " and " + device_->describe())
                    .in_kernel(launch.description())
                    .remedy("move the launch to the roll-out's device");
        });
        entry = std::make_unique<Mode>(mode, std::move(schedule), counter_, *device_);
        entry->timeline.check_finite(finite_.arrays(), finite_.every());
        if (on.has(Pass::rotation) && mode == RolloutMode::first && !device_->cuda())
            entry->rotation = StepRotation::make(*entry->schedule, counter_);
        // Functions of steps read what rotated steps do not keep.
        if (entry->rotation && backward && may_compile_back(*entry)) entry->rotation.reset();
        // So that all code is made together.
        if (device_->cuda() || device_->options().whole_program != WholeProgramUse::always)
            entry->schedule->each_call([&](const Call& call) {
                call.forward.prepare();
                if (!backward || !call.differentiable) return;
                std::vector<int> kept;
                for (const Restore& r : call.restores) kept.push_back(r.parameter);
                call.backward.prepare(kept);
            });
    }
    return *entry;
}

// ---------------------------------------------------------------- running

FunctionExecutor* Rollout::Work::whole(Mode& m) {
    if (!compiles()) return nullptr;
    if (!m.whole)
        m.whole = std::make_unique<FunctionExecutor>(m.timeline, FunctionExecutor::Over::run,
                                                     device_->options());
    return m.whole.get();
}

// The executor of whole runs; nullptr: launch by launch.
Executor* Rollout::Work::executor(Mode& m) {
    if (!device_->cuda()) return whole(m);
    if (launches_.profiles()) return nullptr;
    if (!m.graphs)
        m.graphs = std::make_unique<GraphExecutor>(*m.schedule, m.recording, counter_, *device_,
                                                   follower(m.mode));
    return m.graphs.get();
}

std::string Rollout::Work::whole_program_report() const {
    const auto found = modes_.find(RolloutMode::first);
    if (found == modes_.end()) return "";
    const Mode& m = *found->second;
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
    Mode& m = keep ? allocated(mode) : mode_for(mode, false);
    Schedule& s = *m.schedule;
    m.recording.forget();
    if (m.rotation) m.rotation->forget();
    const auto events = [&](std::int64_t t, bool record) {
        launches_.set_counter(t);
        if (const Schedule::Event* const event = s.event(t))
            run_event(m, *event, record ? RunKind::recording : RunKind::forward, t,
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
    finite_.forget();
    FunctionExecutor* const functions = keep ? step_functions(m) : nullptr;
    const RunKind kind = keep ? RunKind::recording : RunKind::forward;
    std::int64_t done = 0;
    const auto launches = [&] {
        if (keep) m.recording.begin();
        for (const Array& a : s.reduced) a.clear();
        finite_.clear_flags();
        launches_.run(m.timeline.prologue(kind), 0, {});
        if (keep) s.note_constants();
        std::int64_t t = 0;
        if (const State* const from = start()) {
            t = from->step;
            launches_.set_counter(t);
            for (const auto& [array, copy] : from->arrays) array.copy_from(copy);
        } else {
            events(0, keep);
        }
        if (keep) s.note_inputs();
        for (bool go_on = goes_on(t); go_on && !finite_.stops(t, s.steps) && t < s.steps;
             go_on = goes_on(t)) {
            if (t == s.cut && t > 0) {
                if (keep) s.check_constants(counter_, "while the roll-out ran");
                cut_tangents(s);
                if (keep) s.note_inputs();  // recomputed steps read the tangents as they are now
            }
            const bool record = keep && m.recording.arrive(t);
            const std::int64_t end =
                watch || !goes_in_ranges(m, functions) ? t + 1 : forward_range_end(s, t);
            run_steps(
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
    device_->settle();
    if (keep) {
        s.check_constants(counter_, "while the roll-out ran");
        m.recording.finish(done);
    }
    return done;
}

// On a CUDA device also those that recompute steps; checkpoints in files pass through the host.
bool Rollout::Work::may_be_whole_run(const Mode& m) const {
    if (device_->cuda()) return m.plan.segments == 1 ? m.schedule->cut == 0 : !m.plan.spilled;
    return m.plan.may_compile && !uses_step_functions(m);
}

// All of one kind; false: launch by launch, by `launches`.
bool Rollout::Work::run_whole(Mode& m, RunKind kind, const std::vector<Seed>& seeds,
                              const std::function<void()>& launches) {
    Executor* const executor = this->executor(m);
    if (executor == nullptr) {
        launches();
        return false;
    }
    if (!executor->run({kind, 0, m.schedule->steps, 0, &seeds}, launches)) return false;
    if (!device_->cuda()) return true;
    device_->settle();
    // Only single steps can stop where a number was not finite.
    if (kind == RunKind::back || !finite_.found_by_graph()) return true;
    launches();
    return false;
}

void Rollout::Work::backward(const std::vector<Seed>& seeds, RolloutMode mode) {
    if (mode == RolloutMode::tangent || mode == RolloutMode::tangent_tangent)
        throw Error("forward mode has no backward()")
            .remedy("run forward(true) and backward() in the first or second mode");
    Mode& m = mode_for(mode, true);
    Schedule& s = *m.schedule;
    const std::int64_t end = m.recording.steps_done();
    if (!m.recording.complete())
        throw Error("backward() without a forward run that kept its values")
            .remedy("call forward(true) first");
    if (s.cut > 0 && end <= s.cut)
        throw Error("the run was stopped after " + std::to_string(end) +
                    " steps, before its horizon of the last " + std::to_string(horizon_) + " of " +
                    std::to_string(s.steps))
            .remedy("let it run on, or make the horizon longer");
    s.check_constants(counter_, "between forward and backward");
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
    if (!device_->cuda()) seed_gradients();
    struct Leave {  // the launches may be used elsewhere, and outlive the histories
        Mode& mode;
        ~Leave() {
            mode.each_call([](const Call& call) { call.unbind(); });
            mode.recording.end_backward();
        }
    } const leave{m};
    // Graphs keep what is the same in every run.
    const auto is_number = [](const Seed& seed) { return seed.values.empty(); };
    const bool may_be_whole = !adjoints_.looks() && may_be_whole_run(m) && end == s.steps &&
                              (!device_->cuda() || std::ranges::all_of(seeds, is_number));
    const Sequence* const follower = this->follower(mode);
    const auto launches = [&] {
        m.recording.begin_backward();
        if (device_->cuda()) seed_gradients();
        go_back(m, end, mode);
        m.recording.end_backward();
        if (follower != nullptr && device_->cuda()) follower->put();
    };
    if (!may_be_whole) launches();
    if (!may_be_whole || !run_whole(m, RunKind::back, seeds, std::ref(launches))) {
        device_->settle();
        s.check_constants(counter_, "by an adjoint that adds to it");
    }
    if (follower != nullptr && !device_->cuda()) follower->put();
}

void Rollout::Work::follow_backward(const Sequence* sequence) {
    if (sequence == follower_) return;
    follower_ = sequence;
    for (auto& [mode, m] : modes_) m->graphs.reset();
}

void Rollout::Work::leave_backward(const Sequence* sequence) {
    if (sequence == follower_) follow_backward(nullptr);
}

// All adjoints, launch by launch.
void Rollout::Work::go_back(Mode& m, std::int64_t end, RolloutMode mode) {
    Schedule& s = *m.schedule;
    adjoints_.begin(s.cut, end);
    const Recording::Run again = [this, &m](std::int64_t from, std::int64_t to, bool record) {
        run_again(m, from, to, record);
    };
    try {
        for (std::int64_t t = end; t > s.cut;) {
            backend::interruption_point();
            const std::int64_t begin = m.recording.load(t, again);
            run_back(m, begin, t);
            t = begin;
        }
    } catch (...) {  // a state may be stored by half
        if (s.plan.segments > 1) m.recording.forget();
        throw;
    }
    if (s.cut > 0) {
        adjoints_.at_boundary(s, s.cut);
        cut_gradients(m, mode);
    } else {
        if (const Schedule::Event* const event = s.event(0))
            run_event(m, *event, RunKind::back, 0, {});
        adjoints_.at_boundary(s, 0);
    }
    launches_.run(m.timeline.prologue(RunKind::back), 0, {});
}

// ---------------------------------------------------------------- what it takes

std::vector<Rollout::Work::KeptValue> Rollout::Work::kept_values(RolloutMode mode) {
    std::vector<KeptValue> list;
    for (const History& h : mode_for(mode, true).schedule->histories)
        list.push_back({h.name, h.array, h.kept, h.mostly_empty});
    return list;
}

std::vector<Rollout::Work::KeptSum> Rollout::Work::kept_sums(RolloutMode mode) {
    std::vector<KeptSum> list;
    for (const Call& call : mode_for(mode, true).schedule->step)
        for (const SparseHistory* r : call.results)
            list.push_back({call.forward.launch().description(), r->array(), r->slot_bytes()});
    return list;
}

void Rollout::Work::profile(bool on) { launches_.profile(on); }

std::vector<Rollout::Work::Profile> Rollout::Work::profiles() const {
    std::map<std::pair<std::string, Direction>, Profile> sums;
    for (const auto& [mode, m] : modes_)
        m->each_call([&](const Call& call) {
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
    std::vector<Profile> list;
    for (auto& [key, p] : sums) list.push_back(p);
    std::sort(list.begin(), list.end(),
              [](const Profile& a, const Profile& b) { return a.seconds > b.seconds; });
    return list;
}

std::string Rollout::Work::timeline() const {
    const PassSet wanted = passes();
    PassSet on = PassSet::none();
    std::string all, last;
    const auto show = [&](const std::string& title) {
        const auto schedule = make_schedule(parts_.prologue, parts_.step, parts_.steps,
                                            parts_.events, RolloutMode::first, true, horizon_, on);
        const Timeline timeline(*schedule, counter_);
        std::string text = timeline.describe();
        if (on.has(Pass::rotation))
            if (const auto rotation = StepRotation::make(*schedule, counter_))
                text += rotation->describe();
        all += (all.empty() ? "" : "\n") + title +
               (text == last ? ": nothing changes\n" : "\n\n" + text);
        last = text;
    };
    show("as recorded, with what adjoints need kept");
    for (const Pass pass :
         {Pass::rematerialization, Pass::sparse_history, Pass::fusion, Pass::rotation}) {
        if (!wanted.has(pass)) continue;
        on = on.with(pass);
        show(std::string("after ") + info(pass).name);
    }
    return all;
}

std::int64_t Rollout::Work::steps() const { return parts_.steps; }
std::size_t Rollout::Work::launches_per_step() const { return parts_.step.launches().size(); }

std::string Rollout::Work::launch_between_steps() {
    const Mode& m = mode_for(RolloutMode::first, true);
    return m.rotation ? m.rotation->call.forward.launch().description() : "";
}

std::size_t Rollout::Work::joined_launches_per_step() {
    return mode_for(RolloutMode::first, false).schedule->step.size();
}

}  // namespace hindcast
