// Checkpoint plans as pure arithmetic: against dynamic programming, and by going through them.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/runtime/history/checkpoint_plan.hpp"

using namespace hindcast;

namespace {

// least[s][l]: how often segments are advanced over to reverse l of them with s checkpoints, the
// one at the start counted; over all places for the next checkpoint.
std::vector<std::vector<std::int64_t>> least_advances(int most_checkpoints, int most_segments) {
    std::vector<std::vector<std::int64_t>> least(
        static_cast<std::size_t>(most_checkpoints) + 1,
        std::vector<std::int64_t>(static_cast<std::size_t>(most_segments) + 1, 0));
    for (std::size_t s = 1; s < least.size(); ++s)
        for (std::size_t l = 2; l < least[s].size(); ++l) {
            least[s][l] = static_cast<std::int64_t>(l * (l - 1) / 2);
            if (s == 1) continue;
            for (std::size_t m = 1; m < l; ++m)
                least[s][l] = std::min(
                    least[s][l], static_cast<std::int64_t>(m) + least[s - 1][l - m] + least[s][m]);
        }
    return least;
}

MemoryDemand demand(std::int64_t steps) {
    MemoryDemand d;
    d.steps = steps;
    d.fixed = 1000;
    d.if_recomputed = 300;
    d.per_step = 100;
    d.checkpoint = 150;
    return d;
}

std::string message(const std::function<void()>& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("checkpoint plan: beta is the binomial coefficient") {
    CHECK(binomial_reach(3, 0) == 1);
    CHECK(binomial_reach(0, 5) == 1);
    CHECK(binomial_reach(3, 2) == 10);
    CHECK(binomial_reach(2, 3) == 10);
    CHECK(binomial_reach(10, 10) == 184756);
    CHECK(binomial_reach(1000, 1000, 77) == 77);
    CHECK(binomial_reach(1, 1'000'000'000) == 1'000'000'001);
    CHECK(binomial_reach(1000, 1000) == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("checkpoint plan: no schedule advances over fewer segments (dynamic programming)") {
    const int most_segments = 120, most_checkpoints = 12;
    const auto least = least_advances(most_checkpoints, most_segments);
    for (int s = 1; s <= most_checkpoints; ++s)
        for (int l = 1; l <= most_segments; ++l) {
            CAPTURE(s);
            CAPTURE(l);
            REQUIRE(advanced_segments(l, s) ==
                    least[static_cast<std::size_t>(s)][static_cast<std::size_t>(l)]);
        }
}

TEST_CASE("checkpoint plan: the stack goes back through every segment within its slots") {
    for (int slots = 1; slots <= 7; ++slots)
        for (int segments = 1; segments <= 60; ++segments) {
            CAPTURE(slots);
            CAPTURE(segments);
            CheckpointStack stack(slots);
            stack.push(0);
            std::vector<std::int64_t> memory(static_cast<std::size_t>(slots), -1);
            memory[0] = 0;
            std::int64_t state = 0, advanced = 0;
            for (std::int64_t target = segments - 1; target >= 0; --target) {
                stack.reach(
                    target,
                    [&](std::int64_t slot) { state = memory[static_cast<std::size_t>(slot)]; },
                    [&](std::int64_t from, std::int64_t to) {
                        REQUIRE(state == from);
                        REQUIRE(to <= target);
                        advanced += to - from;
                        state = to;
                    },
                    [&](std::int64_t slot) {
                        REQUIRE(slot < slots);
                        memory[static_cast<std::size_t>(slot)] = state;
                    });
                REQUIRE(state == target);
            }
            CHECK(advanced == advanced_segments(segments, slots));
        }
}

TEST_CASE("checkpoint plan: what fits is stored, then segments, then binomial") {
    const MemoryDemand d = demand(1000);
    const std::int64_t all = 1000 + 100 * 1001;
    const CheckpointPlan everything = plan_checkpoints(d, {.memory = all});
    CHECK(everything.kind == PlanKind::store_all);
    CHECK(everything.peak_bytes == all);
    CHECK(everything.recomputed_steps == 0);
    CHECK(everything.time_factor == 1);
    CHECK(plan_checkpoints(d, {}).kind == PlanKind::store_all);

    const CheckpointPlan half = plan_checkpoints(d, {.memory = all - 1});
    CHECK(half.kind == PlanKind::equal_segments);
    CHECK(half.segments == 2);
    CHECK(half.segment == 500);
    CHECK(half.checkpoints == 1);
    CHECK(half.recomputed_steps == 500);
    CHECK(half.peak_bytes == 1000 + 300 + 100 * 501 + 150);
    CHECK(half.time_factor == doctest::Approx(1 + 500.0 / 3500));

    const CheckpointPlan few = plan_checkpoints(d, {.memory = 5000});
    CHECK(few.kind == PlanKind::binomial);
    CHECK(few.peak_bytes <= 5000);

    // One step at a time from the start alone: each step of n is run n times.
    const CheckpointPlan least = plan_checkpoints(d, {.memory = 1000 + 300 + 200 + 150});
    CHECK(least.segment == 1);
    CHECK(least.checkpoints == 1);
    CHECK(least.recomputed_steps == 1000 * 999 / 2);
    CHECK(message([&] { plan_checkpoints(d, {.memory = 1649}); }) ==
          "gradients over 1000 steps do not fit into 1.61 KiB of memory; the least that works is "
          "1.611 KiB (1650 bytes); storing everything takes 98.73 KiB");
    CHECK(message([&] {
              plan_checkpoints(d, {.memory = 5000, .may_recompute = false});
          }).find("the least that works is 98.73 KiB (101100 bytes)") != std::string::npos);
}

TEST_CASE("checkpoint plan: the cheapest of all, by trying every one") {
    MemoryDemand d = demand(60);
    d.events.push_back({40, 6, 10});
    for (std::int64_t budget = 1700; budget < 9000; budget += 37) {
        CAPTURE(budget);
        double best = std::numeric_limits<double>::infinity();
        for (std::int64_t segment = 1; segment <= 60; ++segment)
            for (std::int64_t checkpoints = 1; checkpoints < 60; ++checkpoints) {
                const CheckpointPlan plan = plan_of(d, segment, checkpoints);
                if (plan.peak_bytes <= budget) best = std::min(best, plan.time_factor);
            }
        if (best == std::numeric_limits<double>::infinity()) {
            CHECK_THROWS_AS(plan_checkpoints(d, {.memory = budget}), Error);
            continue;
        }
        const CheckpointPlan plan = plan_checkpoints(d, {.memory = budget});
        CHECK(plan.peak_bytes <= budget);
        CHECK(plan.time_factor <= best * 1.0000001);
    }
}

TEST_CASE("checkpoint plan: long histories cost what they were measured to cost") {
    // Recorded and reversed in 5 units, in segments of 4 steps and less; in 9 from 104 steps on.
    StepCosts costs{1, 2, 3, 0, true, 4, 104, 9};
    CHECK(costs.both(1) == 5);
    CHECK(costs.both(4) == 5);
    CHECK(costs.both(54) == doctest::Approx(7));
    CHECK(costs.both(104) == 9);
    CHECK(costs.both(1000) == 9);
    CheckpointPlan plan = plan_of(demand(1000), 54, 18, false, costs);
    CHECK(plan.recomputed_steps == 18 * 54);
    CHECK(plan.time_factor == doctest::Approx((1000 * 7 + 18 * 54) / 9000.0));
    costs.long_steps = 0;  // not measured
    plan = plan_of(demand(1000), 54, 18, false, costs);
    CHECK(plan.time_factor == doctest::Approx((1000 * 5 + 18 * 54) / 5000.0));
}

TEST_CASE("checkpoint plan: short segments where long histories cost more than steps") {
    MemoryDemand d;
    d.steps = 100'000;
    d.fixed = 1000;
    d.if_recomputed = d.checkpoint = 100;
    d.per_step = 800;
    d.functions = d.step_functions = 5000;
    StepCosts costs{.advance = 0.08,
                    .record = 0.1,
                    .adjoint = 0.1,
                    .measured = true,
                    .short_steps = 4,
                    .long_steps = 50'000,
                    .both_long = 0.35};
    const CheckpointPlan near = plan_checkpoints(d, {}, costs);
    CHECK(near.segments > 1);
    CHECK(near.time_factor < 0.9);
    CHECK(near.may_compile);
    CHECK(near.history_bytes + near.checkpoint_bytes <= near_history_bytes);
    CHECK(near.peak_bytes == 1000 + 100 + 5000 + near.history_bytes + near.checkpoint_bytes);
    // The same where memory is limited to much more than that: more memory is not more time.
    const CheckpointPlan limited = plan_checkpoints(d, {.memory = 8 * near_history_bytes}, costs);
    CHECK(limited.segment == near.segment);
    CHECK(limited.checkpoints == near.checkpoints);
    // Everything is stored where long histories cost nothing, where that was not measured, and
    // where steps are no functions or must not run again.
    costs.both_long = 0.21;
    CHECK(plan_checkpoints(d, {}, costs).kind == PlanKind::store_all);
    CHECK(plan_checkpoints(d, {.memory = 8 * near_history_bytes}, costs).segment > near.segment);
    costs.both_long = 0.35;
    CHECK(plan_checkpoints(d, {.may_recompute = false}, costs).kind == PlanKind::store_all);
    d.step_functions = 0;
    CHECK(plan_checkpoints(d, {}, costs).kind == PlanKind::store_all);
    d.step_functions = 5000;
    costs.long_steps = 0;
    CHECK(plan_checkpoints(d, {}, costs).kind == PlanKind::store_all);
}

TEST_CASE("checkpoint plan: checkpoints in files take disk, not memory") {
    const MemoryDemand d = demand(1000);
    const CheckpointPlan plan = plan_checkpoints(d, {.memory = 3000, .disk = 1'000'000});
    CHECK(plan.spilled);
    CHECK(plan.kind == PlanKind::equal_segments);
    CHECK(plan.peak_bytes <= 3000);
    CHECK(plan.checkpoint_bytes == 150 * plan.checkpoints);
    const CheckpointPlan small = plan_checkpoints(d, {.memory = 3000, .disk = 1500});
    CHECK(small.checkpoints <= 10);
    CHECK(small.kind == PlanKind::binomial);
    CHECK(message([&] { plan_checkpoints(d, {.memory = 3000, .disk = 149}); }) ==
          "a stored state takes 150 bytes, but the files may take 149 bytes only; name a folder "
          "with more free space with --spill, or do without it");
}

TEST_CASE("checkpoint plan: long roll-outs, no steps, and sizes that wrap round") {
    MemoryDemand d;
    d.steps = 10'000'000;
    d.per_step = 1 << 20;
    d.checkpoint = 1 << 20;
    const CheckpointPlan plan = plan_checkpoints(d, {.memory = std::int64_t{64} << 20});
    CHECK(plan.kind == PlanKind::binomial);
    CHECK(plan.peak_bytes <= (64 << 20));
    CHECK(plan.time_factor < 3);
    d.steps = 0;
    CHECK(plan_checkpoints(d, {.memory = 1 << 20}).kind == PlanKind::store_all);
    d.steps = std::int64_t{1} << 60;
    CHECK(plan_checkpoints(d, {}).peak_bytes == std::numeric_limits<std::int64_t>::max());
}
