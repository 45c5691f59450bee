// Objective terms: values and gradients by hand.
#include <doctest/doctest.h>

#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// A scene of no steps: the terms see the initial state.
std::unique_ptr<Simulation> at_rest(int dimension, const std::string& body,
                                    const std::string& objective, const std::string& parameter) {
    return simulate("\"dimension\": " + std::to_string(dimension) +
                    R"(, "time": {"step": 0.5, "steps": 0}, "bodies": [{"type": "particles",
                    "name": "b", )" +
                    body + R"(}], "objective": [)" + objective + R"(], "parameters": [{"path": ")" +
                    parameter + "\"}]");
}

void check_all(const std::vector<double>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
        CAPTURE(k);
        CHECK(found[k] == doctest::Approx(expected[k]).epsilon(1e-12));
    }
}

}  // namespace

TEST_CASE("area of a polygon: shoelace formula and its gradient") {
    const double x[5][2] = {{0, 0}, {2, -0.5}, {3, 1}, {1.5, 2.25}, {-0.5, 1}};
    double area = 0;
    for (int k = 0; k < 5; ++k) {
        const int n = (k + 1) % 5;
        area += 0.5 * (x[k][0] * x[n][1] - x[n][0] * x[k][1]);
    }
    std::vector<double> expected;
    for (int k = 0; k < 5; ++k) {
        const int n = (k + 1) % 5, p = (k + 4) % 5;
        expected.push_back(2 * (area - 1.5) * 0.5 * (x[n][1] - x[p][1]));
        expected.push_back(2 * (area - 1.5) * -0.5 * (x[n][0] - x[p][0]));
    }
    const std::string body = R"("positions": [[0,0],[2,-0.5],[3,1],[1.5,2.25],[-0.5,1]])";
    const auto sim =
        at_rest(2, body, R"({"type": "area", "of": "b", "target": 1.5})", "b.positions");
    CHECK(sim->run(true) == doctest::Approx((area - 1.5) * (area - 1.5)).epsilon(1e-13));
    check_all(sim->gradient(), expected);
    // Listed points, in the order given: the triangle 4, 1, 0 goes round clockwise.
    const auto some = at_rest(2, body, R"({"type": "area", "of": "b", "points": [0, 4, 1],
        "target": 0})",
                              "b.positions");
    const double triangle = 0.5 * (-0.5 * -0.5 - 2 * 1);
    CHECK(some->run(true) == doctest::Approx(triangle * triangle).epsilon(1e-13));
    CHECK(some->gradient()[4] == 0);
}

TEST_CASE("volume of a closed mesh and its gradient") {
    const std::string corners = R"("positions": [[1,1,1],[3,1,1],[1,4,1],[1,1,5]])";
    const std::string faces = R"("triangles": [[0,2,1],[0,1,3],[0,3,2],[1,2,3]])";
    const auto sim = at_rest(
        3, corners, R"({"type": "volume", "of": "b", "target": 1, )" + faces + "}", "b.positions");
    // A corner tetrahedron with edges 2, 3, 4: V = 4; dV along an edge is the area of the opposite
    // face over 3.
    CHECK(sim->run(true) == doctest::Approx(9).epsilon(1e-13));
    const double s = 2 * 3;
    check_all(sim->gradient(),
              {-s * 2, -s * 4.0 / 3, -s * 1, s * 2, 0, 0, 0, s * 4.0 / 3, 0, 0, 0, s * 1});
    const auto volume = [&](const std::string& triangles) {
        at_rest(3, corners,
                R"({"type": "volume", "of": "b", "target": 1, "triangles": )" + triangles + "}",
                "b.positions");
    };
    CHECK_THROWS_WITH_AS(volume("[[0,2,1],[0,1,3],[0,3,2]]"), doctest::Contains("not closed"),
                         Error);
    CHECK_THROWS_WITH_AS(volume("[[0,2,1],[0,1,3],[0,3,2],[1,3,2]]"),
                         doctest::Contains("same direction"), Error);
    CHECK_THROWS_WITH_AS(
        at_rest(3, corners, R"({"type": "area", "of": "b", "target": 1})", "b.positions"),
        doctest::Contains("dimension 2"), Error);
}

