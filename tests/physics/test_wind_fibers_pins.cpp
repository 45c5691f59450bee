// Wind on surfaces, fibers in solids, pins: forces and motions in closed form.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// A free sheet of 0.5 m x 0.4 m and 0.6 kg/m^2 in the plane of x and y.
std::string sheet(const std::string& time, const std::string& wind) {
    return R"("time": )" + time + R"(, "gravity": [0, 0, 0],
        "bodies": [{"type": "cloth", "name": "sheet", "area_density": 0.6, "warp_stiffness": 100,
            "velocity": [0.1, 0, 0.4],
            "mesh": {"grid": {"origin": [0, 0, 0], "warp": [0.5, 0, 0], "weft": [0, 0.4, 0],
                              "cells": [1, 1], "pattern": "diagonal"}}}],
        "forces": [{"type": "wind", "name": "wind", "of": "sheet", )" +
           wind + "}]";
}
// m dv on all points of a body that moves as one.
double momentum(Simulation& s, int axis) {
    const std::vector<double> mass = s.model().array("mass").to_doubles();
    double sum = 0;
    for (std::size_t p = 0; p < mass.size(); ++p)
        sum += mass[p] * velocity(s, static_cast<std::int64_t>(p), axis);
    return sum;
}

}  // namespace

TEST_CASE("wind: pressure along the normal, friction along the surface") {
    const double h = 1e-3, area = 0.2, mass = 0.6 * area;
    const auto s = simulate(sheet(R"({"step": "1/1000", "steps": 1})",
                                  R"("velocity": [2, 1, 3], "density": 1.1, "drag": 0.8,
                                     "skin_friction": 0.3, "amplitude": [1, 0, -1],
                                     "frequency": 5, "phase": 0.7)"));
    s->run(false);
    const double gust = std::sin(0.7), u[3] = {2 + gust - 0.1, 1, 3 - gust - 0.4},
                 along = std::hypot(u[0], u[1]), rho = 1.1, start[3] = {0.1, 0, 0.4};
    const double f[3] = {rho * area / 2 * 0.3 * along * u[0], rho * area / 2 * 0.3 * along * u[1],
                         rho * area / 2 * 0.8 * u[2] * u[2]};
    for (int i = 0; i < 3; ++i)
        CHECK((momentum(*s, i) - mass * start[i]) / h == doctest::Approx(f[i]).epsilon(1e-12));
}

TEST_CASE("wind: an implicit step solves for the speed that the sheet then has") {
    const double h = 0.1, area = 0.2, mass = 0.6 * area, rho = 1.2, drag = 1.0, U = 3;
    const auto s = simulate(sheet(R"({"step": "1/10", "steps": 1, "integrator": "implicit_euler"})",
                                  R"("velocity": [0.1, 0, 3], "skin_friction": 0.2)"));
    s->run(false);
    // m (v - v0)/h = rho A/2 drag (U - v)^2, the root below U.
    const double a = rho * area / 2 * drag * h / mass, v0 = 0.4;
    const double off = (-1 + std::sqrt(1 + 4 * a * (U - v0))) / (2 * a);  // U - v
    for (int p = 0; p < 4; ++p) {
        CHECK(velocity(*s, p, 2) == doctest::Approx(U - off).epsilon(1e-9));
        CHECK(velocity(*s, p, 0) == doctest::Approx(0.1).epsilon(1e-9));
    }
}

TEST_CASE("fibers: a stretched tetrahedron is pulled together, more so when they contract") {
    const double volume = 0.5 * 0.4 * 0.6 / 6, corner_mass = 24 * volume / 4, h = 1e-3;
    const auto s = simulate(R"("time": {"step": "1/1000", "steps": 1}, "gravity": [0, 0, 0],
        "bodies": [{"type": "solid", "name": "one", "density": 24, "mu": 0, "lambda": 0,
            "positions": [[0, 0, 0], [0.6, 0, 0], [0.1, 0.4, 0], [0, 0, 0.6]],
            "mesh": {"points": [[0, 0, 0], [0.5, 0, 0], [0, 0.4, 0], [0, 0, 0.6]],
                     "tetrahedra": [[0, 1, 2, 3]]}}],
        "forces": [{"type": "fibers", "name": "muscle", "of": "one", "direction": [0, 2, 0],
            "stiffness": 7, "activation": 0.15, "amplitude": 0.1, "frequency": 2, "phase": 0.4}])");
    s->run(false);
    // F (0, 1, 0) = (0.25, 1, 0), and dW/dF = k (|F a| - l) F a / |F a| a^T.
    const double stretch = std::hypot(0.25, 1), l = 1 - (0.15 + 0.1 * std::sin(0.4));
    const double pull = 7 * (stretch - l) / stretch, along[3] = {0.25, 1, 0};
    for (int i = 0; i < 3; ++i) {
        const double f = -volume * pull * along[i] / 0.4;
        CHECK(std::abs(velocity(*s, 2, i) * corner_mass / h - f) < 1e-14);
        CHECK(std::abs(velocity(*s, 0, i) * corner_mass / h + f) < 1e-14);
        CHECK(velocity(*s, 1, i) == 0);
        CHECK(velocity(*s, 3, i) == 0);
    }
    CHECK(energies_of(*simulate(R"("time": {"step": 1, "steps": 0}, "gravity": [0, 0, 0],
        "bodies": [{"type": "solid", "name": "one", "mu": 0, "lambda": 0,
            "mesh": {"box": {"min": [0, 0, 0], "max": [1, 2, 3], "cells": [1, 1, 1]}},
            "positions": {"formula": ["x", "1.5*y", "z"]}}],
        "forces": [{"type": "fibers", "name": "muscle", "of": "one", "direction": [0, 1, 0],
            "stiffness": 7, "activation": 0.1}])"))
              .contains("elastic energy of muscle"));
}

TEST_CASE("pins: fixed points are where the offsets say, and rest after the last") {
    for (const char* integrator : {"semi_implicit_euler", "implicit_euler"}) {
        const std::string scene = R"("gravity": [0, 0, 0], "bodies": [{"type": "particles",
            "name": "a", "positions": [[1, 2, 3], [0, 0, 0], [5, 5, 5]], "fixed": [0, 1]}],
            "controllers": [{"type": "pins", "name": "hand", "of": "a", "points": [0],
                "interval": 0.2, "offsets": [[0, 0, 0], [0.4, 0, -0.2], [0.4, 1, -0.2]]}])";
        for (int steps = 0; steps <= 12; ++steps) {
            const auto s =
                simulate(R"("time": {"step": "1/20", "integrator": ")" + std::string(integrator) +
                         R"(", "steps": )" + std::to_string(steps) + "}, " + scene);
            s->run(false);
            const double first = std::min(steps / 4.0, 1.0),
                         second = std::clamp(steps / 4.0 - 1, 0.0, 1.0);
            CHECK(std::abs(position(*s, 0, 0) - (1 + 0.4 * first)) < 1e-14);
            CHECK(std::abs(position(*s, 0, 1) - (2 + second)) < 1e-14);
            CHECK(std::abs(position(*s, 0, 2) - (3 - 0.2 * first)) < 1e-14);
            CHECK(position(*s, 1, 0) == 0);
            CHECK(position(*s, 2, 0) == 5);
        }
    }
}

