// The search: for every number of checkpoints the longest segments that fit beside them.
#include "engine/runtime/history/checkpoint_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.hpp"

namespace hindcast {

namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
// Above so many checkpoints not every number of them is tried.
constexpr std::int64_t every_number = 2048;

std::int64_t add(std::int64_t a, std::int64_t b) { return a > huge - b ? huge : a + b; }
std::int64_t multiply(std::int64_t a, std::int64_t b) {
    return b != 0 && a > huge / b ? huge : a * b;
}
std::int64_t divide_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

// The least r with beta(s, r) >= segments.
std::int64_t repetitions(std::int64_t segments, std::int64_t s) {
    if (s == 1) return segments - 1;
    std::int64_t r = 0;
    Wide reach = 1;
    while (reach < segments) {
        ++r;
        reach = reach * (s + r) / r;
    }
    return r;
}

struct Sweep {
    std::int64_t advanced = 0, stores = 1, restores = 0;  // segments; copies
};

// Goes through the whole reversal and counts.
Sweep count(std::int64_t segments, std::int64_t checkpoints) {
    Sweep sweep;
    CheckpointStack stack(checkpoints);
    stack.push(0);
    for (std::int64_t target = segments - 1; target >= 0; --target) {
        const bool first = target == segments - 1;  // goes on from where the prologue ended
        stack.reach(
            target, [&](std::int64_t) { sweep.restores += first ? 0 : 1; },
            [&](std::int64_t from, std::int64_t to) { sweep.advanced += to - from; },
            [&](std::int64_t) { ++sweep.stores; });
    }
    return sweep;
}

std::int64_t memory_of(const MemoryDemand& demand, std::int64_t segment, std::int64_t checkpoints,
                       bool spilled) {
    std::int64_t bytes = add(demand.fixed, demand.history(segment));
    if (segment >= demand.steps) return bytes;
    bytes = add(bytes, demand.if_recomputed);
    return spilled ? bytes : add(bytes, multiply(demand.checkpoint, checkpoints));
}

// The most steps that a segment can have beside so many checkpoints; 0: none.
std::int64_t longest_segment(const MemoryDemand& demand, const MemoryBudget& budget,
                             std::int64_t checkpoints) {
    std::int64_t fits = 0, too_long = demand.steps;  // all steps: that is store all
    while (too_long - fits > 1) {
        const std::int64_t middle = fits + (too_long - fits) / 2;
        const bool ok = memory_of(demand, middle, checkpoints, budget.disk > 0) <= budget.memory;
        (ok ? fits : too_long) = middle;
    }
    return fits;
}

[[noreturn]] void refuse(const MemoryDemand& demand, const MemoryBudget& budget) {
    const bool spilled = budget.disk > 0;
    const std::int64_t all = memory_of(demand, demand.steps, 0, false);
    const std::int64_t least =
        budget.may_recompute ? std::min(all, memory_of(demand, 1, 1, spilled)) : all;
    throw Error(fmt::format("gradients over {} steps do not fit into {} of memory", demand.steps,
                            bytes_text(budget.memory)))
        .remedy(fmt::format("the least that works is {} ({} bytes){}", bytes_text(least), least,
                            least < all ? "; storing everything takes " + bytes_text(all) : ""));
}

}  // namespace

const char* name_of(PlanKind kind) {
    switch (kind) {
        case PlanKind::store_all: return "store all";
        case PlanKind::equal_segments: return "equal segments";
        case PlanKind::binomial: return "binomial";
    }
    return "?";
}

std::int64_t binomial_reach(std::int64_t s, std::int64_t r, std::int64_t most) {
    Wide reach = 1;
    for (std::int64_t i = 1; i <= std::min(s, r); ++i) {
        reach = reach * (std::max(s, r) + i) / i;
        if (reach >= most) return most;
    }
    return static_cast<std::int64_t>(reach);
}

std::int64_t advanced_segments(std::int64_t segments, std::int64_t checkpoints) {
    if (segments <= 1) return 0;
    const std::int64_t r = repetitions(segments, checkpoints);
    const Wide t = static_cast<Wide>(r) * segments - binomial_reach(checkpoints + 1, r - 1);
    return t > huge ? huge : static_cast<std::int64_t>(t);
}

