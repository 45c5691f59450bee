// Spring nets. A net of side x side particles of unit mass, particle side*i + j at (i h, 0, j h),
// h = 1/(side-1), with velocity (0, .3 sin(2 pi i h) cos(2 pi j h), 0); row i = 0 is fixed. Springs
// join (i, j) to (i, j) + o for o = (1,0) (0,1) (1,1) (1,-1) (2,0) (0,2) wherever both ends exist,
// with rest length .97 h |o| and one stiffness, 4e4, for all. Gravity (0, -9.8, 0), steps of 1 ms,
// velocities damped by exp(-dt) in each. Loss |mean position - (.4, -.1, .5)|^2; gradient in all
// initial velocities and the stiffness.
//
//   cloth_springs    side 256, 390 658 springs, 200 steps
//   springs_1m       side 410, 1 004 502 springs, 20 steps
//   springs_sweep    sides 14, 42, 130, 410, 1292 (1 038 to 10 002 666 springs; --most-springs ends
//                    it earlier), 20 steps each: cost against size
#include <fmt/core.h>

#include <algorithm>

#include "app/cli/bench/bench.hpp"

namespace hindcast::cli {

std::string spring_net_scene(int side, std::int64_t steps) {
    return fmt::format(R"json({{
        "format": 1, "time": {{"step": 0.001, "steps": {steps}}}, "gravity": [0, -9.8, 0],
        "bodies": [{{"type": "particles", "name": "sheet", "positions": {{"grid": {{"counts": [{side}, 1, {side}], "spacing": "1/{last}"}}}},
                    "velocity": {{"formula": ["0", "0.3*sin(6.283185307179586*x)*cos(6.283185307179586*z)", "0"]}},
                    "fixed": {{"box": {{"min": [0, -1, -1], "max": [0, 1, 2]}}}}}}],
        "forces": [{{"type": "springs", "name": "net", "stiffness": 40000, "rest_length": {{"initial": 0.97}},
                    "connect": {{"grid": "sheet", "counts": [{side}, {side}], "patterns": ["structural", "shear", "bend"]}}}},
                   {{"type": "damping", "rate": 1, "order": "after"}}],
        "objective": [{{"type": "center_of_mass", "of": "sheet", "target": [0.4, -0.1, 0.5]}}],
        "parameters": [{{"path": "sheet.velocity"}}, {{"path": "net.stiffness"}}]}})json",
                       fmt::arg("steps", steps), fmt::arg("side", side),
                       fmt::arg("last", side - 1));
}

namespace {

BenchResult net(const std::string& workload, int side, int steps, bool by_springs,
                const BenchOptions& options) {
    SceneBench bench{.workload = workload,
                     .scene = spring_net_scene(side, steps),
                     .n = by_springs ? springs_of(side) : std::int64_t{side} * side};
    bench.look = [side](const std::vector<double>& gradient, BenchResult& result) {
        result.more.emplace_back("springs", static_cast<double>(springs_of(side)));
        // The fixed row never moves: its velocities are not parameters of the workload.
        std::vector<double> velocity(gradient.begin(), gradient.end() - 1);
        std::fill_n(velocity.begin(), 3 * side, 0.0);
        result.gradients = {{"v0", velocity}, {"K", {gradient.back()}}};
    };
    return run_scene(bench, options);
}

std::vector<BenchResult> sweep(const BenchOptions& options) {
    std::vector<BenchResult> results;
    for (const int side : {14, 42, 130, 410, 1292}) {
        if (springs_of(side) > options.most_springs + options.most_springs / 10) break;
        results.push_back(net("springs_sweep", side, 20, true, options));
        BenchResult& r = results.back();
        const double per = 1e9 / (static_cast<double>(r.n) * static_cast<double>(r.steps));
        r.more.emplace_back("forward_ns_per_spring_step", r.forward_s * per);
        r.more.emplace_back("forward_backward_ns_per_spring_step", r.forward_backward_s * per);
    }
    return results;
}

}  // namespace

std::vector<Workload> spring_workloads() {
    return {
        {"cloth_springs", "65 536 particles, 390 658 springs, 200 steps",
         [](const BenchOptions& o) {
             return std::vector{net("cloth_springs", 256, 200, false, o)};
         }},
        {"springs_1m", "a net of 1 004 502 springs, 20 steps",
         [](const BenchOptions& o) { return std::vector{net("springs_1m", 410, 20, true, o)}; }},
        {"springs_sweep", "nets of 10^3 to 10^7 springs, 20 steps: cost against size", sweep}};
}

}  // namespace hindcast::cli
