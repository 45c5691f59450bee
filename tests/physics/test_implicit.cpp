// Scenes with an implicit integrator against closed forms: what each makes of a mass on a spring, the
// order of its error, and equilibria.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>

#include "engine/base/error.hpp"
#include "engine/base/hash.hpp"
#include "engine/runtime/minimization/minimization.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

constexpr double k = 40, m = 0.7, L = 1, g = 9.81;

// A mass that hangs from a spring and moves up and down; two springs between two posts without
// gravity would have no preferred direction.
std::string hanging(const std::string& integrator, double h, std::int64_t steps,
                    const std::string& more = "") {
    char time[200];
    std::snprintf(time, sizeof time,
                  R"("time": {"step": %.17g, "steps": %lld, "integrator": "%s"},)", h,
                  static_cast<long long>(steps), integrator.c_str());
    return std::string(R"({"format": 1, "dimension": 2, )") + time +
           R"("bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0], [0, -1.4]],
                          "mass": 0.7, "fixed": [0]}],
              "forces": [{"type": "springs", "name": "spring", "connect": {"chain": "ball"},
                          "stiffness": 40, "rest_length": 1)" +
           more + R"(}],
              "objective": [{"type": "point_target", "of": "ball", "points": [1], "target": [0, 0]}],
              "parameters": [{"path": "spring.stiffness"}]})";
}

std::unique_ptr<Simulation> simulated(const std::string& text,
                                      ir::Precision precision = ir::Precision::f64) {
    SimulationOptions options;
    options.device = interpreter_device();
    options.precision = precision;
    return std::make_unique<Simulation>(Scene::parse(text), all_modules(), options);
}

// Height and velocity after the steps.
std::pair<double, double> end_of(const std::string& text) {
    const auto simulation = simulated(text);
    simulation->run(false);
    return {simulation->model().array("position").value(1, 1),
            simulation->model().array("velocity").value(1, 1)};
}

// Of the exact motion about the equilibrium -L - m g / k.
double exact(double t) {
    const double rest = -L - m * g / k, w = std::sqrt(k / m);
    return rest + (-1.4 - rest) * std::cos(w * t);
}

}  // namespace

TEST_CASE("implicit Euler: a mass on a spring, step by step") {
    const double h = 0.05;
    double x = -1.4, v = 0;
    for (int n = 0; n < 8; ++n) {
        // m (x' - x - h v)/h^2 + k (x' + L) + m g = 0
        const double w = m / (h * h), next = (w * (x + h * v) - k * L - m * g) / (w + k);
        v = (next - x) / h;
        x = next;
    }
    const auto [height, speed] = end_of(hanging("implicit_euler", h, 8));
    CHECK(height == doctest::Approx(x).epsilon(1e-13));
    CHECK(speed == doctest::Approx(v).epsilon(1e-12));
}

TEST_CASE("BDF2: a mass on a spring, step by step") {
    const double h = 0.05;
    double x = -1.4, v = 0, x_before = 0, v_before = 0;
    for (int n = 0; n < 8; ++n) {
        const double a = n == 0 ? h : 2 * h / 3;
        const double aim =
            n == 0 ? x + h * v : (4 * x - x_before) / 3 + 2 * h / 9 * (4 * v - v_before);
        const double w = m / (a * a), next = (w * aim - k * L - m * g) / (w + k);
        const double speed = n == 0 ? (next - x) / h : (3 * next - 4 * x + x_before) / (2 * h);
        x_before = std::exchange(x, next);
        v_before = std::exchange(v, speed);
    }
    const auto [height, speed] = end_of(hanging("bdf2", h, 8));
    CHECK(height == doctest::Approx(x).epsilon(1e-13));
    CHECK(speed == doctest::Approx(v).epsilon(1e-12));
}

TEST_CASE("implicit Euler is of first order, BDF2 of second") {
    const auto error = [](const char* integrator, std::int64_t steps) {
        const double T = 0.6;
        return std::abs(end_of(hanging(integrator, T / static_cast<double>(steps), steps)).first -
                        exact(T));
    };
    const double first = error("implicit_euler", 800) / error("implicit_euler", 1600);
    const double second = error("bdf2", 200) / error("bdf2", 400);
    CHECK(first == doctest::Approx(2).epsilon(0.03));
    CHECK(second == doctest::Approx(4).epsilon(0.05));
}

