// Identification problems in which L-BFGS has to come as far as Newton's method: wind, drag and
// stiffness of a cloth (sizes far apart, and steps that make it blow up), the moduli of the elements
// of a beam (badly conditioned), a throw over obstacles. What was seen is what the true values lead
// to, so that the least loss is zero.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/backend/jit/llvm.hpp"
#include "engine/base/random.hpp"
#include "engine/document/document.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using document::Document;

namespace {

std::unique_ptr<Simulation> simulate(const Document& scene, ir::Precision precision) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{});
    options.precision = precision;
    return std::make_unique<Simulation>(Scene::parse(scene.to_text()), test::all_modules(),
                                        options);
}

// The scene with its objective: where these points of the body are at these steps with the true
// values of the parameters.
Document with_targets(Document scene, const std::vector<double>& truth, const std::string& body,
                      const std::vector<std::int64_t>& points,
                      const std::vector<std::int64_t>& steps, double step) {
    using document::Node;
    scene.set("/objective", Document::parse(R"([{"type": "point_target", "of": ")" + body +
                                            R"(", "target": [0, 0, 0]}])")
                                .root());
    const auto simulation = simulate(scene, ir::Precision::f64);
    simulation->parameters().set_values(truth);
    Node targets = Node::array(), at = Node::array(), numbers = Node::array();
    for (const std::int64_t point : points) numbers.push_back(point);
    for (const std::int64_t s : steps) at.push_back(static_cast<double>(s) * step);
    simulation->run(false, [&](std::int64_t done) {
        const std::int64_t substeps = simulation->scene().substeps();
        if (done % substeps != 0 ||
            std::find(steps.begin(), steps.end(), done / substeps) == steps.end())
            return true;
        const Array x = simulation->model().array("position");
        for (const std::int64_t point : points)
            targets.push_back(
                Node::array({x.value(point, 0), x.value(point, 1), x.value(point, 2)}));
        return true;
    });
    REQUIRE(targets.size() == points.size() * steps.size());
    scene.set("/objective", Node::array({Node::object({{"type", "trajectory"},
                                                       {"of", body},
                                                       {"points", std::move(numbers)},
                                                       {"at", std::move(at)},
                                                       {"targets", std::move(targets)}})}));
    return scene;
}

Optimization::Outcome optimize(Document scene, const std::string& optimizer,
                               ir::Precision precision = ir::Precision::f64) {
    scene.set("/optimizer", Document::parse(optimizer).root());
    const auto simulation = simulate(scene, precision);
    return Optimization(*simulation).run();
}

void check_found(const Optimization::Outcome& outcome, const std::vector<double>& truth,
                 double tolerance) {
    CAPTURE(outcome.reason);
    REQUIRE(outcome.best.parameters.size() == truth.size());
    for (std::size_t k = 0; k < truth.size(); ++k) {
        CAPTURE(k);
        CHECK(outcome.best.parameters[k] == doctest::Approx(truth[k]).epsilon(tolerance));
    }
}

}  // namespace

TEST_CASE("L-BFGS identifies wind, drag and stiffness of a cloth as Newton's method does") {
    if (!backend::llvm_info().available) HINDCAST_SKIP(backend::llvm_info().problem);
    const Document scene = with_targets(
        Document::parse(R"({"format": 1, "time": {"step": 0.01, "substeps": 4, "steps": 60},
            "gravity": [0, 0, -9.81],
            "bodies": [{"type": "particles", "name": "cloth", "mass": 0.01,
                        "positions": {"grid": {"counts": [8, 1, 8], "spacing": 0.1,
                                               "origin": [0, 0, 1]}},
                        "fixed": [0, 1, 2, 3, 4, 5, 6, 7]}],
            "forces": [{"type": "springs", "name": "threads", "stiffness": 40, "damping": 0.02,
                        "connect": {"grid": "cloth", "counts": [8, 8],
                                    "patterns": ["structural", "shear", "bend"]}},
                       {"type": "drag", "name": "air", "linear": 0.01, "wind": [3, 1, 0]}],
            "parameters": [{"path": "air.wind"},
                           {"path": "air.linear", "bounds": [0, 1]},
                           {"path": "threads.stiffness", "bounds": [1, 1000]}]})"),
        {4, 2, 0.5, 0.03, 90}, "cloth", {63, 56, 36}, {20, 40, 60}, 0.01);
    const std::vector<double> truth = {4, 2, 0.5, 0.03, 90};
    const auto newton = optimize(scene, R"({"type": "newton_cg", "iterations": 100})");
    const auto lbfgs = optimize(scene, R"({"type": "lbfgs", "iterations": 80})");
    check_found(newton, truth, 1e-10);
    check_found(lbfgs, truth, 1e-10);
    CHECK(lbfgs.best.loss < 1e-28);
    CHECK(lbfgs.stop == Optimization::Stop::converged);
    CHECK(lbfgs.last.evaluations < newton.last.evaluations);
    // In f32, as far as that goes, and without a failure.
    const auto single =
        optimize(scene, R"({"type": "lbfgs", "iterations": 80})", ir::Precision::f32);
    check_found(single, truth, 2e-2);
    CHECK(single.stop == Optimization::Stop::converged);
}

