// Rules with a formula run on the simulation's device: with the bits that the same rules have with
// values and gradients on the host, whatever the device, and with rows that do not carry what is
// large.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "engine/document/document.hpp"
#include "engine/document/read.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using Rows = std::vector<Optimization::Row>;

namespace {

std::unique_ptr<Simulation> simulation_on(const std::shared_ptr<Device>& device,
                                          const std::string& keys, ir::Precision precision) {
    SimulationOptions options;
    options.device = device;
    options.precision = precision;
    return std::make_unique<Simulation>(Scene::parse("{\"format\": 1, " + keys + "}"),
                                        test::all_modules(), options);
}

// Three balls on springs, parameters of all kinds: shared, per element, some components, a log
// scale, bounds, groups.
std::string net(const std::string& optimizer) {
    return R"("time": {"step": 0.05, "steps": 6},
        "bodies": [{"type": "particles", "name": "ball", "velocity": [[0, 1, 0], [1, 0, 2], [0, 0, -1]],
                    "positions": [[0, 0, 0], [1, 0.1, 0], [2, 0, 0.3]]}],
        "forces": [{"type": "springs", "name": "net", "rest_length": [0.6, 0.7], "stiffness": 12,
                    "connect": [["ball", 0, "ball", 1], ["ball", 1, "ball", 2]]}],
        "objective": [{"type": "point_target", "name": "goal", "of": "ball", "target": [0.5, 1, 0.2]}],
        "parameters": [{"path": "net.stiffness", "scale": "log", "group": "springs"},
                       {"path": "net.rest_length", "bounds": [0.5, 0.72], "rate": 0.5},
                       {"path": "ball.velocity", "select": {"indices": [0, 2]},
                        "components": ["x", "z"]},
                       {"path": "gravity"}],
        "optimizer": )" +
           optimizer;
}

// A membrane of 40 x 40 nodes, whose displacements at the start are 1600 parameters.
std::string membrane(const std::string& optimizer, const std::string& step = "1e-4") {
    return R"("dimension": 2, "time": {"step": )" + step + R"~(, "steps": 4},
        "bodies": [{"type": "waves", "name": "membrane", "nodes": [40, 40], "spacing": "1/40",
                    "speed": 40, "boundary": "zero_outside", "level_0": 0, "level_1": 0}],
        "objective": [{"type": "field_target", "name": "image", "of": "membrane",
                       "target": {"formula": "exp(-((40*x-20)^2+(40*y-15)^2)/80)"}}],
        "parameters": [{"path": "membrane.level_0", "per": "element"}],
        "optimizer": )~" +
           optimizer;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
        return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
    });
}

// All rows, with parameters and gradients.
Rows rows_of(Optimization& optimization) {
    Rows rows;
    optimization.run([&](const Optimization::Row& row) {
        rows.push_back(optimization.complete(row));
        return true;
    });
    return rows;
}

// With values and gradients on the host: an evaluator stands between the loop and the simulation.
Rows rows_on_host(const std::string& keys, ir::Precision precision) {
    const auto simulation = simulation_on(test::interpreter_device(), keys, precision);
    Optimization optimization(*simulation);
    optimization.set_evaluator([&](const std::vector<double>& values, bool gradient) {
        Ensemble::Result result;
        simulation->parameters().set_values(values);
        result.loss = simulation->run(gradient);
        result.terms = simulation->terms();
        if (gradient) result.gradient = simulation->gradient();
        return std::optional(result);
    });
    return rows_of(optimization);
}

void check_same(const Rows& found, const Rows& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
        CAPTURE(k);
        CHECK(found[k].iteration == expected[k].iteration);
        CHECK(found[k].evaluations == expected[k].evaluations);
        CHECK(same_bits({found[k].loss, found[k].gradient_norm},
                        {expected[k].loss, expected[k].gradient_norm}));
        CHECK(same_bits(found[k].parameters, expected[k].parameters));
        CHECK(same_bits(found[k].gradient, expected[k].gradient));
    }
}

}  // namespace

TEST_CASE("rules with a formula have the same bits on the device as with vectors on the host") {
    for (const std::string optimizer :
         {R"({"type": "gradient_descent", "rate": 0.01, "iterations": 4,
              "groups": {"springs": {"rate": 2}}})",
          R"({"type": "gradient_descent", "rate": 0.5, "iterations": 4,
              "clip": {"norm": 0.2}})",
          R"({"type": "gradient_descent", "rate": 0.5, "iterations": 4, "clip": {"value": 0.15}})",
          R"({"type": "normalized_gradient_descent", "rate": 0.05, "iterations": 4})",
          R"({"type": "momentum", "rate": 0.02, "nesterov": true, "iterations": 4})",
          R"({"type": "momentum", "rate": 0.02, "iterations": 4})",
          R"({"type": "adam", "rate": 0.05, "iterations": 5, "clip": {"norm": 0.3}})"}) {
        CAPTURE(optimizer);
        for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64}) {
            const Rows expected = rows_on_host(net(optimizer), precision);
            for (const auto& device : test::devices()) {
                CAPTURE(device->describe());
                const auto simulation = simulation_on(device, net(optimizer), precision);
                Optimization optimization(*simulation);
                check_same(rows_of(optimization), expected);
                CHECK(same_bits(simulation->parameters().values(), expected.back().parameters));
                // The scene that is saved has them too.
                const auto saved = simulation->scene_with_parameters(".");
                const document::Node* const stiffness = saved.find("/forces/0/stiffness");
                REQUIRE(stiffness != nullptr);
                CHECK(document::number_of(*stiffness) == expected.back().parameters[0]);
            }
        }
    }
}

