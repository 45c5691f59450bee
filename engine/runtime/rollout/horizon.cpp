// Horizons: derivatives of the last steps, with the state before them taken as given. Runs that
// begin between two steps.
#include "engine/runtime/rollout/work.hpp"

namespace hindcast {

namespace {

template <class F>
void each_call_of_steps(Schedule& s, F f) {
    for (Call& call : s.step) f(call);
    for (EventProgram& program : s.event_programs)
        for (Call& call : program.calls) f(call);
}

}  // namespace

void Rollout::Work::set_horizon(std::int64_t length) {
    modes.set_horizon(length);
    at_cut_.reset();
}

void Rollout::Work::start_at_horizon() {
    at_cut_.reset();
    Schedule& s = *modes.mode_for(RolloutMode::first, false).schedule;
    if (s.cut == 0)
        throw Error("no step of this run lies before its horizon")
            .remedy("set a horizon of fewer steps than the run has");
    const std::int64_t reached = forward(false, [&](std::int64_t t) { return t < s.cut; });
    if (reached < s.cut)
        throw Error("the run stopped after " + std::to_string(reached) +
                    " steps, before its horizon begins, after " + std::to_string(s.cut));
    at_cut_ = copy_state(s.cut);
}

Rollout::State Rollout::Work::copy_state(std::int64_t step) {
    State state;
    state.step = step;
    ArraySet seen;
    each_call_of_steps(*modes.mode_for(RolloutMode::first, false).schedule, [&](const Call& call) {
        for (const Array& a : call.writes)
            if (seen.insert(a)) state.arrays.emplace_back(a, a.clone());
    });
    return state;
}

std::int64_t Rollout::State::bytes() const {
    std::int64_t sum = 0;
    for (const auto& [array, copy] : arrays) sum += static_cast<std::int64_t>(copy.bytes());
    return sum;
}

std::int64_t Rollout::Work::forward_from(const State& state, const Watch& watch) {
    if (state.step < 0 || state.step > modes.parts().steps)
        throw Error("a run of " + std::to_string(modes.parts().steps) +
                    " steps cannot begin after step " + std::to_string(state.step));
    if (!watch) throw Error("a run that begins between two steps needs a watch");
    struct Begin {
        const State*& from;
        ~Begin() { from = nullptr; }
    } const begin{from_ = &state};
    return forward(false, watch);
}

// Tangents of what steps and events write, in a run that has them.
void Rollout::Work::cut_tangents(Schedule& s) {
    each_call_of_steps(s, [](const Call& call) {
        const ir::Kernel& kernel = call.forward.kernel();
        for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
            const ir::Parameter& parameter = kernel.parameters[p];
            const bool written =
                parameter.access != ir::Access::read && parameter.access != ir::Access::value;
            if (written && call.forward.arrays()[p] &&
                call.forward.is_derivative(static_cast<int>(p)))
                call.forward.arrays()[p].clear();
        }
    });
}

// The state before the horizon is taken as given: nothing flows on through what steps and events
// write.
void Rollout::Work::cut_gradients(ModeState& m, RolloutMode mode) {
    const auto cut = [&](const Calls& calls) {
        for (const Call& call : calls)
            for (const Array& a : call.writes) {
                if (!ir::is_real(a.type()) || !a.has_gradient()) continue;
                a.gradient().clear();
                if (mode == RolloutMode::second) a.gradient().tangent().clear();
            }
    };
    cut(m.schedule->step);
    for (const EventProgram& program : m.schedule->event_programs) cut(program.calls);
}

}  // namespace hindcast
