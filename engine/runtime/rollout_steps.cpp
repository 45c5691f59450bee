// Steps: one after the other or a range at once, forwards, again, and backwards.
#include <algorithm>

#include "engine/runtime/rollout_mode.hpp"

namespace hindcast {

// ---------------------------------------------------------------- which steps are compiled

// Where a run cannot be one function, its steps can: with a horizon, or many events.
bool Rollout::has_step_functions(const Schedule& s) {
    return s.cut > 0 || s.events.size() > WholeProgram::most_events;
}

// Those of a run that keeps values by the plan made last; nullptr: launch by launch.
StepFunctions* Rollout::step_functions(Mode& m) const {
    if (device_->options().whole_program == WholeProgramUse::never || device_->cuda() ||
        profiling_ || !m.plan.may_compile ||
        (m.plan.segments <= 1 && !has_step_functions(*m.schedule)))
        return nullptr;
    if (!m.steps)
        m.steps = std::make_unique<StepFunctions>(*m.schedule, counter_, device_->options());
    return m.steps.get();
}

// The end of the range from `from` to `to` at most that has no event before its end.
std::int64_t Rollout::range_end(const Schedule& s, std::int64_t from, std::int64_t to) {
    const auto event = s.events.upper_bound(from);
    return event == s.events.end() ? to : std::min(to, event->first);
}

// The begin of the range down to `from` at most that has no event after its begin.
std::int64_t Rollout::range_begin(const Schedule& s, std::int64_t from, std::int64_t to) {
    const auto event = s.events.lower_bound(to);
    return event == s.events.begin() ? from : std::max(from, std::prev(event)->first);
}

// The same for a forward run at step t, which has to stop at checkpoints, at the horizon, and
// where it looks for numbers that are not finite.
std::int64_t Rollout::forward_range_end(const Mode& m, std::int64_t t, bool keep) const {
    const Schedule& s = *m.schedule;
    std::int64_t end = range_end(s, t, s.steps);
    const auto next = [&](std::int64_t first, std::int64_t every) {
        end = std::min(end, first + ((t - first) / every + 1) * every);
    };
    if (t < s.cut)
        end = std::min(end, s.cut);
    else if (keep && s.plan.segments > 1)
        next(s.cut, s.plan.segment);
    if (watched_every_ > 0) next(0, watched_every_);
    return end;
}

// ---------------------------------------------------------------- running them

// Steps from .. to-1 without the events around them; back: to-1 .. from.
void Rollout::run_steps(Mode& m, StepFunctions* functions, StepFunctions::Kind kind,
                        std::int64_t from, std::int64_t to, std::int64_t window) {
    if (functions != nullptr && functions->run(kind, from, to, window)) return;
    const bool timed = functions != nullptr && functions->wants_time(kind);
    const double start = timed ? CompiledWay::now() : 0;
    Calls& step = m.schedule->step;
    if (kind == StepFunctions::back) {
        for (std::int64_t t = to; t-- > from;) {
            set_counter(t);
            make_again(step, {t - window, 0});
            run_back(step, {t - window, 0});
        }
    } else {
        const bool record =
            kind == StepFunctions::recording || kind == StepFunctions::recording_again;
        const bool again = kind == StepFunctions::again || kind == StepFunctions::recording_again;
        for (std::int64_t t = from; t < to; ++t) {
            const Moment at{t - window, 0};
            set_counter(t);
            run(step, record ? &at : nullptr, again);
        }
    }
    if (timed) functions->took(kind, to - from, CompiledWay::now() - start);
}

void Rollout::run_again(Mode& m, std::int64_t from, std::int64_t to, bool record) {
    StepFunctions* const functions = step_functions(m);
    const auto kind = record ? StepFunctions::recording_again : StepFunctions::again;
    for (std::int64_t t = from; t < to;) {
        const std::int64_t end = functions == nullptr ? t + 1 : range_end(*m.schedule, t, to);
        run_steps(m, functions, kind, t, end, m.recording.window());
        t = end;
        const Schedule::Event* event = m.schedule->event(t);
        if (event == nullptr) continue;
        const Moment at = m.recording.moment(t, event);
        set_counter(t);
        run(event->program->calls, record ? &at : nullptr, true);
    }
}

void Rollout::make_again(Calls& step, const Moment& at) {
    for (Call& call : step) {
        if (!call.made_again) continue;
        if (!call.results.empty() &&
            std::all_of(call.results.begin(), call.results.end(),
                        [&](const SparseHistory* r) { return r->holds(at.step); })) {
            for (const SparseHistory* r : call.results) r->restore(at.step);
            continue;
        }
        for (const Restore& r : call.restores_again)
            call.forward.bind_memory(r.parameter, r.history->slot(at, r.offset));
        run(call.forward, call.forward_seconds, call.forward_runs);
        for (const Restore& r : call.restores_again) call.forward.bind_memory(r.parameter, nullptr);
    }
}

void Rollout::run_back(Calls& calls, const Moment& at) {
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
void Rollout::run_back(Mode& m, std::int64_t from, std::int64_t to) {
    StepFunctions* const functions = looks_at_adjoints() ? nullptr : step_functions(m);
    for (std::int64_t t = to; t > from;) {
        if (const Schedule::Event* event = m.schedule->event(t)) {
            set_counter(t);
            run_back(event->program->calls, m.recording.moment(t, event));
        }
        at_boundary(*m.schedule, t);
        const std::int64_t begin = functions == nullptr ? t - 1 : range_begin(*m.schedule, from, t);
        run_steps(m, functions, StepFunctions::back, begin, t, m.recording.window());
        t = begin;
        if (m.graphs) m.graphs->breathe();
    }
}

}  // namespace hindcast