// Both parts stay within what s and s - 1 checkpoints reach with as few repetitions as possible.
std::int64_t advance_before_checkpoint(std::int64_t segments, std::int64_t checkpoints) {
    if (checkpoints <= 1) return segments - 1;
    const std::int64_t r = repetitions(segments, checkpoints);
    return std::min(binomial_reach(checkpoints, r - 1, segments),
                    segments - binomial_reach(checkpoints - 1, r - 1, segments - 1));
}

std::int64_t MemoryDemand::history(std::int64_t segment) const {
    std::int64_t bytes = multiply(per_step, add(segment, 1));
    for (const Events& e : events) {
        const std::int64_t most = segment > 0 ? (segment - 1) / e.gap + 1 : 0;
        bytes = add(bytes, multiply(e.bytes, std::min(e.count, most)));
    }
    return bytes;
}

double StepCosts::both(std::int64_t segment) const {
    const double both_short = record + adjoint;
    if (segment <= short_steps || long_steps <= short_steps) return both_short;
    const double part = static_cast<double>(std::min(segment, long_steps) - short_steps) /
                        static_cast<double>(long_steps - short_steps);
    return both_short + part * (both_long - both_short);
}

CheckpointPlan plan_of(const MemoryDemand& demand, std::int64_t segment, std::int64_t checkpoints,
                       bool spilled, const StepCosts& costs) {
    CheckpointPlan plan;
    plan.steps = demand.steps;
    plan.segment = std::max<std::int64_t>(std::min(segment, demand.steps), 1);
    plan.segments = std::max<std::int64_t>(divide_up(demand.steps, plan.segment), 1);
    plan.history_bytes = demand.history(std::min(plan.segment, demand.steps));
    plan.measured = costs.measured;
    if (plan.segments > 1) {
        plan.checkpoints = std::clamp<std::int64_t>(checkpoints, 1, plan.segments - 1);
        plan.kind =
            plan.checkpoints >= plan.segments - 1 ? PlanKind::equal_segments : PlanKind::binomial;
        plan.spilled = spilled;
        plan.checkpoint_bytes = multiply(demand.checkpoint, plan.checkpoints);
        const Sweep sweep = count(plan.segments, plan.checkpoints);
        plan.stores = sweep.stores;
        plan.restores = sweep.restores;
        // The last segment, which may be shorter, is never advanced over. In the first sweep every
        // other segment is: what recording it later adds is as much.
        plan.recomputed_steps = sweep.advanced * plan.segment;
        const auto steps = static_cast<double>(demand.steps);
        const double all = steps * costs.both(demand.steps);
        const double seconds = steps * costs.both(plan.segment) +
                               static_cast<double>(plan.recomputed_steps) * costs.advance +
                               static_cast<double>(plan.stores + plan.restores) * costs.copy;
        plan.time_factor = all > 0 ? seconds / all : 1;
    }
    plan.peak_bytes =
        memory_of(demand, std::min(plan.segment, demand.steps), plan.checkpoints, spilled);
    const std::optional<std::int64_t>& functions =
        plan.segments == 1 ? demand.functions : demand.step_functions;
    plan.may_compile = functions.has_value();
    plan.peak_bytes = add(plan.peak_bytes, functions.value_or(0));
    return plan;
}

