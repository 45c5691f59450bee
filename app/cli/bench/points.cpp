// mpm2d: an elastic block of 6400 material points on a grid of 120 x 120 nodes, dx = 1/120, 1023
// steps of 3e-4 s: point 80 i + j starts at ((10 + i/2) dx, (25 + j/2) dx) with velocity (0, 0),
// mass and volume 1, mu = lambda = 100, gravity 9.8, slip walls at nodes below 3 and above 117.
// Loss |mean x - (.3, .6)|^2 / 2, gradient in the common initial velocity.
//
// mpm_million: the same with a million points, point 1000 i + j at ((70 + i/2) dx, (5 + j/2) dx),
// on 640 x 640 nodes, dx = 1/640, 10 steps of 5e-5 s, initial velocity (1, -2), target (.5, .5).
#include <fmt/format.h>

#include "app/cli/bench/bench.hpp"

namespace hindcast::cli {

std::string material_block_scene(std::int64_t steps) {
    return fmt::format(
               R"json({{"format": 1, "dimension": 2, "time": {{"step": 3e-4, "steps": {}}},)json",
               steps) +
           R"json(
        "gravity": [0, -9.8],
        "bodies": [{"type": "material_points", "name": "block", "mu": 100, "lambda": 100,
                    "positions": {"grid": {"counts": [80, 80], "spacing": "1/240",
                                           "origin": ["10/120", "25/120"]}}}],
        "forces": [{"type": "mpm_grid", "nodes": [120, 120], "spacing": "1/120"}],
        "objective": [{"type": "center_of_mass", "of": "block", "target": [0.3, 0.6], "weight": 0.5}],
        "parameters": [{"path": "block.velocity"}]})json";
}

namespace {

BenchResult mpm2d(const BenchOptions& options) {
    return run_scene({.workload = "mpm2d",
                      .scene = material_block_scene(1023),
                      .n = std::int64_t{80} * 80,
                      .gradient_name = "v0"},
                     options);
}

BenchResult million(const BenchOptions& options) {
    static const char* const scene = R"json({
        "format": 1, "dimension": 2, "time": {"step": 5e-5, "steps": 10}, "gravity": [0, -9.8],
        "bodies": [{"type": "material_points", "name": "block", "mu": 100, "lambda": 100,
                    "velocity": [1, -2],
                    "positions": {"grid": {"counts": [1000, 1000], "spacing": "1/1280",
                                           "origin": ["70/640", "5/640"]}}}],
        "forces": [{"type": "mpm_grid", "nodes": [640, 640], "spacing": "1/640"}],
        "objective": [{"type": "center_of_mass", "of": "block", "target": [0.5, 0.5], "weight": 0.5}],
        "parameters": [{"path": "block.velocity"}]})json";
    return run_scene(
        {.workload = "mpm_million", .scene = scene, .n = 1000000, .gradient_name = "v0"}, options);
}

}  // namespace

std::vector<Workload> point_workloads() {
    return {{"mpm2d", "6400 material points, 120 x 120 nodes, 1023 steps",
             [](const BenchOptions& o) { return std::vector{mpm2d(o)}; }},
            {"mpm_million", "a million material points, 640 x 640 nodes, 10 steps",
             [](const BenchOptions& o) { return std::vector{million(o)}; }}};
}

}  // namespace hindcast::cli