TEST_CASE("quasi-static: a spring hangs at its equilibrium, whose derivative is that of m g / k") {
    const auto simulation = simulated(hanging("quasi_static", 0.1, 2));
    simulation->run(true);
    const double x = -L - m * g / k;
    CHECK(simulation->model().array("position").value(1, 1) == doctest::Approx(x).epsilon(1e-13));
    // |x|^2 in the objective.
    CHECK(simulation->gradient().front() ==
          doctest::Approx(2 * x * m * g / (k * k)).epsilon(1e-12));
}

TEST_CASE("implicit Euler: a damped spring loses what its dissipation says") {
    const double h = 0.05, c = 3;
    double x = -1.4, v = 0;
    for (int n = 0; n < 8; ++n) {
        const double w = m / (h * h),
                     next = (w * (x + h * v) - k * L - m * g + c / h * x) / (w + k + c / h);
        v = (next - x) / h;
        x = next;
    }
    const auto [height, speed] = end_of(hanging("implicit_euler", h, 8, R"(, "damping": 3)"));
    CHECK(height == doctest::Approx(x).epsilon(1e-13));
    CHECK(speed == doctest::Approx(v).epsilon(1e-12));
}

TEST_CASE("implicit Euler: solids come to what forces make of them, with an error of first order") {
    // The same energy as forces, in small explicit steps.
    const auto end = [](const std::string& time) {
        const auto simulation =
            simulated(R"({"format": 1, "time": )" + time + R"(, "gravity": [0.5, -1, -9.81],
            "bodies": [{"type": "solid", "name": "block", "density": 0.9, "mu": 3, "lambda": 4,
                "mesh": {"box": {"min": [0, 0, 0], "max": [0.5, 0.3, 0.4], "cells": [2, 1, 1]}},
                "positions": {"formula": ["1.1*x+0.1*y", "0.9*y-0.05*z", "z+0.1*x*x"]},
                "fixed": {"box": {"min": [-1, -1, -1], "max": [0, 1, 1]}}}]})");
        simulation->run(false);
        return simulation->model().array("position").to_doubles();
    };
    const auto apart = [](const std::vector<double>& a, const std::vector<double>& b) {
        double most = 0;
        for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::abs(a[k] - b[k]));
        return most;
    };
    const std::vector<double> reference = end(R"({"step": "1/64000", "steps": 3200})");
    const double coarse = apart(reference, end(R"({"step": "1/400", "steps": 20,
                                                   "integrator": "implicit_euler"})")),
                 fine = apart(reference, end(R"({"step": "1/800", "steps": 40,
                                                 "integrator": "implicit_euler"})"));
    CHECK(coarse < 0.01);
    CHECK(coarse / fine == doctest::Approx(2).epsilon(0.1));
    const double second = apart(reference, end(R"({"step": "1/800", "steps": 40,
                                                   "integrator": "bdf2"})"));
    CHECK(second < 0.1 * fine);
}

TEST_CASE("implicit scenes: f32 comes near, every device has the same bits") {
    const std::string text = hanging("implicit_euler", 0.02, 30);
    for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64}) {
        std::string hash;
        for (const auto& device : devices()) {
            CAPTURE(device->describe());
            SimulationOptions options;
            options.device = device;
            options.precision = precision;
            Simulation simulation(Scene::parse(text), all_modules(), options);
            simulation.run(false);
            CHECK(simulation.model().array("position").value(1, 1) ==
                  doctest::Approx(end_of(text).first).epsilon(1e-4));
            const std::string now = to_string(simulation.state_hash().digest());
            if (hash.empty()) hash = now;
            CHECK(now == hash);
        }
    }
}

