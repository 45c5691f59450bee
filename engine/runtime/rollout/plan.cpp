// The memory of gradients: its limit, the plan of each mode, and what all modes take together.
//
// A mode's memory has two parts. The lasting part lives as long as the mode: gradients (which modes
// share), tangents, memory of its launches and compiled functions. The other part can be given back
// between two runs: histories, checkpoints, the copy of the final state. A plan counts all of its
// own mode's memory and the lasting part of the others.
#include <algorithm>
#include <functional>
#include <utility>

#include "engine/runtime/rollout/modes.hpp"

namespace hindcast {

void RolloutModes::limit_memory(Rollout::MemoryLimit limit) {
    if (limit.bytes < 0)
        throw Error("a limit of " + std::to_string(limit.bytes) + " bytes of gradient memory");
    limit_ = std::move(limit);
    forced_.reset();
    forget_plans();
}

void RolloutModes::force_plan(std::int64_t segment, std::int64_t checkpoints) {
    if (segment < 1 || checkpoints < 1)
        throw Error("a checkpoint plan needs segments of at least one step, and one checkpoint");
    forced_ = {segment, checkpoints};
    forget_plans();
}

void RolloutModes::forget_plans() {
    for (auto& [mode, m] : modes_) {
        m->has_plan = false;
        m->recording.release();
    }
}

// If everything is stored there is no choice to make, except that long histories of a small program
// may cost more than its steps.
bool RolloutModes::may_recompute(ModeState& m) const {
    const MemoryDemand demand = m.demand(bytes_of_others(m));
    const std::int64_t history = demand.history(demand.steps);
    if (forced_ || demand.fixed + history > limit_.bytes) return true;
    constexpr std::int64_t far_histories = 16 * near_history_bytes;
    return history > far_histories && steps_.step_function_bytes(m) > 0;
}

// The lasting memory of the other modes, in bytes; at most two modes go backwards. Runs call this,
// so it allocates nothing.
std::int64_t RolloutModes::bytes_of_others(const ModeState& m) const {
    std::int64_t sum = 0;
    for (const auto& [mode, other] : modes_) {
        if (other.get() == &m || !other->schedule->has_backward) continue;
        sum += other->stays();
        const std::vector<Array>& own = m.schedule->derivatives;
        for (const Array& a : other->schedule->derivatives)
            if (!contains(own, a)) sum += static_cast<std::int64_t>(a.bytes());
    }
    return sum;
}

ModeState& RolloutModes::planned(RolloutMode mode) {
    ModeState& m = mode_for(mode, true);
    const std::int64_t others = bytes_of_others(m);
    if (m.has_plan) {
        m.plan.peak_bytes += others - std::exchange(m.others, others);
        if (forced_ || m.plan.peak_bytes <= limit_.bytes) return m;
    }
    m.has_plan = false;
    m.recording.release();
    const Schedule& s = *m.schedule;
    MemoryDemand demand = m.demand(others);
    demand.functions = demand.step_functions = steps_.step_function_bytes(m);
    if (RolloutSteps::is_one_function(s)) {
        const FunctionExecutor* const functions = steps_.whole(m);
        demand.functions = functions == nullptr ? 0
                                                : functions->predicted_bytes(RunKind::recording) +
                                                      functions->predicted_bytes(RunKind::back);
    }
    MemoryBudget budget;
    budget.memory = limit_.bytes;
    if (!limit_.spill.empty()) budget.disk = spill_budget(limit_.spill);
    // A program that works on a gradient array as if it were state cannot run again while adjoints
    // add to that array.
    for (const Array& g : s.gradients)
        for (const std::vector<Array>* list : {&s.state, &s.recomputed})
            for (const Array& a : *list) budget.may_recompute &= !a.same_memory(g);
    if (forced_ && !budget.may_recompute)
        throw Error("a program that writes to a gradient array cannot be recomputed")
            .remedy("store everything");
    m.plan = forced_
                 ? plan_of(demand, forced_->first, forced_->second, !limit_.spill.empty(), m.costs)
                 : plan_checkpoints(demand, budget, m.costs);
    if (!RolloutSteps::uses_step_functions(m)) m.steps.reset();
    m.functions = m.plan.segments > 1 ? *demand.step_functions : *demand.functions;
    m.others = others;
    m.has_plan = true;
    return m;
}

ModeState& RolloutModes::allocated(RolloutMode mode) {
    ModeState& m = planned(mode);
    if (m.recording.allocated()) return m;
    std::int64_t all = m.plan.peak_bytes;
    for (auto& [key, other] : modes_)
        if (other.get() != &m) all += other->recording.bytes();
    if (all > limit_.bytes)
        for (auto& [key, other] : modes_)
            if (other.get() != &m) other->recording.release();
    m.recording.allocate(m.plan, limit_.spill);
    return m;
}

std::int64_t RolloutModes::planned_bytes(const std::vector<RolloutMode>& modes) {
    for (const RolloutMode mode : modes) mode_for(mode, true);
    // The highest order takes most: where it fits the others do, and what its error calls the least
    // is enough for all. Twice, because functions that one plan forbids leave more for the others.
    std::vector<RolloutMode> order = modes;
    std::sort(order.begin(), order.end(), std::greater<>());
    for (int round = 0; round < 2; ++round)
        for (const RolloutMode mode : order) planned(mode);
    std::int64_t most = 0, stay = 0, given_back = 0;  // of one mode at work; of all
    for (const RolloutMode mode : modes) {
        const ModeState& m = *modes_.at(mode);
        stay = m.others + m.stays();
        for (const Array& a : m.schedule->derivatives) stay += static_cast<std::int64_t>(a.bytes());
        most = std::max(most, m.plan.peak_bytes);
        given_back += m.plan.peak_bytes - stay;
    }
    return stay + given_back <= limit_.bytes ? stay + given_back : most;
}

std::int64_t RolloutModes::function_bytes() const {
    std::int64_t sum = 0;
    for (const auto& [mode, m] : modes_)
        if (m->whole) sum += m->whole->bytes(RunKind::forward);
    return sum;
}

std::int64_t RolloutModes::kept_bytes() const {
    const ModeState* const m = find(RolloutMode::first);
    return m == nullptr ? 0 : m->recording.bytes();
}

}  // namespace hindcast