TEST_CASE("wind, fibers, pins: what cannot be simulated is refused") {
    const std::string time = R"("time": {"step": 1, "steps": 1}, )";
    const std::string points = time + R"("bodies": [{"type": "particles", "name": "a",
        "positions": [[0, 0, 0], [1, 0, 0]], "fixed": [0]}], )";
    const auto force = [&](const std::string& keys) {
        return points + R"("forces": [{)" + keys + "}]";
    };
    const auto pins = [&](const std::string& keys) {
        return points + R"("controllers": [{"type": "pins", "of": "a", )" + keys + "}]";
    };
    check_refused(force(R"("type": "wind", "of": "a", "velocity": [1, 0, 0])"),
                  "'a' has no surface");
    check_refused(force(R"("type": "wind", "of": "b", "velocity": [1, 0, 0])"), "'b'");
    check_refused(force(R"("type": "fibers", "of": "a", "direction": [1, 0, 0], "stiffness": 1)"),
                  "'a' is not a solid");
    check_refused(sheet(R"({"step": 1, "steps": 1})", R"("velocity": [1, 0, 0], "frequency": 1)"),
                  "gusts need");
    check_refused(pins(R"("points": [1], "interval": 1, "offsets": [[0, 0, 0], [1, 0, 0]])"),
                  "point 1 is not fixed");
    check_refused(pins(R"("interval": 1, "offsets": [[0, 0, 0]])"), "two offsets or more");
    check_refused(pins(R"("interval": 0, "offsets": [[0, 0, 0], [1, 0, 0]])"), "interval");
}