namespace {

// The fastest of the plans that recompute and fit; none: nothing fits.
std::optional<CheckpointPlan> fastest_plan(const MemoryDemand& demand, const MemoryBudget& budget,
                                           const StepCosts& costs) {
    const bool spilled = budget.disk > 0;
    std::int64_t best_segment = 0, best_checkpoints = 0;
    double best = std::numeric_limits<double>::infinity();
    const auto consider = [&](std::int64_t checkpoints) {
        const std::int64_t longest = longest_segment(demand, budget, checkpoints);
        if (longest == 0) return false;
        const std::int64_t segments = divide_up(demand.steps, longest);
        const std::int64_t used = std::min(checkpoints, segments - 1);
        const std::int64_t segment = divide_up(demand.steps, segments);
        const double seconds = static_cast<double>(advanced_segments(segments, used)) *
                                   static_cast<double>(segment) * costs.advance +
                               static_cast<double>(demand.steps) * costs.both(segment) +
                               2 * static_cast<double>(segments) * costs.copy;
        if (seconds < best) {
            best = seconds;
            best_segment = segment;
            best_checkpoints = used;
        }
        return used == checkpoints;  // more are of no use
    };
    std::int64_t most = demand.steps - 1;
    if (spilled && demand.checkpoint > 0) most = std::min(most, budget.disk / demand.checkpoint);
    std::int64_t before = 0;
    for (std::int64_t s = 1; s <= most; s += std::max<std::int64_t>(1, s / every_number)) {
        if (!consider(s)) {  // between the last number and this one all needs are met at first
            for (std::int64_t t = before + 1; t < s; ++t)
                if (!consider(t)) break;
            break;
        }
        before = s;
    }
    if (best_segment == 0) return {};
    return plan_of(demand, best_segment, best_checkpoints, spilled, costs);
}

// The fastest plan whose segments stay in a cache.
std::optional<CheckpointPlan> near_plan(const MemoryDemand& demand, MemoryBudget budget,
                                        const StepCosts& costs) {
    const std::int64_t functions = demand.step_functions.value_or(0);
    if (functions == 0 || costs.long_steps == 0 || demand.steps < 2) return {};
    budget.memory = std::min(budget.memory - functions,
                             add(add(demand.fixed, demand.if_recomputed), near_history_bytes));
    return fastest_plan(demand, budget, costs);
}

// The one of them, if it is faster than a plan that may take all memory.
CheckpointPlan faster(const CheckpointPlan& plan, const std::optional<CheckpointPlan>& near) {
    return near && near->time_factor < plan.time_factor ? *near : plan;
}

}  // namespace

CheckpointPlan plan_checkpoints(const MemoryDemand& demand, const MemoryBudget& budget,
                                const StepCosts& costs) {
    if (memory_of(demand, demand.steps, 0, false) <= budget.memory || demand.steps == 0) {
        CheckpointPlan plan = plan_of(demand, demand.steps, 0, false, costs);
        if (plan.may_compile && plan.peak_bytes > budget.memory) {
            plan.may_compile = false;
            plan.peak_bytes -= demand.functions.value_or(0);
        }
        if (plan.peak_bytes > budget.memory) refuse(demand, budget);
        if (!plan.may_compile || !budget.may_recompute) return plan;
        return faster(plan, near_plan(demand, budget, costs));
    }
    if (!budget.may_recompute || demand.steps == 1) refuse(demand, budget);
    if (budget.disk > 0 && budget.disk < demand.checkpoint)
        throw Error(fmt::format("a stored state takes {}, but the files may take {} only",
                                bytes_text(demand.checkpoint), bytes_text(budget.disk)))
            .remedy("name a folder with more free space with --spill, or do without it");
    // Functions come first: they save more time than the memory that they take.
    if (const std::int64_t functions = demand.step_functions.value_or(huge);
        functions < budget.memory) {
        MemoryBudget beside = budget;
        beside.memory -= functions;
        if (const auto plan = fastest_plan(demand, beside, costs))
            return faster(*plan, near_plan(demand, budget, costs));
    }
    MemoryDemand without = demand;
    without.step_functions.reset();
    if (const auto plan = fastest_plan(without, budget, costs)) return *plan;
    refuse(demand, budget);
}

std::string bytes_text(std::int64_t bytes) {
    static constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} bytes", bytes);
    double number = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (number >= 1024 && unit + 1 < std::size(units)) {
        number /= 1024;
        ++unit;
    }
    return fmt::format("{:.4g} {}", number, units[unit]);
}

std::string CheckpointPlan::describe() const {
    std::string text = name_of(kind);
    if (kind == PlanKind::store_all)
        return text + fmt::format(" of {} steps, {}", steps, bytes_text(peak_bytes));
    return text + fmt::format(
                      ": {} state{} stored{}, {} segments of {} steps, {} steps "
                      "recomputed, {}, {:.3g} x the time ({})",
                      checkpoints, checkpoints == 1 ? "" : "s", spilled ? " in files" : "",
                      segments, segment, recomputed_steps, bytes_text(peak_bytes), time_factor,
                      measured ? "measured" : "estimated");
}

}  // namespace hindcast