TEST_CASE("implicit scenes: what has no energy is refused, and named") {
    std::string text = hanging("implicit_euler", 0.02, 3);
    const std::string drag = R"("forces": [{"type": "drag", "linear": 0.1}, )";
    text.replace(text.find("\"forces\": ["), 11, drag);
    try {
        simulated(text);
        FAIL("drag has no energy");
    } catch (const Error& e) {
        CAPTURE(e.what());
        CHECK(std::string(e.what()).find("'drag' does not go with the integrator implicit_euler") !=
              std::string::npos);
        CHECK(e.json_pointer() == "/forces/0/type");
        CHECK(!e.what_to_do().empty());
    }
    // A plane has one, with one of its responses.
    text = hanging("implicit_euler", 0.02, 3);
    const auto with_plane = [&](const std::string& more) {
        std::string scene = text;
        return scene.replace(scene.find("\"bodies\""), 8,
                             R"("colliders": [{"type": "plane", "normal": [0, 1], "offset": -3)" +
                                 more + R"(}], "bodies")");
    };
    CHECK_THROWS_WITH_AS(simulated(with_plane("")), doctest::Contains("choose \"barrier\""), Error);
    CHECK_THROWS_WITH_AS(simulated(with_plane(R"(, "response": "barrier")")),
                         doctest::Contains("needs a stiffness"), Error);
    CHECK_NOTHROW(simulated(with_plane(R"(, "response": "barrier", "stiffness": 1e3)")));
    const std::string explicit_scene = hanging("semi_implicit_euler", 0.02, 3);
    std::string tolerance = explicit_scene;
    tolerance.replace(tolerance.find("\"integrator\""), 0,
                      R"("minimization": {"tolerance": 1e-9}, )");
    CHECK_THROWS_WITH_AS(simulated(tolerance), doctest::Contains("nothing is minimized"), Error);
}

TEST_CASE("implicit scenes: a minimum that is not found says where, and in which step") {
    // An iteration is not enough for a spring that swings to the side.
    std::string text = hanging("implicit_euler", 0.05, 5);
    text.replace(text.find("[0, -1.4]"), 9, "[0.9, -1.4]");
    text.replace(text.find("\"integrator\""), 0, R"("minimization": {"iterations": 1}, )");
    const auto simulation = simulated(text);
    try {
        simulation->run(false);
        FAIL("one iteration cannot be enough");
    } catch (const Error& e) {
        const std::string what = e.what();
        CAPTURE(what);
        CHECK(what.find("was not found in 1 iterations") != std::string::npos);
        CHECK(what.find("in step 1 of 5") != std::string::npos);
        CHECK(e.item() == 1);
    }
}

namespace {

// A free point and a fixed one, without forces or under gravity.
std::string free_point(const std::string& integrator, const std::string& gravity,
                       const std::string& more) {
    return R"({"format": 1, "dimension": 2, "gravity": )" + gravity +
           R"(, "time": {"step": "1/64", "steps": 40, "substeps": 2, "integrator": ")" +
           integrator + R"("},
              "bodies": [{"type": "particles", "name": "p", "positions": [[0.5, -1], [3, 3]],
                          "velocity": [[0.75, -0.5], [0, 0]], "mass": 2, "fixed": [1]}], )" +
           more + R"("objective": [{"type": "point_target", "of": "p", "points": [0],
                                    "target": [0, 0]}]})";
}

}  // namespace

TEST_CASE(
    "implicit steps: a constant kick moves a free point by h n (n + 1) / 2 times the change") {
    const double h = 1.0 / 128;
    constexpr int n = 80;
    const std::string kick =
        R"("controllers": [{"type": "kick", "name": "engine", "change": [0.02, 0.05]}],
           "parameters": [{"path": "engine.change"}], )";
    for (const char* const integrator : {"semi_implicit_euler", "implicit_euler", "bdf2"})
        for (const char* const gravity : {"[0, 0]", "[1, -9.81]"}) {
            CAPTURE(integrator);
            CAPTURE(gravity);
            const auto still = simulated(free_point(integrator, gravity, ""));
            still->run(false);
            const auto kicked = simulated(free_point(integrator, gravity, kick));
            kicked->run(true);
            const double change[2] = {0.02, 0.05}, way = h * n * (n + 1) / 2;
            const std::vector<double> gradient = kicked->gradient();
            for (int c = 0; c < 2; ++c) {
                const double x = position(*kicked, 0, c);
                CHECK(x ==
                      doctest::Approx(position(*still, 0, c) + way * change[c]).epsilon(1e-12));
                CHECK(velocity(*kicked, 0, c) ==
                      doctest::Approx(velocity(*still, 0, c) + n * change[c]).epsilon(1e-12));
                CHECK(position(*kicked, 1, c) == 3);
                // Of |x|^2.
                CHECK(gradient[static_cast<std::size_t>(c)] ==
                      doctest::Approx(2 * x * way).epsilon(1e-12));
            }
            CHECK(kicked->directional_derivative(std::vector<double>{1, 0}) ==
                  doctest::Approx(gradient[0]).epsilon(1e-12));
        }
}

