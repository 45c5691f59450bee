// Steps: one after the other or a range at once, forwards, again, and backwards.
#include <algorithm>

#include "engine/runtime/rollout/mode.hpp"

namespace hindcast {

// ---------------------------------------------------------------- which steps are compiled

bool Rollout::Work::compiles() const {
    return device_->options().whole_program != WholeProgramUse::never && !device_->cuda();
}

// Where everything is stored; otherwise its steps can be functions.
bool Rollout::Work::is_one_function(const Schedule& s) {
    return s.cut == 0 && s.events.size() <= WholeProgram::most_events;
}

bool Rollout::Work::uses_step_functions(const Mode& m) {
    return m.plan.may_compile && (m.plan.segments > 1 || !is_one_function(*m.schedule));
}

// Those of a run that keeps values by the plan made last; nullptr: launch by launch.
StepFunctions* Rollout::Work::step_functions(Mode& m) const {
    if (!compiles() || profiling_ || !uses_step_functions(m)) return nullptr;
    if (!m.steps)
        m.steps = std::make_unique<StepFunctions>(*m.schedule, counter_, device_->options());
    return m.steps.get();
}

// What they will work with; 0: there will be none.
std::int64_t Rollout::Work::step_function_bytes(Mode& m) const {
    if (!compiles()) return 0;
    if (!m.step_bytes)
        m.step_bytes = StepFunctions(*m.schedule, counter_, device_->options()).predicted_bytes();
    return *m.step_bytes;
}

// Whether some of the way back may run as a function.
bool Rollout::Work::may_compile_back(Mode& m) const {
    return compiles() &&
           (step_function_bytes(m) > 0 ||
            WholeProgram(*m.schedule, counter_, device_->options(), watched_, watched_every_)
                    .predicted_bytes(WholeProgram::backward) > 0);
}

// ---------------------------------------------------------------- ranges of steps

// Not while launches are timed, one by one.
bool Rollout::Work::may_defer() const {
    return !profiling_ && !device_->cuda() && device_->options().passes.has(Pass::deferral);
}

// Whether several steps are run at once where nothing is to be done between them. What a step has
// put off then runs with the next one.
bool Rollout::Work::goes_in_ranges(const Mode& m, const StepFunctions* functions) const {
    return functions != nullptr || m.seam || may_defer();
}

// The end of the range from `from` to `to` at most that has no event before its end.
std::int64_t Rollout::Work::range_end(const Schedule& s, std::int64_t from, std::int64_t to) {
    const auto event = s.events.upper_bound(from);
    return event == s.events.end() ? to : std::min(to, event->first);
}

// The begin of the range down to `from` at most that has no event after its begin.
std::int64_t Rollout::Work::range_begin(const Schedule& s, std::int64_t from, std::int64_t to) {
    const auto event = s.events.lower_bound(to);
    return event == s.events.begin() ? from : std::max(from, std::prev(event)->first);
}

// The same for a forward run at step t that keeps values: it has to stop at checkpoints, at the
// horizon, and where it looks for numbers that are not finite.
std::int64_t Rollout::Work::forward_range_end(const Schedule& s, std::int64_t t) const {
    std::int64_t end = range_end(s, t, s.steps);
    const auto next = [&](std::int64_t first, std::int64_t every) {
        end = std::min(end, first + ((t - first) / every + 1) * every);
    };
    if (t < s.cut)
        end = std::min(end, s.cut);
    else if (s.plan.segments > 1)
        next(s.cut, s.plan.segment);
    if (watched_every_ > 0) next(0, watched_every_);
    return end;
}

// ---------------------------------------------------------------- running them

// Steps from .. to-1 without the events around them; back: to-1 .. from.
void Rollout::Work::run_steps(Mode& m, StepFunctions* functions, StepFunctions::Kind kind,
                              std::int64_t from, std::int64_t to, std::int64_t window) {
    if (functions != nullptr && functions->run(kind, from, to, window)) {
        if (m.seam && StepFunctions::records(kind))  // a function keeps everything
            for (std::int64_t t = from; t < to; ++t) m.seam->note(t, true);
        return;
    }
    const Deferring deferring(*this);
    const bool timed = functions != nullptr && functions->wants_time(kind);
    const double start = timed ? ExecutionChoice::now() : 0;
    Calls& step = m.schedule->step;
    if (rotates(m, kind, to - from)) {
        if (kind == StepFunctions::back)
            run_back_rotated(m, from, to, window);
        else
            run_rotated(m, kind, from, to, window);
    } else if (kind == StepFunctions::back) {
        for (std::int64_t t = to; t-- > from;) {
            set_counter(t);
            make_again(step, {t - window, 0});
            if (m.seam) need_dropped(m, t, window);
            run_back(step, {t - window, 0});
        }
    } else {
        const bool record = StepFunctions::records(kind), again = StepFunctions::repeats(kind);
        for (std::int64_t t = from; t < to; ++t) {
            const SlotIndex at{t - window, 0};
            set_counter(t);
            run(step, record ? &at : nullptr, again);
            if (record && m.seam) m.seam->note(t, true);
        }
    }
    deferred_->run();
    if (timed) functions->took(kind, to - from, ExecutionChoice::now() - start);
}

// Steps from .. to-1 forwards and, if wanted, the events after them.
void Rollout::Work::run_range(Mode& m, StepFunctions* functions, StepFunctions::Kind kind,
                              std::int64_t from, std::int64_t to, std::int64_t window,
                              bool with_events) {
    const Schedule& s = *m.schedule;
    for (std::int64_t t = from; t < to;) {
        std::int64_t end = with_events ? range_end(s, t, to) : to;
        if (!goes_in_ranges(m, functions)) end = t + 1;
        run_steps(m, functions, kind, t, end, window);
        t = end;
        const Schedule::Event* event = with_events ? s.event(t) : nullptr;
        if (event == nullptr) continue;
        const SlotIndex at{t - window, event->occurrence - event->program->first};
        set_counter(t);
        run(event->program->calls, StepFunctions::records(kind) ? &at : nullptr,
            StepFunctions::repeats(kind));
    }
}

void Rollout::Work::run_again(Mode& m, std::int64_t from, std::int64_t to, bool record) {
    run_range(m, step_functions(m), record ? StepFunctions::recording_again : StepFunctions::again,
              from, to, m.recording.window(), true);
}

void Rollout::Work::make_again(Calls& step, const SlotIndex& at) {
    for (Call& call : step) {
        if (!call.made_again) continue;
        if (call.holds_results(at.step)) {
            for (const SparseHistory* r : call.results) r->restore(at.step, *deferred_);
            if (!deferring_) deferred_->run();
            continue;
        }
        for (const Restore& r : call.restores_again)
            call.forward.bind_memory(r.parameter, r.history->slot(at, r.offset));
        run(call.forward, call.forward_seconds, call.forward_runs);
        for (const Restore& r : call.restores_again) call.forward.bind_memory(r.parameter, nullptr);
    }
}

void Rollout::Work::run_back(std::span<Call> calls, const SlotIndex& at) {
    for (std::size_t k = calls.size(); k-- > 0;) {
        Call& call = calls[k];
        if (!call.differentiable) continue;
        for (const auto& [need, version] : call.constants)
            call.backward.bind_memory(need.parameter, nullptr);
        for (const Restore& r : call.restores)
            call.backward.bind_memory(r.parameter, r.history->slot(at, r.offset));
        run(call.backward, call.backward_seconds, call.backward_runs);
    }
}

// The adjoints of the steps to-1 .. from and of the events after them.
void Rollout::Work::run_back(Mode& m, std::int64_t from, std::int64_t to) {
    StepFunctions* const functions = looks_at_adjoints() ? nullptr : step_functions(m);
    for (std::int64_t t = to; t > from;) {
        if (const Schedule::Event* event = m.schedule->event(t)) {
            set_counter(t);
            run_back(event->program->calls, m.recording.moment(t, event));
        }
        at_boundary(*m.schedule, t);
        const bool single = looks_at_adjoints() || !goes_in_ranges(m, functions);
        const std::int64_t begin = single ? t - 1 : range_begin(*m.schedule, from, t);
        run_steps(m, functions, StepFunctions::back, begin, t, m.recording.window());
        t = begin;
        if (m.graphs) m.graphs->split_long_graph();
    }
}

}  // namespace hindcast
