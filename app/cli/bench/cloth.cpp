// implicit_cloth: a cloth of 100 x 100 points, 1 m wide, at rest in the plane z = 0, hangs from two
// corners: 5 steps of implicit Euler, 10 ms each. Point 100 i + j is at (i/99, j/99, 0), all
// diagonals of cells run the same way; points 0 and 99 are fixed. Area density .2, warp stiffness
// 1000, Poisson's ratio .3, bending stiffness 1e-5, gravity (0, 0, -9.81). Loss: the sum of |x|^2 at
// the end; gradient in the area density, the warp stiffness of each triangle and all start
// positions. The energies are those of kernels/cloth/cloth.cpp.
#include "app/cli/bench/bench.hpp"
#include "engine/runtime/minimization/minimization.hpp"

namespace hindcast::cli {

namespace {

// A formula that names a place has a value for each triangle, hence a gradient for each.
constexpr std::int64_t side = 100, triangles = 2 * (side - 1) * (side - 1);

// The seconds of the solver's parts since totals were cleared, per step.
void add_times(Simulation& simulation, const std::string& direction, BenchResult& result) {
    Minimization& minimization = *simulation.model().minimization();
    const MinimizationTimes& t = minimization.times();
    const auto add = [&](const char* what, double seconds) {
        result.more.emplace_back(direction + what,
                                 seconds / static_cast<double>(simulation.steps()));
    };
    add("_evaluate_s_per_step", t.all_s - t.factorize_s - t.solve_s);
    add("_factorize_s_per_step", t.factorize_s);
    add("_solve_s_per_step", t.solve_s);
    minimization.clear_totals();
}

BenchResult implicit_cloth(const BenchOptions& options) {
    static const char* const scene = R"json({
        "format": 1, "time": {"step": 0.01, "steps": 5, "integrator": "implicit_euler"},
        "gravity": [0, 0, -9.81],
        "bodies": [{"type": "cloth", "name": "sheet", "area_density": 0.2,
                    "mesh": {"grid": {"origin": [0, 0, 0], "warp": [1, 0, 0], "weft": [0, 1, 0],
                                      "cells": [99, 99], "pattern": "diagonal"}},
                    "positions": {"formula": ["x", "y", "z"]},
                    "warp_stiffness": {"formula": "1000 + 0*x"}, "poisson_ratio": 0.3,
                    "bending_stiffness": 1e-5, "fixed": [0, 99]}],
        "objective": [{"type": "point_target", "of": "sheet", "target": [0, 0, 0], "sum": true}],
        "parameters": [{"path": "sheet.area_density"}, {"path": "sheet.warp_stiffness"},
                       {"path": "sheet.positions"}]})json";
    SceneBench bench{.workload = "implicit_cloth", .scene = scene, .n = side * side};
    bench.most_repeats = 2;
    bench.look = [](const std::vector<double>& gradient, BenchResult& result) {
        const auto stiffness = gradient.begin() + 1, positions = stiffness + triangles;
        result.gradients = {{"density", {gradient.front()}},
                            {"k", {stiffness, positions}},
                            {"x0", {positions, gradient.end()}}};
    };
    bench.after = [](Simulation& simulation, BenchResult& result) {
        const double steps = static_cast<double>(simulation.steps());
        result.gradients.emplace_back("end", simulation.model().array("position").to_doubles());
        result.more.emplace_back("forward_s_per_step", result.forward_s / steps);
        result.more.emplace_back("forward_backward_s_per_step", result.forward_backward_s / steps);
        result.more.emplace_back("kept_bytes_per_step",
                                 static_cast<double>(simulation.rollout().kept_bytes()) / steps);
        Minimization& minimization = *simulation.model().minimization();
        minimization.clear_totals();
        simulation.run(true);
        result.more.emplace_back("iterations_per_step",
                                 minimization.totals().all.iterations / steps);
        add_times(simulation, "forward", result);
        simulation.gradient();
        add_times(simulation, "backward", result);
    };
    return run_scene(bench, options);
}

}  // namespace

std::vector<Workload> cloth_workloads() {
    return {{"implicit_cloth", "a hanging cloth of 10 000 points, 5 implicit steps",
             [](const BenchOptions& o) { return std::vector{implicit_cloth(o)}; }, false}};
}

}  // namespace hindcast::cli