TEST_CASE("implicit steps: velocities decay by exp(-rate h) in each") {
    const double h = 1.0 / 128, a = std::exp(-1.5 * h);
    constexpr int n = 80;
    for (const char* const integrator : {"semi_implicit_euler", "implicit_euler", "bdf2"}) {
        CAPTURE(integrator);
        const auto s = simulated(
            free_point(integrator, "[0, 0]",
                       R"("forces": [{"type": "damping", "name": "air", "rate": 1.5}], )"));
        s->run(false);
        const double left = std::pow(a, n), sum = a * (1 - left) / (1 - a);
        CHECK(velocity(*s, 0, 0) == doctest::Approx(0.75 * left).epsilon(1e-12));
        CHECK(velocity(*s, 0, 1) == doctest::Approx(-0.5 * left).epsilon(1e-12));
        CHECK(position(*s, 0, 0) == doctest::Approx(0.5 + 0.75 * h * sum).epsilon(1e-12));
        CHECK(position(*s, 0, 1) == doctest::Approx(-1 - 0.5 * h * sum).epsilon(1e-12));
    }
}

TEST_CASE("implicit steps: what changes velocities in vain is refused") {
    const std::string spring = R"({"type": "springs", "connect": {"chain": "p"}, "stiffness": 1})";
    const auto said = [&](const std::string& integrator, const std::string& forces,
                          const std::string& controllers) {
        return message([&] {
            simulated(free_point(
                integrator, "[0, 0]",
                R"("forces": [)" + forces + R"(], "controllers": [)" + controllers + "], "));
        });
    };
    CHECK(said("quasi_static", spring, R"({"type": "kick", "name": "k", "change": [1, 0]})")
              .find("at /controllers/0/type: 'k' changes velocities, which move nothing in a "
                    "quasi-static scene; remove it, or choose the integrator implicit_euler or "
                    "bdf2") != std::string::npos);
    CHECK(said("quasi_static", spring + R"(, {"type": "damping", "name": "d", "rate": 1})", "")
              .find("'d' changes velocities") != std::string::npos);
    for (const char* const integrator : {"implicit_euler", "bdf2"})
        CHECK(said(integrator, R"({"type": "damping", "rate": 1, "order": "after"})", "")
                  .find("with an implicit integrator forces are not added to velocities; leave "
                        "\"order\" out") != std::string::npos);
}

TEST_CASE("implicit steps: an error of the search names point and step, and lists no arrays") {
    for (const char* const solver : {"dense", "direct"})
        for (const auto& device : devices()) {
            CAPTURE(solver);
            CAPTURE(device->describe());
            std::string scene = hanging("implicit_euler", 0.5, 3);
            const std::string time = R"("time": {)";
            scene.insert(1, R"("gravity": [6, -9.81], )");  // it swings aside
            scene.insert(scene.find(time) + time.size(),
                         R"("minimization": {"iterations": 1, "solver": ")" + std::string(solver) +
                             R"("}, )");
            SimulationOptions options;
            options.device = device;
            options.precision = ir::Precision::f64;
            const std::string said = message(
                [&] { Simulation(Scene::parse(scene), all_modules(), options).run(false); });
            CHECK_MESSAGE(
                said.find("the minimum was not found in 1 iterations") != std::string::npos, said);
            CHECK(said.find("point 1") != std::string::npos);
            CHECK(said.find("in step 1 of 3") != std::string::npos);
            CHECK_MESSAGE(said.find("f64 [") == std::string::npos, said);
            CHECK(said.size() < 350);
        }
}
