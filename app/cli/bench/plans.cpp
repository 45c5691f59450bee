// Measured against predicted cost of checkpoint plans: the gradient of the spring net of
// springs.cpp over 96 steps, launch by launch, with everything stored and then in segments of 12
// steps with 8, 3 and 2 states stored (the latter binomial). The time of forward + backward by that
// of storing everything is the measured factor. Sides 130 (100 102 springs, whose whole history
// caches may hold) and 300 (537 002 springs, whose history they do not).
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "app/cli/bench/bench.hpp"

namespace hindcast::cli {

namespace {

std::vector<BenchResult> plans(int side, const BenchOptions& options) {
    constexpr std::int64_t steps = 96, segment = 12;
    Registry registry;
    register_all_modules(registry);
    SimulationOptions so;
    DeviceOptions device = options.device;
    device.whole_program = WholeProgramUse::never;
    so.device = std::make_shared<Device>(device);
    so.precision = options.precision;
    Simulation simulation(Scene::parse(spring_net_scene(side, steps), "plans"), registry, so);
    Rollout& rollout = simulation.rollout();
    rollout.warm_up();
    rollout.force_plan(segment, 1);  // measured are also long histories
    rollout.measure();
    std::vector<BenchResult> results;
    std::vector<double> expected;
    // In turns, since ratios are what counts.
    constexpr int rounds = 3;
    constexpr std::array<std::int64_t, 4> all_states = {1, 8, 3, 2};
    for (int round = 0; round < rounds; ++round)
        for (std::size_t k = 0; k < all_states.size(); ++k) {
            rollout.force_plan(k == 0 ? steps : segment, all_states[k]);
            const CheckpointPlan plan = rollout.plan();
            rollout.allocate();
            if (round == 0) {
                BenchResult r{.workload = "plans", .n = plan.recomputed_steps, .steps = steps};
                r.program_steps = steps;
                r.forward_s = r.forward_backward_s = std::numeric_limits<double>::infinity();
                r.more = {{"springs", static_cast<double>(springs_of(side))},
                          {"states_stored", static_cast<double>(plan.checkpoints)},
                          {"predicted_factor", plan.time_factor},
                          {"predicted_mb", static_cast<double>(plan.peak_bytes) / 1048576.0}};
                results.push_back(std::move(r));
            }
            BenchResult& r = results[k];
            r.loss = simulation.run(true);
            r.gradients = {{"p", simulation.gradient()}};
            if (expected.empty()) expected = r.gradients[0].second;
            if (r.gradients[0].second != expected)
                throw Error("internal: the gradient is another one with the plan " +
                            plan.describe());
            const auto least = [&](double& seconds, const auto& run) {
                seconds = std::min(seconds, fastest(*so.device, options.repeats, 1, run));
            };
            least(r.forward_s, [&] { simulation.run(false); });
            least(r.forward_backward_s, [&] {
                simulation.run(true);
                simulation.gradient();
            });
            r.compile_s = so.device->statistics().seconds;
        }
    for (BenchResult& r : results)
        r.more.emplace_back("measured_factor",
                            r.forward_backward_s / results[0].forward_backward_s);
    return results;
}

}  // namespace

std::vector<Workload> plan_workloads() {
    return {{"plans", "Gradients of 100 102 and 537 002 springs, 96 steps, from few stored states",
             [](const BenchOptions& options) {
                 std::vector<BenchResult> results = plans(130, options);
                 for (BenchResult& r : plans(300, options)) results.push_back(std::move(r));
                 return results;
             }}};
}

}  // namespace hindcast::cli
