// wave2d: the wave equation on 512 x 512 nodes, whose border is held at zero, 256 steps of the
// five-point scheme with (c dt / dx)^2 = 1/3 (four per step of the scene): P[0](i, j) =
// .5 sin(.01 (512 i + j)), P[1] = 0, last level P[257]. Loss: the mean of (P[257] - target)^2,
// target exp(-((i-256)^2 + (j-256)^2) / 800) minus its mean. Gradient in P[0].
#include "app/cli/bench/bench.hpp"

namespace hindcast::cli {

namespace {

BenchResult wave2d(const BenchOptions& options) {
    // dx = 1/512, c = 340: four time levels take 4 dx / (c sqrt(3)) seconds.
    static const char* const scene = R"json({
        "format": 1, "dimension": 2, "time": {"step": 1.326632052365868e-05, "steps": 64},
        "bodies": [{"type": "waves", "name": "membrane", "nodes": [512, 512], "spacing": "1/512",
                    "speed": 340, "levels_per_step": 4, "boundary": "fixed_border",
                    "level_0": {"formula": "0.5*sin(0.01*i)"}}],
        "objective": [{"type": "field_target", "of": "membrane", "zero_mean": true,
                       "target": {"formula": "exp(-((512*x-256)^2+(512*y-256)^2)/800)"}}],
        "parameters": [{"path": "membrane.level_0"}]})json";
    SceneBench bench{.workload = "wave2d", .scene = scene, .n = std::int64_t{512} * 512};
    bench.look = [](const std::vector<double>& gradient, BenchResult& result) {
        result.gradients = {{"p0", gradient}};
        result.steps *= 4;  // time levels, as other programs count them
    };
    return run_scene(bench, options);
}

}  // namespace

std::vector<Workload> wave_workloads() {
    return {{"wave2d", "512 x 512 nodes, 256 time levels",
             [](const BenchOptions& o) { return std::vector{wave2d(o)}; }}};
}

}  // namespace hindcast::cli
