// The measured cost of steps.
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>

#include "engine/base/aligned.hpp"
#include "engine/runtime/rollout/measure.hpp"

namespace hindcast {

namespace {
// Puts everything back that running a schedule changes.
class Restored {
public:
    Restored(Schedule& s, const StepRotation* rotation, LaunchExecutor& launches)
        : s_(s), rotation_(rotation), launches_(launches), profiled_(launches.profiles()) {
        launches.profile(false);
        for (const auto& [array, name] : s.written) copies_.push_back(array.clone());
    }
    ~Restored() {
        s_.each_call([](const Call& call) { call.unbind(); });
        if (rotation_ != nullptr) rotation_->call.unbind();
        for (std::size_t k = 0; k < copies_.size(); ++k) s_.written[k].first.copy_from(copies_[k]);
        for (const Array& g : s_.gradients) g.clear();
        s_.release();
        launches_.profile(profiled_);
    }
    Restored(const Restored&) = delete;
    Restored& operator=(const Restored&) = delete;

private:
    Schedule& s_;
    const StepRotation* rotation_;
    LaunchExecutor& launches_;
    bool profiled_;
    std::vector<Array> copies_;
};
}  // namespace

void StepMeasurement::warm_up() {
    ModeState& m = modes_.mode_for(RolloutMode::first, false);
    if (m.recording.allocated()) return;  // it has run
    const Restored restored(*m.schedule, m.rotation.get(), steps_.launches);
    try {
        run_all_once(m, RunKind::forward);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the run itself will say so
    }
}

// The prologue, the first step and every event, whenever it is due; recorded, only events that
// backward goes over.
void StepMeasurement::run_all_once(ModeState& m, RunKind kind) {
    Schedule& s = *m.schedule;
    steps_.launches.run(m.timeline.prologue(kind), 0, {});
    if (s.steps > 0) steps_.launches.run(m.timeline.step(kind), 0, {});
    for (EventProgram& program : s.event_programs)
        if (!records(kind) || s.cut == 0 || program.times.back() > s.cut)
            steps_.launches.run(m.timeline.event(program, kind), program.times.back(), {});
}

// The same backwards, for what the launches allocate: the values have no meaning.
void StepMeasurement::run_all_back(ModeState& m) {
    Schedule& s = *m.schedule;
    constexpr RunKind back = RunKind::back;
    try {
        for (EventProgram& program : s.event_programs)
            if (s.cut == 0 || program.times.back() > s.cut)
                steps_.launches.run(m.timeline.event(program, back), program.times.back(), {});
        steps_.launches.run(m.timeline.step(back), 0, {});
        steps_.launches.run(m.timeline.prologue(back), 0, {});
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a launch may not like the values
    }
    for (const Array& g : s.gradients) g.clear();
}

const StepCosts& StepMeasurement::measure(RolloutMode mode) {
    ModeState& m = modes_.mode_for(mode, true);
    const bool has_scratch = m.costs.short_steps > 0;
    const bool known = has_scratch && (m.costs.long_steps > 0 || !modes_.may_recompute(m));
    if (known || m.schedule->demand.steps == 0) return m.costs;
    m.has_plan = false;
    m.recording.release();
    const Restored restored(*m.schedule, m.rotation.get(), steps_.launches);
    try {
        if (!m.costs.measured) measure_steps(m);
        if (modes_.may_recompute(m)) measure_long(m);
    } catch (const Error&) {  // the run itself will throw
        m.costs = {};
    }
    return m.costs;
}

// The first n steps with their events, which keep what adjoints need or do not.
void StepMeasurement::first_steps(ModeState& m, FunctionExecutor* functions, std::int64_t n,
                                  bool record) {
    const Schedule& s = *m.schedule;
    steps_.run_range(m, functions, {record ? RunKind::recording : RunKind::again, 0, n},
                     s.cut == 0);
    if (record && !s.step.empty()) Schedule::save(s.step.front(), {n, 0}, *steps_.device);
}

void StepMeasurement::first_steps_back(ModeState& m, FunctionExecutor* functions, std::int64_t n) {
    const Schedule& s = *m.schedule;
    for (std::int64_t t = n; t > 0;) {
        if (const Schedule::Event* event = s.cut == 0 ? s.event(t) : nullptr)
            steps_.run_event(m, *event, RunKind::back, t, {t, event->in_window()});
        const std::int64_t begin = !steps_.goes_in_ranges(m, functions)
                                       ? t - 1
                                       : (s.cut == 0 ? RolloutSteps::range_begin(s, 0, t) : 0);
        steps_.run_steps(m, functions, {RunKind::back, begin, t});
        t = begin;
    }
}

namespace {
// The least of the times that `f` takes, each part of `per`; adds what it took to `total`.
void time(const Device& device, double& least, double per, double& total,
          const std::function<void()>& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    device.synchronize();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    least = std::min(least, seconds / per);
    total += seconds;
}
constexpr double never = std::numeric_limits<double>::infinity();
}  // namespace

// From the state after the prologue: once for what the launches allocate and, where it is weighed,
// as often as fits into some milliseconds for the time; the least counts. Slow steps are run as
// seldom as that allows.
void StepMeasurement::measure_steps(ModeState& m) {
    constexpr std::int64_t most_steps = 4;
    constexpr double slow = 0.005;  // seconds: a step forwards and backwards
    Schedule& s = *m.schedule;
    std::int64_t n = std::min(s.demand.steps, most_steps);
    s.allocate(*steps_.device, n);
    s.move_window(0);
    CheckpointStore store(*steps_.device, s.state, 1, modes_.limit().spill);
    for (const Array& g : s.gradients) g.clear();
    std::int64_t before = memory_use_of_thread(), scratch = 0;
    double once = never, total = 0;
    const double coding = steps_.device->statistics().seconds;
    time(*steps_.device, once, 1, total, [&] {
        run_all_once(m, RunKind::recording);
        if (m.mode == RolloutMode::first) before = memory_use_of_thread();
        run_all_back(m);
    });
    scratch = memory_use_of_thread() - before;
    // That may have been the time of making code, or of loading it.
    if (once > slow &&
        (steps_.device->statistics().seconds - coding > 0.2 * once || steps_.device->cuda()))
        time(*steps_.device, once, 1, total, [&] {
            run_all_once(m, RunKind::recording);
            run_all_back(m);
        });
    start_of_steps(m);
    store.store(0);
    const bool in_ranges =
        steps_.goes_in_ranges(m, nullptr);  // then two steps work with more than one
    if (once > slow) n = std::min<std::int64_t>(n, in_ranges ? 2 : 1);
    if (once <= slow || in_ranges) {
        if (once <= slow) first_steps(m, nullptr, n, false);
        store.restore(0);
        before = memory_use_of_thread();
        first_steps(m, nullptr, n, true);
        first_steps_back(m, nullptr, n);
        scratch += memory_use_of_thread() - before;
    }
    if (std::exchange(m.costs.short_steps, n) == 0)
        m.scratch = scratch;  // later there is none to see
    const bool weighed = modes_.may_recompute(m);
    if (once > slow && !weighed) return;
    m.costs = timed_steps(m, nullptr, n, store);
    if (weighed) measure_functions(m, store);
}

StepCosts StepMeasurement::timed_steps(ModeState& m, FunctionExecutor* functions, std::int64_t n,
                                       CheckpointStore& store) {
    constexpr int few = 3, most_rounds = 1024;
    constexpr double enough = 0.01, enough_for_few = 0.1;  // seconds
    StepCosts costs{never, never, never, never, true, n};
    const auto steps = static_cast<double>(n);
    double total = 0;
    for (int round = 0;
         round == 0 || (round < most_rounds && total < (round < few ? enough_for_few : enough));
         ++round) {
        time(*steps_.device, costs.copy, 1, total, [&] { store.restore(0); });
        time(*steps_.device, costs.advance, steps, total,
             [&] { first_steps(m, functions, n, false); });
        time(*steps_.device, costs.copy, 1, total, [&] { store.restore(0); });
        time(*steps_.device, costs.record, steps, total,
             [&] { first_steps(m, functions, n, true); });
        time(*steps_.device, costs.adjoint, steps, total,
             [&] { first_steps_back(m, functions, n); });
    }
    return costs;
}

// Steps as functions, where they can be: each kind goes on the way that was faster. A call of one
// takes as long as a small step: many are measured in a row.
void StepMeasurement::measure_functions(ModeState& m, CheckpointStore& store) {
    if (!steps_.compiles()) return;
    constexpr std::int64_t most_steps = 64;
    const MemoryDemand& demand = m.schedule->demand;
    std::int64_t n = std::min(demand.steps, most_steps);
    while (n > 1 && demand.history(n) > room(m)) n /= 2;
    m.schedule->allocate(*steps_.device, n);
    m.schedule->move_window(0);
    auto functions = std::make_unique<FunctionExecutor>(m.timeline, FunctionExecutor::Over::steps,
                                                        steps_.device->options());
    const bool advance = functions->offer(RunKind::again, m.costs.advance),
               record = functions->offer(RunKind::recording, m.costs.record),
               back = functions->offer(RunKind::back, m.costs.adjoint);
    m.steps = std::move(functions);
    if (!advance && !record && !back) return;
    const StepCosts costs = timed_steps(m, m.steps.get(), n, store);
    const auto judge = [&](bool offered, RunKind kind, double& launches, double function) {
        if (!offered) return;
        m.steps->judge(kind, function);
        launches = std::min(launches, function);
    };
    judge(advance, RunKind::again, m.costs.advance, costs.advance);
    judge(record, RunKind::recording, m.costs.record, costs.record);
    judge(back, RunKind::back, m.costs.adjoint, costs.adjoint);
    m.costs.short_steps = n;
}

// As many steps in a row as there are, as memory holds and as some time allows: histories that
// caches do not hold cost more.
void StepMeasurement::measure_long(ModeState& m) {
    constexpr double enough = 0.1;  // seconds: for one round, and for all if that is more than few
    constexpr int few = 3;          // rounds; the first touches new memory
    constexpr int most_rounds = 64;
    Schedule& s = *m.schedule;
    const double each = m.costs.record + m.costs.adjoint;
    const std::int64_t half = room(m) / 2;
    std::int64_t n = s.demand.steps;
    if (static_cast<double>(n) * each > enough) n = static_cast<std::int64_t>(enough / each);
    if (s.demand.per_step > 0) n = std::min(n, half / s.demand.per_step - 1);
    m.costs.long_steps = std::max(n, m.costs.short_steps);
    m.costs.both_long = each;
    if (n <= m.costs.short_steps) return;
    s.allocate(*steps_.device, n);
    s.move_window(0);
    for (const Array& g : s.gradients) g.clear();
    CheckpointStore store(*steps_.device, s.state, 1, modes_.limit().spill);
    start_of_steps(m);
    store.store(0);
    double least = never, total = 0;
    for (int round = 0; round < few || (round < most_rounds && total < enough); ++round) {
        if (round > 0) store.restore(0);
        time(*steps_.device, least, static_cast<double>(n), total, [&] {
            first_steps(m, m.steps.get(), n, true);
            first_steps_back(m, m.steps.get(), n);
        });
    }
    m.costs.both_long = least;
}

void StepMeasurement::start_of_steps(ModeState& m) {
    steps_.launches.run(m.timeline.prologue(RunKind::forward), 0, {});
    if (const Schedule::Event* const event = m.schedule->event(0))
        steps_.run_event(m, *event, RunKind::forward, 0, {});
}

}  // namespace hindcast