TEST_CASE("center of mass: gradients in positions, masses and target") {
    const std::string body =
        R"("positions": [[1,0,0],[0,2,0],[0,0,4]], "mass": [1, 2, 5], "fixed": [2])";
    const std::string term =
        R"({"type": "center_of_mass", "name": "c", "of": "b", "target": [0, 0, 1], "weight": 3})";
    const double m[3] = {1, 2, 5}, x[3][3] = {{1, 0, 0}, {0, 2, 0}, {0, 0, 4}};
    const double c[3] = {1.0 / 8, 4.0 / 8, 20.0 / 8}, d[3] = {c[0], c[1], c[2] - 1};
    std::vector<double> positions, masses, target;
    for (int i = 0; i < 3; ++i) {
        masses.push_back(0);
        for (int k = 0; k < 3; ++k) {
            positions.push_back(3 * 2 * m[i] / 8 * d[k]);
            masses.back() += 3 * 2 * d[k] * (x[i][k] - c[k]) / 8;
        }
        target.push_back(-3 * 2 * d[i]);
    }
    const auto gradient = [&](const char* path) {
        const auto sim = at_rest(3, body, term, path);
        CHECK(sim->run(true) ==
              doctest::Approx(3 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])).epsilon(1e-13));
        return sim->gradient();
    };
    check_all(gradient("b.positions"), positions);
    check_all(gradient("b.mass"), masses);
    check_all(gradient("c.target"), target);
}

TEST_CASE("point targets: mean or sum, all points or those listed") {
    const std::string body = R"("positions": [[1, 2], [3, 5], [0, 1]])";
    const auto run = [&](const std::string& keys) {
        const auto sim =
            at_rest(2, body, R"({"type": "point_target", "of": "b", )" + keys + "}", "b.positions");
        const double loss = sim->run(true);
        return std::pair(loss, sim->gradient());
    };
    const auto [mean, slope] = run(R"("target": [0, 1])");
    CHECK(mean == doctest::Approx((2 + 25 + 0) / 3.0).epsilon(1e-14));
    check_all(slope, {2.0 / 3, 2.0 / 3, 2, 8.0 / 3, 0, 0});
    CHECK(run(R"("target": [0, 1], "sum": true)").first == 27);
    const auto [some, some_slope] = run(R"("target": [[0, 0], [1, 1]], "points": [2, 0])");
    CHECK(some == (1 + 1) / 2.0);
    check_all(some_slope, {0, 1, 0, 0, 0, 1});
    CHECK_THROWS_WITH_AS(run(R"("target": [0, 1], "points": [1, 1])"),
                         doctest::Contains("listed twice"), Error);
}

TEST_CASE("trajectory: one target per time and point, times in any order") {
    // x(t) = v t without gravity; targets 0 for the first time, (1, 0) for the second.
    const auto sim = simulate(R"("dimension": 2, "time": {"step": 0.25, "substeps": 2, "steps": 8},
        "gravity": [0, 0],
        "bodies": [{"type": "particles", "name": "b", "positions": [[0, 0], [0, 0]],
                    "velocity": [[1, 0], [0, 2]]}],
        "objective": [{"type": "trajectory", "of": "b", "at": [2, 0.5],
                       "targets": [[0, 0], [0, 0], [1, 0], [1, 0]]}],
        "parameters": [{"path": "b.velocity"}])");
    const double t[2] = {2, 0.5}, v[2][2] = {{1, 0}, {0, 2}}, target[2][2] = {{0, 0}, {1, 0}};
    double loss = 0;
    std::vector<double> expected(4);
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < 2; ++i)
            for (int c = 0; c < 2; ++c) {
                const double miss = t[k] * v[i][c] - target[k][c];
                loss += miss * miss / 4;
                expected[static_cast<std::size_t>(2 * i + c)] += 2 * miss * t[k] / 4;
            }
    CHECK(sim->run(true) == doctest::Approx(loss).epsilon(1e-14));
    check_all(sim->gradient(), expected);
}

TEST_CASE("terms at all steps are means over them") {
    const auto sim = simulate(R"("dimension": 2, "time": {"step": 0.5, "steps": 4},
        "gravity": [0, -8],
        "bodies": [{"type": "particles", "name": "b", "positions": [[0, 0], [2, 0]],
                    "velocity": [0, 3]}],
        "objective": [{"type": "center_of_mass", "name": "c", "of": "b", "at": "all",
                       "target": [1, 1]},
                      {"type": "energy", "name": "e", "at": "all", "weight": 0.5},
                      {"type": "trajectory", "name": "t", "of": "b", "points": [1], "at": "all",
                       "targets": [2, 2], "weight": 2}],
        "parameters": [{"path": "b.velocity"}])");
    double center = 0, energy = 0, track = 0, slope_center = 0, slope_energy = 0, slope_track = 0;
    double y = 0, v = 3;
    for (int n = 1; n <= 4; ++n) {
        v -= 4;
        y += 0.5 * v;
        const double t = 0.5 * n;
        center += (y - 1) * (y - 1) / 4;
        slope_center += 2 * (y - 1) * t / 4;
        energy += 2 * (0.5 * v * v + 8 * y) / 4;
        slope_energy += 2 * (v + 8 * t) / 4;
        track += (y - 2) * (y - 2) / 4;
        slope_track += 2 * (y - 2) * t / 4;
    }
    sim->run(true);
    CHECK(sim->terms()[0].value == doctest::Approx(center).epsilon(1e-14));
    CHECK(sim->terms()[1].value == doctest::Approx(energy).epsilon(1e-14));
    CHECK(sim->terms()[2].value == doctest::Approx(track).epsilon(1e-14));
    CHECK(sim->gradient()[1] ==
          doctest::Approx(slope_center + 0.5 * slope_energy + 2 * slope_track).epsilon(1e-13));
}

