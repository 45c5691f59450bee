// Steps: one after the other or a range at once, forwards, again, and backwards.
#include <algorithm>
#include <functional>

#include "engine/backend/optional_passes.hpp"
#include "engine/runtime/rollout/steps.hpp"

namespace hindcast {

// ---------------------------------------------------------------- which steps are compiled

bool RolloutSteps::compiles() const {
    return device->options().whole_program != WholeProgramUse::never && !device->cuda();
}

// True if a whole run can be one function when everything is stored; if not, its steps can be.
bool RolloutSteps::is_one_function(const Schedule& s) {
    return s.cut == 0 && s.events.size() <= FunctionExecutor::most_events;
}

bool RolloutSteps::uses_step_functions(const ModeState& m) {
    return m.plan.may_compile && (m.plan.segments > 1 || !is_one_function(*m.schedule));
}

// Those of a run that keeps values by the plan made last; nullptr: launch by launch.
FunctionExecutor* RolloutSteps::step_functions(ModeState& m) const {
    if (!compiles() || launches.profiles() || !uses_step_functions(m)) return nullptr;
    if (!m.steps)
        m.steps = std::make_unique<FunctionExecutor>(m.timeline, FunctionExecutor::Over::steps,
                                                     device->options());
    return m.steps.get();
}

// That of whole runs; nullptr: launch by launch.
FunctionExecutor* RolloutSteps::whole(ModeState& m) const {
    if (!compiles()) return nullptr;
    if (!m.whole)
        m.whole = std::make_unique<FunctionExecutor>(m.timeline, FunctionExecutor::Over::run,
                                                     device->options());
    return m.whole.get();
}

// Bytes that step functions will need; 0: there will be none.
std::int64_t RolloutSteps::step_function_bytes(ModeState& m) const {
    if (!compiles()) return 0;
    if (!m.step_bytes)
        m.step_bytes =
            FunctionExecutor(m.timeline, FunctionExecutor::Over::steps, device->options())
                .predicted_bytes();
    return *m.step_bytes;
}

// True if some of the way back may run as a function.
bool RolloutSteps::may_compile_back(ModeState& m) const {
    return compiles() &&
           (step_function_bytes(m) > 0 ||
            FunctionExecutor(m.timeline, FunctionExecutor::Over::run, device->options())
                    .predicted_bytes(RunKind::back) > 0);
}

// ---------------------------------------------------------------- ranges of steps

// True if several steps run at once when nothing has to be done between them. Work that a step has
// deferred then runs with the next one.
bool RolloutSteps::goes_in_ranges(const ModeState& m, const FunctionExecutor* functions) const {
    return functions != nullptr || m.rotation || launches.may_defer();
}

// The end of the range from `from` to `to` at most that has no event before its end.
std::int64_t RolloutSteps::range_end(const Schedule& s, std::int64_t from, std::int64_t to) {
    const auto event = s.events.upper_bound(from);
    return event == s.events.end() ? to : std::min(to, event->first);
}

// The start of the range down to `from` at most that has no event after its start.
std::int64_t RolloutSteps::range_begin(const Schedule& s, std::int64_t from, std::int64_t to) {
    const auto event = s.events.lower_bound(to);
    return event == s.events.begin() ? from : std::max(from, std::prev(event)->first);
}

// The same for a forward run at step t that keeps values: it has to stop at checkpoints, at the
// horizon, and where it looks for numbers that are not finite.
std::int64_t RolloutSteps::forward_range_end(const Schedule& s, std::int64_t t) const {
    std::int64_t end = range_end(s, t, s.steps);
    const auto next = [&](std::int64_t first, std::int64_t every) {
        end = std::min(end, first + ((t - first) / every + 1) * every);
    };
    if (t < s.cut)
        end = std::min(end, s.cut);
    else if (s.plan.segments > 1)
        next(s.cut, s.plan.segment);
    if (finite.every() > 0) next(0, finite.every());
    return end;
}

// ---------------------------------------------------------------- running them

// A forward run that keeps nothing would have to copy what the last call overwrites, in case the
// sums of the first must be made once more (rerun_backup.hpp), and gains less than that by
// rotation. A watch of the adjoints between two steps needs all values there.
bool RolloutSteps::rotates(const ModeState& m, const Stretch& stretch) const {
    if (!m.rotation || stretch.steps() < 2) return false;
    if (stretch.kind == RunKind::back) return true;
    return records(stretch.kind) && !adjoints.looks() &&
           (m.rotation->runs_again || !repeats(stretch.kind));
}

void RolloutSteps::run_steps(ModeState& m, FunctionExecutor* functions, const Stretch& stretch) {
    const auto by_launches = [&] {
        launches.run_steps(m.timeline, m.rotation.get(), rotates(m, stretch), stretch);
    };
    if (functions == nullptr) return by_launches();
    if (functions->run(stretch, std::ref(by_launches)) && m.rotation && records(stretch.kind))
        for (std::int64_t t = stretch.from; t < stretch.to; ++t)  // a function keeps everything
            m.rotation->note(t, true);
}

void RolloutSteps::run_event(const ModeState& m, const Schedule::Event& event, RunKind kind,
                             std::int64_t t, const SlotIndex& at) {
    launches.run(m.timeline.event(*event.program, kind), t, at);
}

// Steps forwards and, if wanted, the events after them.
void RolloutSteps::run_range(ModeState& m, FunctionExecutor* functions, const Stretch& stretch,
                             bool with_events) {
    const Schedule& s = *m.schedule;
    for (std::int64_t t = stretch.from; t < stretch.to;) {
        std::int64_t end = with_events ? range_end(s, t, stretch.to) : stretch.to;
        if (!goes_in_ranges(m, functions)) end = t + 1;
        run_steps(m, functions, {stretch.kind, t, end, stretch.window});
        t = end;
        if (const Schedule::Event* const event = with_events ? s.event(t) : nullptr)
            run_event(m, *event, stretch.kind, t, {t - stretch.window, event->in_window()});
    }
}

void RolloutSteps::run_again(ModeState& m, std::int64_t from, std::int64_t to, bool record) {
    run_range(m, step_functions(m),
              {record ? RunKind::recording_again : RunKind::again, from, to, m.recording.window()},
              true);
}

// The adjoints of the steps to-1 .. from and of the events after them.
void RolloutSteps::run_back(ModeState& m, std::int64_t from, std::int64_t to) {
    FunctionExecutor* const functions = adjoints.looks() ? nullptr : step_functions(m);
    for (std::int64_t t = to; t > from;) {
        if (const Schedule::Event* const event = m.schedule->event(t))
            run_event(m, *event, RunKind::back, t, m.recording.moment(t, event));
        adjoints.at_boundary(*m.schedule, t);
        const bool single = adjoints.looks() || !goes_in_ranges(m, functions);
        const std::int64_t begin = single ? t - 1 : range_begin(*m.schedule, from, t);
        run_steps(m, functions, {RunKind::back, begin, t, m.recording.window()});
        t = begin;
        if (m.graphs) m.graphs->split_long_graph();
    }
}

}  // namespace hindcast