TEST_CASE("rows of many parameters carry numbers only, and what is asked for is complete") {
    const std::string keys =
        membrane(R"({"type": "momentum", "rate": 100, "momentum": 0.5, "iterations": 6})");
    const Rows expected = rows_on_host(keys, ir::Precision::f32);
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const auto simulation = simulation_on(device, keys, ir::Precision::f32);
        Optimization optimization(*simulation);
        optimization.set_row_limit(1599);
        std::string saved;
        const auto outcome = optimization.run([&](const Optimization::Row& row) {
            CHECK(row.parameters.empty());
            CHECK(row.gradient.empty());
            const auto& wanted = expected[static_cast<std::size_t>(row.iteration)];
            CHECK(row.loss == wanted.loss);
            CHECK(row.gradient_norm == wanted.gradient_norm);
            if (row.iteration == 2) saved = document::to_text(optimization.state());
            return true;
        });
        CHECK(same_bits(outcome.last.parameters, expected.back().parameters));
        CHECK(same_bits(outcome.last.gradient, expected.back().gradient));
        const auto& best = expected[static_cast<std::size_t>(outcome.best.iteration)];
        CHECK(same_bits(outcome.best.parameters, best.parameters));
        CHECK(same_bits(outcome.best.gradient, best.gradient));
        CHECK(same_bits(simulation->parameters().values(), expected.back().parameters));

        // Without a limit every row is whole.
        const auto third = simulation_on(device, keys, ir::Precision::f32);
        Optimization whole(*third);
        whole.run([&](const Optimization::Row& row) {
            const auto& wanted = expected[static_cast<std::size_t>(row.iteration)];
            CHECK(same_bits(row.parameters, wanted.parameters));
            CHECK(same_bits(row.gradient, wanted.gradient));
            return true;
        });

        // Cut after row 2 and continued: bit for bit.
        const auto second = simulation_on(device, keys, ir::Precision::f32);
        Optimization continued(*second);
        continued.restore(document::Document::parse(saved).root());
        const Rows rest = rows_of(continued);
        REQUIRE(rest.size() == 4);
        for (std::size_t k = 0; k < rest.size(); ++k) {
            CHECK(rest[k].loss == expected[k + 3].loss);
            CHECK(same_bits(rest[k].parameters, expected[k + 3].parameters));
        }
    }
}

TEST_CASE("an interrupt before the next roll-out leaves the last row as it was") {
    const std::string keys = membrane(R"({"type": "gradient_descent", "rate": 100})");
    const Rows expected = [&] {
        const auto simulation = simulation_on(test::interpreter_device(), keys, ir::Precision::f64);
        Optimization optimization(*simulation, 3);
        return rows_of(optimization);
    }();
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const auto simulation = simulation_on(device, keys, ir::Precision::f64);
        Optimization optimization(*simulation, 10);
        optimization.set_row_limit(0);
        int asked = 0;
        optimization.set_interrupt([&] { return ++asked > 2; });
        const auto outcome = optimization.run();
        CHECK(outcome.stop == Optimization::Stop::stopped);
        CHECK(outcome.last.iteration == 1);
        CHECK(same_bits(outcome.last.parameters, expected[1].parameters));
        CHECK(same_bits(outcome.last.gradient, expected[1].gradient));
        // The point that stands is the next one.
        CHECK(same_bits(simulation->parameters().values(), expected[2].parameters));
        CHECK(optimization.state().find("iteration")->integer() == 2);
    }
}

TEST_CASE(
    "a loss or gradient that is not finite stops a run on the device as it does on the host") {
    const std::string keys = membrane(R"({"type": "gradient_descent", "rate": 1e200})");
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const auto simulation = simulation_on(device, keys, ir::Precision::f64);
        const std::vector<double> start = simulation->parameters().values();
        Optimization optimization(*simulation, 10);
        optimization.set_row_limit(0);
        const auto outcome = optimization.run();
        CHECK(outcome.stop == Optimization::Stop::not_finite);
        CHECK(outcome.last.iteration < 3);
        CHECK(std::isfinite(outcome.last.loss));
        CHECK(outcome.reason.find("the loss is ") != std::string::npos);
        CHECK(outcome.reason.find("launch '") != std::string::npos);
        REQUIRE(outcome.last.parameters.size() == start.size());
        if (outcome.last.iteration == 0) CHECK(same_bits(outcome.last.parameters, start));
        CHECK(optimization.state().find("iteration")->integer() == outcome.last.iteration + 1);
    }
}