TEST_CASE("a term at all steps of a scene without steps is an error") {
    CHECK_THROWS_WITH_AS(at_rest(2, R"("positions": [[0, 0]])",
                                 R"({"type": "center_of_mass", "of": "b", "at": "all",
                                     "target": [0, 0]})",
                                 "b.positions"),
                         doctest::Contains("has no time"), Error);
}

TEST_CASE("a negative weight is an error, a weight of zero none") {
    const auto weighing = [](const std::string& weight) {
        return simulate(R"("dimension": 2, "time": {"step": 0.5, "steps": 1},
            "bodies": [{"type": "particles", "name": "b", "positions": [[0, 0]]}],
            "objective": [{"type": "center_of_mass", "of": "b", "target": [3, 4],
                           "weight": )" +
                        weight + "}]");
    };
    CHECK_NOTHROW(weighing("0"));
    CHECK_NOTHROW(weighing("\"1/2\""));
    CHECK_THROWS_WITH_AS(weighing("-1"), doctest::Contains("weight"), Error);
}

TEST_CASE("energy: its parts, and the springs that count") {
    const auto energy = [](const std::string& keys) {
        const auto sim = simulate(R"("dimension": 2, "time": {"step": 1, "steps": 0},
            "gravity": [0, -10],
            "bodies": [{"type": "particles", "name": "b", "positions": [[0, 1], [3, 5]],
                        "velocity": [[1, 0], [0, 2]], "mass": [2, 3]}],
            "forces": [{"type": "springs", "name": "s", "connect": [["b", 0, "b", 1]],
                        "stiffness": 6, "rest_length": 3},
                       {"type": "springs", "name": "rope", "connect": [["b", 0, "b", 1]],
                        "stiffness": 6, "rest_length": 6, "acts": "pull"}],
            "objective": [{"type": "energy", )" +
                                  keys + "}]");
        return sim->run();
    };
    const double kinetic = 0.5 * 2 * 1 + 0.5 * 3 * 4, height = 10 * (2 * 1 + 3 * 5);
    CHECK(energy("\"gravitational\": false") == kinetic);
    CHECK(energy("\"kinetic\": false") == height);
    CHECK(energy("\"springs\": [\"s\"]") == kinetic + height + 0.5 * 6 * 4);
    CHECK(energy("\"springs\": [\"rope\"]") == kinetic + height);  // slack
    CHECK(energy("\"of\": \"b\", \"kinetic\": false") == height);
    CHECK_THROWS_WITH_AS(energy("\"springs\": [\"r\"]"), doctest::Contains("no springs"), Error);
    CHECK_THROWS_WITH_AS(energy("\"kinetic\": false, \"gravitational\": false"),
                         doctest::Contains("no part"), Error);
}

TEST_CASE("regularization of shared values, of values per element, and of vectors") {
    const auto make = [](const std::string& term, const std::string& parameter) {
        return simulate(R"("dimension": 2, "time": {"step": 1, "steps": 0},
            "bodies": [{"type": "particles", "name": "b", "positions": [[0, 0], [1, 0], [2, 0]],
                        "velocity": [3, 4], "mass": [1, 2, 4]}],
            "objective": [{"type": "regularization", )" +
                        term + R"(}],
            "parameters": [{"path": ")" +
                        parameter + "\"}]");
    };
    {
        const auto sim = make(R"("of": "b.mass", "reference": 1)", "b.mass");
        CHECK(sim->run(true) == doctest::Approx((0 + 1 + 9) / 3.0).epsilon(1e-15));
        check_all(sim->gradient(), {0, 2.0 / 3, 2});
    }
    {
        const auto sim = make(R"("of": "b.mass", "sum": true)", "b.mass");
        CHECK(sim->run(true) == 0);
        sim->parameters().set_values(std::vector<double>{1.5, 2, 2});
        CHECK(sim->run(true) == 0.25 + 4);
        check_all(sim->gradient(), {1, 0, -4});
    }
    {
        const auto sim = make(R"("of": "b.velocity", "reference": 1)", "b.velocity");
        CHECK(sim->run(true) == (4 + 9) / 2.0);
        check_all(sim->gradient(), {2, 3});
    }
    CHECK_THROWS_WITH_AS(make(R"("of": "b.masses")", "b.mass"), doctest::Contains("b.mass"), Error);
    CHECK_THROWS_WITH_AS(make(R"("of": "b.mass", "at": "all")", "b.mass"),
                         doctest::Contains("does not depend on time"), Error);
}
