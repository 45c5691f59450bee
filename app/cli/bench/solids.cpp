// tet_neohookean: explicit linear tetrahedra. The unit cube in 16 x 16 x 16 cells of six tetrahedra
// (24 576 in all, 4913 points; the split is that of kernels/solids/mesh.hpp), density 1000,
// mu = lambda = 1e5, energy per volume mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2. Gravity
// (0, -9.8, 0), 100 steps of 5e-4, points with X_x = 0 fixed, initial velocity (.5 X_x,
// -4 X_x (X_z - .5), 4 X_x (X_y - .5)). Loss: the mean over the points of |x - X - X_x (.05, .1,
// 0)|^2; gradient in all initial velocities, mu and lambda.
#include <algorithm>

#include "app/cli/bench/bench.hpp"

namespace hindcast::cli {

namespace {

BenchResult tet_neohookean(const BenchOptions& options) {
    static const char* const scene = R"json({
        "format": 1, "time": {"step": 0.0005, "steps": 100}, "gravity": [0, -9.8, 0],
        "bodies": [{"type": "solid", "name": "block", "density": 1000, "mu": 1e5, "lambda": 1e5,
                    "mesh": {"box": {"min": [0, 0, 0], "max": [1, 1, 1], "cells": [16, 16, 16]}},
                    "velocity": {"formula": ["0.5*x", "-4*x*(z-0.5)", "4*x*(y-0.5)"]},
                    "fixed": {"box": {"min": [0, 0, 0], "max": [0, 1, 1]}}}],
        "objective": [{"type": "point_target", "of": "block",
                       "target": {"formula": ["x+0.05*x", "y+0.1*x", "z"]}}],
        "parameters": [{"path": "block.velocity"}, {"path": "block.mu"}, {"path": "block.lambda"}]})json";
    SceneBench bench{.workload = "tet_neohookean", .scene = scene, .n = 24576};
    bench.look = [](const std::vector<double>& gradient, BenchResult& result) {
        // The fixed points never move: their velocities are not parameters of the workload.
        std::vector<double> velocity(gradient.begin(), gradient.end() - 2);
        std::fill_n(velocity.begin(), 3 * 17 * 17, 0.0);
        result.gradients = {
            {"v0", velocity}, {"mu", {gradient.end()[-2]}}, {"la", {gradient.end()[-1]}}};
    };
    return run_scene(bench, options);
}

}  // namespace

std::vector<Workload> solid_workloads() {
    return {{"tet_neohookean", "24 576 tetrahedra, 100 steps",
             [](const BenchOptions& o) { return std::vector{tet_neohookean(o)}; }}};
}

}  // namespace hindcast::cli
