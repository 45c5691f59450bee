// The energies that modules publish, against closed forms of the state that they are asked in.
#include <doctest/doctest.h>

#include <map>

#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

TEST_CASE("energies: kinetic, gravitational, of springs and of contacts") {
    // Nothing moves but what is free, and that only after its place was looked at: a step of no
    // force and no gravity along x.
    const auto sim = simulate(R"("dimension": 2, "time": {"step": 1e-3, "steps": 1},
        "gravity": [0, -10],
        "bodies": [
            {"type": "particles", "name": "held", "fixed": true, "mass": [2, 3, 5],
             "positions": [[0, 0.5], [3, 4.5], [1, -0.25]]},
            {"type": "particles", "name": "also_held", "fixed": true, "mass": 4,
             "positions": [[7, 0]]}],
        "forces": [
            {"type": "springs", "name": "cage", "connect": [["held", 0, "held", 1]],
             "stiffness": 40, "rest_length": 4.5},
            {"type": "springs", "name": "rope", "connect": [["held", 0, "also_held", 0]],
             "stiffness": 40, "rest_length": 9, "acts": "pull"}],
        "colliders": [
            {"type": "plane", "name": "floor", "normal": [0, 2], "offset": 0, "response": "penalty", "stiffness": 800},
            {"type": "sphere", "name": "rock", "center": [7, 0.5], "radius": 0.75, "response": "penalty",
             "stiffness": 200, "of": "also_held"}])");
    sim->run();
    sim->model().array("velocity").set_value(1, 0, 0.5);
    sim->model().array("velocity").set_value(3, 1, -2);
    const std::map<std::string, double> found = energies_of(*sim);
    const std::map<std::string, double> expected = {
        {"kinetic energy", 0.5 * 3 * 0.25 + 0.5 * 4 * 4},
        {"gravitational energy", 10 * (2 * 0.5 + 3 * 4.5 - 5 * 0.25)},
        {"elastic energy of cage", 0.5 * 40 * 0.5 * 0.5},  // 5 m long
        {"elastic energy of rope", 0},                     // shorter than at rest: it is slack
        {"contact energy of floor", 0.5 * 800 * 0.25 * 0.25},
        {"contact energy of rock", 0.5 * 200 * 0.25 * 0.25}};
    REQUIRE(found.size() == expected.size());
    for (const auto& [name, value] : expected) {
        CAPTURE(name);
        REQUIRE(found.contains(name));
        CHECK(found.at(name) == doctest::Approx(value).epsilon(1e-14));
    }
}

TEST_CASE("energies: of tetrahedra and of material points, which rotation does not change") {
    const auto solid = simulate(R"("time": {"step": 1e-3, "steps": 1}, "gravity": [0, 0, 0],
        "bodies": [{"type": "solid", "name": "tet", "mu": 60, "lambda": 90, "density": 1,
            "fixed": true,
            "mesh": {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                     "tetrahedra": [[0, 1, 2, 3]]},
            "positions": {"formula": ["-y", "1.25*x", "z"]}}])");
    solid->run();
    const double log_j = std::log(1.25), stretch = 1.25 * 1.25 + 2;
    CHECK(
        energies_of(*solid).at("elastic energy of tet") ==
        doctest::Approx((30 * (stretch - 3) - 60 * log_j + 45 * log_j * log_j) / 6).epsilon(1e-13));

    const auto points = simulate(R"("dimension": 2, "time": {"step": 1e-4, "steps": 1},
        "gravity": [0, 0],
        "bodies": [
            {"type": "material_points", "name": "first", "mass": 1, "volume": 0.5, "mu": 60,
             "lambda": 90, "positions": [[0.5, 0.5]]},
            {"type": "material_points", "name": "second", "mass": 1, "volume": [0.25, 0.75],
             "mu": [70, 80], "lambda": 30, "positions": [[0.25, 0.5], [0.5, 0.25]]}],
        "forces": [{"type": "mpm_grid", "name": "grid", "nodes": [9, 9], "spacing": 0.125}])");
    points->run();
    // F = R diag(a, b) with a turn of 0.7.
    const double a[] = {1.2, 0.9, 1.5}, b[] = {0.8, 1.1, 0.75}, c = std::cos(0.7),
                 s = std::sin(0.7);
    const Array F = points->model().array("deformation_gradient");
    for (int k = 0; k < 3; ++k) {
        F.set_value(k, 0, c * a[k]);
        F.set_value(k, 1, -s * b[k]);
        F.set_value(k, 2, s * a[k]);
        F.set_value(k, 3, c * b[k]);
    }
    const auto density = [&](int k, double mu, double lambda) {
        const double j = a[k] * b[k] - 1;
        return mu * ((a[k] - 1) * (a[k] - 1) + (b[k] - 1) * (b[k] - 1)) + 0.5 * lambda * j * j;
    };
    const std::map<std::string, double> found = energies_of(*points);
    CHECK(found.at("elastic energy of first") ==
          doctest::Approx(0.5 * density(0, 60, 90)).epsilon(1e-13));
    CHECK(found.at("elastic energy of second") ==
          doctest::Approx(0.25 * density(1, 70, 30) + 0.75 * density(2, 80, 30)).epsilon(1e-13));
}

TEST_CASE("energies: those of a falling, bouncing net of springs are one sum") {
    const auto sim = simulate(R"("dimension": 2, "time": {"step": 1e-5, "steps": 4000},
        "gravity": [0, -9.81],
        "bodies": [{"type": "particles", "name": "bar", "mass": [1, 2],
                    "positions": [[0, 0.02], [1, 0.05]], "velocity": [[0, -2], [0.5, -1]]}],
        "forces": [{"type": "springs", "name": "spring", "connect": {"chain": "bar"},
                    "stiffness": 500, "rest_length": 0.9}],
        "colliders": [{"type": "plane", "name": "floor", "normal": [0, 1], "offset": 0, "response": "penalty",
                       "stiffness": 20000}])");
    const auto sum = [&] {
        double all = 0;
        for (const auto& [name, value] : energies_of(*sim)) all += value;
        return all;
    };
    const double before =
        0.5 * 4 + 1.25 + 9.81 * (0.02 + 2 * 0.05) + 250 * std::pow(std::hypot(1, 0.03) - 0.9, 2);
    sim->run();
    CHECK(energies_of(*sim).at("contact energy of floor") >= 0);
    CHECK(position(*sim, 0, 1) > 0);  // it has bounced
    CHECK(velocity(*sim, 0, 1) > 0);
    CHECK(sum() == doctest::Approx(before).epsilon(2e-3));
}
