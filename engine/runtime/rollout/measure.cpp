// What a roll-out looks at besides running: norms of adjoints on the way back, and what steps cost.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "engine/base/aligned.hpp"
#include "engine/runtime/rollout/mode.hpp"

namespace hindcast {

// ---------------------------------------------------------------- norms of adjoints

void Rollout::Work::record_adjoint_norms(bool on) { recording_norms_ = on; }

namespace {
// The sum of squares over s * s, s = 1 unless that leaves the range of f64.
template <class T>
double sum_of_squares(const Array& array, double scale) {
    const T* data = static_cast<const T*>(array.data());
    double sum = 0;
    for (int c = 0; c < array.components(); ++c)
        for (std::int64_t e = 0; e < array.elements(); ++e) {
            const double x = static_cast<double>(
                                 data[e * array.element_stride() + c * array.component_stride()]) /
                             scale;
            sum += x * x;
        }
    return sum;
}

double sum_of_squares(const Array& array, double scale) {
    return array.type() == ir::Type::f32 ? sum_of_squares<float>(array, scale)
                                         : sum_of_squares<double>(array, scale);
}
}  // namespace

void Rollout::Work::at_boundary(const Schedule& s, std::int64_t t) {
    if (recording_norms_) note_norm(s, t);
    if (adjoint_watch_) adjoint_watch_(t);
}

void Rollout::Work::note_norm(const Schedule& s, std::int64_t t) {
    constexpr double large = 0x1p600, small = 0x1p-300;
    const auto varies = [&](const Array& a) {
        return ir::is_real(a.type()) && a.has_gradient() && contains(s.gradients, a.gradient());
    };
    double sum = 0, scaled = 0;
    for (const Array& a : s.state) {
        if (!varies(a)) continue;
        const double part = sum_of_squares(a.gradient(), 1);
        const double part_scaled =
            std::isfinite(part) ? part / large / large : sum_of_squares(a.gradient(), large);
        if (!std::isfinite(part_scaled) && norms_.not_finite < 0) {
            norms_.not_finite = t;
            norms_.culprit = a;
        }
        sum += part;
        scaled += part_scaled;
    }
    double norm = std::isfinite(sum) ? std::sqrt(sum) : std::sqrt(scaled) * large;
    if (norm < small) {  // squares of what is very small are lost
        sum = 0;
        for (const Array& a : s.state)
            if (varies(a)) sum += sum_of_squares(a.gradient(), 1 / large);
        norm = std::sqrt(sum) / large;
    }
    norms_.norms[static_cast<std::size_t>(t - norms_.first)] = norm;
}

// ---------------------------------------------------------------- costs

namespace {
// Puts everything back that running a schedule changes.
class Restored {
public:
    Restored(Schedule& s, StepRotation* seam, bool& profiling)
        : s_(s), seam_(seam), profiling_(profiling), profiled_(std::exchange(profiling, false)) {
        for (const auto& [array, name] : s.written) copies_.push_back(array.clone());
    }
    ~Restored() {
        s_.each_call([](const Call& call) { call.unbind(); });
        if (seam_ != nullptr) seam_->call.unbind();
        for (std::size_t k = 0; k < copies_.size(); ++k) s_.written[k].first.copy_from(copies_[k]);
        for (const Array& g : s_.gradients) g.clear();
        s_.release();
        profiling_ = profiled_;
    }
    Restored(const Restored&) = delete;
    Restored& operator=(const Restored&) = delete;

private:
    Schedule& s_;
    const StepRotation* seam_;
    bool& profiling_;
    bool profiled_;
    std::vector<Array> copies_;
};
}  // namespace

void Rollout::Work::warm_up() {
    Mode& m = mode_for(RolloutMode::first, false);
    if (m.recording.allocated()) return;  // it has run
    const Restored restored(*m.schedule, m.seam.get(), profiling_);
    try {
        run_all_once(*m.schedule, nullptr);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the run itself will say so
    }
}

// The prologue, the first step and every event, whenever it is due; recorded, only events that
// backward goes over.
void Rollout::Work::run_all_once(Schedule& s, const SlotIndex* record) {
    set_counter(0);
    run(s.prologue, record, false);
    if (s.steps > 0) run(s.step, record, false);
    for (EventProgram& program : s.event_programs) {
        if (record != nullptr && s.cut > 0 && program.times.back() <= s.cut) continue;
        set_counter(program.times.back());
        run(program.calls, record, false);
    }
}

// The same backwards, for what the launches allocate: the values have no meaning.
void Rollout::Work::run_all_back(Schedule& s) {
    try {
        for (EventProgram& program : s.event_programs) {
            if (s.cut > 0 && program.times.back() <= s.cut) continue;
            set_counter(program.times.back());
            run_back(program.calls, {});
        }
        set_counter(0);
        make_again(s.step, {});
        run_back(s.step, {});
        run_back(s.prologue, {});
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a launch may not like the values
    }
    for (const Array& g : s.gradients) g.clear();
}

// Where everything is stored nothing is weighed against anything. Long histories of a small program
// may cost more than its steps.
bool Rollout::Work::may_recompute(Mode& m) const {
    const MemoryDemand demand = m.demand(bytes_of_others(m));
    const std::int64_t history = demand.history(demand.steps);
    if (forced_ || demand.fixed + history > limit_.bytes) return true;
    constexpr std::int64_t far_histories = 16 * near_history_bytes;
    return history > far_histories && step_function_bytes(m) > 0;
}

const StepCosts& Rollout::Work::measure(RolloutMode mode) {
    Mode& m = mode_for(mode, true);
    const bool known = m.costs.measured && (m.costs.long_steps > 0 || !may_recompute(m));
    if (known || m.schedule->demand.steps == 0) return m.costs;
    m.has_plan = false;
    m.recording.release();
    const Restored restored(*m.schedule, m.seam.get(), profiling_);
    try {
        if (!m.costs.measured) measure_steps(m);
        if (may_recompute(m)) measure_long(m);
    } catch (const Error&) {  // the run itself will say so
        m.costs = {};
    }
    return m.costs;
}

// The first n steps with their events, which keep what adjoints need or do not.
void Rollout::Work::first_steps(Mode& m, StepFunctions* functions, std::int64_t n, bool record) {
    Schedule& s = *m.schedule;
    run_range(m, functions, record ? StepFunctions::recording : StepFunctions::again, 0, n, 0,
              s.cut == 0);
    if (record && !s.step.empty()) Schedule::save(s.step.front(), {n, 0}, *device_);
}

void Rollout::Work::first_steps_back(Mode& m, StepFunctions* functions, std::int64_t n) {
    Schedule& s = *m.schedule;
    for (std::int64_t t = n; t > 0;) {
        if (const Schedule::Event* event = s.cut == 0 ? s.event(t) : nullptr) {
            set_counter(t);
            run_back(event->program->calls, {t, event->occurrence - event->program->first});
        }
        const std::int64_t begin =
            !goes_in_ranges(m, functions) ? t - 1 : (s.cut == 0 ? range_begin(s, 0, t) : 0);
        run_steps(m, functions, StepFunctions::back, begin, t, 0);
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

// From the state after the prologue: once to warm up, then as often as fits into some milliseconds.
// The least of the times counts.
void Rollout::Work::measure_steps(Mode& m) {
    constexpr std::int64_t most_steps = 4;
    Schedule& s = *m.schedule;
    const std::int64_t n = std::min(s.demand.steps, most_steps);
    s.allocate(*device_, n);
    s.move_window(0);
    CheckpointStore store(*device_, s.state, 1, limit_.spill);
    for (const Array& g : s.gradients) g.clear();
    const SlotIndex first;
    std::int64_t before = memory_use_of_thread();
    run_all_once(s, &first);
    if (m.mode == RolloutMode::first) before = memory_use_of_thread();
    run_all_back(s);
    m.scratch = memory_use_of_thread() - before;
    start_of_steps(s);
    store.store(0);
    first_steps(m, nullptr, n, false);
    store.restore(0);
    before = memory_use_of_thread();
    first_steps(m, nullptr, n, true);
    first_steps_back(m, nullptr, n);
    m.scratch += memory_use_of_thread() - before;
    m.costs = timed_steps(m, nullptr, n, store);
    if (may_recompute(m)) measure_functions(m, store);
}

StepCosts Rollout::Work::timed_steps(Mode& m, StepFunctions* functions, std::int64_t n,
                                     CheckpointStore& store) {
    constexpr int few = 3, most_rounds = 1024;
    constexpr double enough = 0.01;  // seconds
    StepCosts costs{never, never, never, never, true, n};
    const auto steps = static_cast<double>(n);
    double total = 0;
    for (int round = 0; round < few || (round < most_rounds && total < enough); ++round) {
        time(*device_, costs.copy, 1, total, [&] { store.restore(0); });
        time(*device_, costs.advance, steps, total, [&] { first_steps(m, functions, n, false); });
        time(*device_, costs.copy, 1, total, [&] { store.restore(0); });
        time(*device_, costs.record, steps, total, [&] { first_steps(m, functions, n, true); });
        time(*device_, costs.adjoint, steps, total, [&] { first_steps_back(m, functions, n); });
    }
    return costs;
}

// Steps as functions, where they can be: each kind goes on the way that was faster. A call of one
// takes as long as a small step: many are measured in a row.
void Rollout::Work::measure_functions(Mode& m, CheckpointStore& store) {
    if (!compiles()) return;
    constexpr std::int64_t most_steps = 64;
    const MemoryDemand demand = m.demand(bytes_of_others(m));
    std::int64_t n = std::min(demand.steps, most_steps);
    while (n > 1 && demand.fixed + demand.history(n) > limit_.bytes) n /= 2;
    m.schedule->allocate(*device_, n);
    m.schedule->move_window(0);
    auto functions = std::make_unique<StepFunctions>(*m.schedule, counter_, device_->options());
    const bool advance = functions->offer(StepFunctions::again, m.costs.advance),
               record = functions->offer(StepFunctions::recording, m.costs.record),
               back = functions->offer(StepFunctions::back, m.costs.adjoint);
    m.steps = std::move(functions);
    if (!advance && !record && !back) return;
    const StepCosts costs = timed_steps(m, m.steps.get(), n, store);
    const auto judge = [&](bool offered, StepFunctions::Kind kind, double& launches,
                           double function) {
        if (!offered) return;
        m.steps->judge(kind, function);
        launches = std::min(launches, function);
    };
    judge(advance, StepFunctions::again, m.costs.advance, costs.advance);
    judge(record, StepFunctions::recording, m.costs.record, costs.record);
    judge(back, StepFunctions::back, m.costs.adjoint, costs.adjoint);
    m.costs.short_steps = n;
}

// As many steps in a row as there are, as memory holds and as some time allows: histories that
// caches do not hold cost more.
void Rollout::Work::measure_long(Mode& m) {
    constexpr double enough = 0.1;  // seconds: for one round, and for all if that is more than few
    constexpr int few = 3;          // rounds; the first touches new memory
    constexpr int most_rounds = 64;
    Schedule& s = *m.schedule;
    const double each = m.costs.record + m.costs.adjoint;
    const std::int64_t room = (limit_.bytes - m.demand(bytes_of_others(m)).fixed) / 2;
    std::int64_t n = s.demand.steps;
    if (static_cast<double>(n) * each > enough) n = static_cast<std::int64_t>(enough / each);
    if (s.demand.per_step > 0) n = std::min(n, room / s.demand.per_step - 1);
    m.costs.long_steps = std::max(n, m.costs.short_steps);
    m.costs.both_long = each;
    if (n <= m.costs.short_steps) return;
    s.allocate(*device_, n);
    s.move_window(0);
    for (const Array& g : s.gradients) g.clear();
    CheckpointStore store(*device_, s.state, 1, limit_.spill);
    start_of_steps(s);
    store.store(0);
    double least = never, total = 0;
    for (int round = 0; round < few || (round < most_rounds && total < enough); ++round) {
        if (round > 0) store.restore(0);
        time(*device_, least, static_cast<double>(n), total, [&] {
            first_steps(m, m.steps.get(), n, true);
            first_steps_back(m, m.steps.get(), n);
        });
    }
    m.costs.both_long = least;
}

void Rollout::Work::start_of_steps(Schedule& s) {
    set_counter(0);
    run(s.prologue, nullptr, false);
    if (const Schedule::Event* event = s.event(0)) run(event->program->calls, nullptr, false);
}

}  // namespace hindcast