TEST_CASE("L-BFGS identifies the moduli of all elements of a beam as Newton's method does") {
    if (!backend::llvm_info().available) HINDCAST_SKIP(backend::llvm_info().problem);
    std::vector<double> truth;
    const Random random(5);
    for (std::uint64_t k = 0; k < 24; ++k) truth.push_back(random.uniform(k, 120000, 280000));
    std::vector<std::int64_t> points;
    for (std::int64_t k = 4; k < 20; ++k) points.push_back(k);
    const Document scene =
        with_targets(Document::parse(R"({"format": 1, "time": {"step": 0.001, "steps": 200},
            "gravity": [0, 0, -9.81],
            "bodies": [{"type": "solid", "name": "beam", "density": 1000,
                        "mesh": {"box": {"min": [0, 0, 0], "max": [0.8, 0.2, 0.2],
                                         "cells": [4, 1, 1]}},
                        "young_modulus": 200000, "poisson_ratio": 0.3,
                        "fixed": {"box": {"min": [0, 0, 0], "max": [0, 0.2, 0.2]}}}],
            "parameters": [{"path": "beam.young_modulus", "per": "element"}]})"),
                     truth, "beam", points, {50, 100, 150, 200}, 0.001);
    const auto newton = optimize(scene, R"({"type": "newton_cg", "iterations": 100})");
    const auto lbfgs = optimize(scene, R"({"type": "lbfgs", "iterations": 300})");
    CHECK(newton.best.loss < 1e-26);
    CHECK(lbfgs.best.loss < 1e-26);
    // Of two elements at the clamped end only the mean can be seen.
    check_found(lbfgs, newton.best.parameters, 1e-6);
    CHECK(lbfgs.best.parameters[0] == doctest::Approx(truth[0]).epsilon(1e-6));
    CHECK(lbfgs.stop == Optimization::Stop::converged);
    CHECK(lbfgs.last.evaluations < newton.last.evaluations);
}

TEST_CASE("L-BFGS throws a ball over a rim into a bucket as Newton's method does") {
    if (!backend::llvm_info().available) HINDCAST_SKIP(backend::llvm_info().problem);
    const Document scene = Document::parse(R"({"format": 1, "dimension": 2,
        "time": {"step": 0.01, "substeps": 40, "steps": 150}, "gravity": [0, -9.81],
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 1]], "mass": 0.2,
                    "velocity": [3.64, 4.9]}],
        "forces": [{"type": "drag", "name": "air", "linear": 0.02}],
        "colliders": [{"type": "plane", "name": "ground", "normal": [0, 1],
                       "response": "penalty", "stiffness": 500},
                      {"type": "sphere", "name": "rim", "center": [4, 0.5], "radius": 0.3,
                       "response": "penalty", "stiffness": 500},
                      {"type": "plane", "name": "back", "normal": [-1, 0], "offset": -5,
                       "response": "penalty", "stiffness": 500}],
        "objective": [{"type": "point_target", "name": "in", "of": "ball", "target": [4.6, 0.4]}],
        "parameters": [{"path": "ball.velocity"}]})");
    const auto newton = optimize(scene, R"({"type": "newton_cg", "iterations": 100})");
    const auto lbfgs = optimize(scene, R"({"type": "lbfgs", "iterations": 100})");
    CAPTURE(lbfgs.reason);
    CHECK(newton.best.loss < 1e-24);
    CHECK(lbfgs.best.loss < 1e-24);
    CHECK(lbfgs.stop == Optimization::Stop::converged);
    CHECK(lbfgs.last.evaluations < newton.last.evaluations);
}
