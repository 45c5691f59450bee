// Particles, kicks and springs against closed forms of the symplectic Euler method: free flight,
// accumulated sensitivity, the two-body spring.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

TEST_CASE("free flight: positions, and their derivatives in initial velocity and gravity") {
    // x_n = x_0 + n h v_0 + g h^2 n (n + 1) / 2. The target lies half a unit beside x_n along one
    // axis, so that the loss |x_n - target|^2 has the derivative of that coordinate.
    const double h = 1.0 / 128, g[3] = {0.3, -0.2, -9.75}, x0[3] = {0.5, -1, 2}, v0[3] = {3, 1, 4};
    const int n = 100;
    const double t = n * h, s = h * h * n * (n + 1) / 2;
    for (int axis = 0; axis < 3; ++axis) {
        CAPTURE(axis);
        double target[3];
        for (int k = 0; k < 3; ++k)
            target[k] = x0[k] + t * v0[k] + s * g[k] - (k == axis ? 0.5 : 0);
        const auto text = [](const double* v) {
            return "[" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," +
                   std::to_string(v[2]) + "]";
        };
        std::string keys = R"("time": {"step": "1/128", "steps": 100}, "gravity": )" + text(g) +
                           R"(, "bodies": [{"type": "particles", "name": "ball", "positions": [)" +
                           text(x0) + R"(], "velocity": )" + text(v0) +
                           R"(}], "objective": [{"type": "point_target", "name": "hit",
                           "of": "ball", "target": [0, 0, 0]}],
                           "parameters": [{"path": "ball.positions"}, {"path": "ball.velocity"},
                                          {"path": "gravity"}])";
        const auto sim = simulate(keys);
        sim->model().find_quantity("hit.target")->values.assign(target, target + 3);
        sim->model().find_quantity("hit.target")->upload();
        CHECK(sim->run(true) == doctest::Approx(0.25).epsilon(1e-12));
        const std::vector<double> gradient = sim->gradient();
        for (int k = 0; k < 3; ++k) {
            CHECK(position(*sim, 0, k) ==
                  doctest::Approx(x0[k] + t * v0[k] + s * g[k]).epsilon(1e-13));
            CHECK(velocity(*sim, 0, k) == doctest::Approx(v0[k] + t * g[k]).epsilon(1e-13));
            const double on = k == axis ? 1 : 0;
            const std::size_t at = static_cast<std::size_t>(k);
            CHECK(gradient[at] == doctest::Approx(on).epsilon(1e-11));
            CHECK(gradient[3 + at] == doctest::Approx(on * t).epsilon(1e-11));
            CHECK(gradient[6 + at] == doctest::Approx(on * s).epsilon(1e-11));
        }
    }
}

TEST_CASE("a velocity added in every step: the sensitivity accumulates to h n (n + 1) / 2") {
    const auto sim = simulate(R"("dimension": 2, "time": {"step": 0.001, "steps": 999},
        "gravity": [0, 0],
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0]]}],
        "controllers": [{"type": "kick", "name": "engine", "change": [0.002, 0]}],
        "objective": [{"type": "point_target", "of": "ball", "target": [0.499, 0]}],
        "parameters": [{"path": "engine.change"}])");
    // x = 0.002 * 499.5 = 0.999, so that 2 (x - target) = 1.
    CHECK(sim->run(true) == doctest::Approx(0.25).epsilon(1e-12));
    CHECK(position(*sim, 0, 0) == doctest::Approx(0.999).epsilon(1e-12));
    const std::vector<double> gradient = sim->gradient();
    CHECK(gradient[0] == doctest::Approx(499.5).epsilon(1e-11));
    CHECK(gradient[1] == 0);
}

TEST_CASE("kicks do not move fixed points, and act on the body named only") {
    const auto sim = simulate(R"("time": {"step": 0.5, "steps": 2}, "gravity": [0, 0, 0],
        "bodies": [{"type": "particles", "name": "a", "positions": [[0, 0, 0], [1, 0, 0]],
                    "fixed": [1]},
                   {"type": "particles", "name": "b", "positions": [[2, 0, 0]]},
                   {"type": "particles", "name": "c", "positions": [[3, 0, 0]], "fixed": true,
                    "velocity": [0, 0, 1]}],
        "controllers": [{"type": "kick", "of": "b", "change": [0, 1, 0]},
                        {"type": "kick", "change": [1, 0, 0]}])");
    sim->run();
    CHECK(velocity(*sim, 0, 0) == 2);
    CHECK(velocity(*sim, 0, 1) == 0);
    CHECK(velocity(*sim, 1, 0) == 0);  // one fixed point of a body
    CHECK(velocity(*sim, 2, 0) == 2);
    CHECK(velocity(*sim, 2, 1) == 2);
    CHECK(position(*sim, 2, 1) == 0.5 * (1 + 2));
    CHECK(velocity(*sim, 3, 0) == 0);
    CHECK(position(*sim, 3, 2) == 1);  // moves on with the velocity it was given
}

namespace {

// Two masses on a spring, at rest but for a common drift. With w^2 = k / mu the stretch s obeys
// v <- v - h w^2 s, s <- s + h v: s_n = A cos(n q) + B sin(n q), cos q = 1 - (w h)^2 / 2.
struct TwoBodies {
    static constexpr double m1 = 1, m2 = 3, k = 27, h = 1e-3, rest = 0.5, start = 0.1, drift = 0.2;
    double mu = m1 * m2 / (m1 + m2), w = std::sqrt(k / mu), q = std::acos(1 - w * w * h * h / 2);
    double b = (start * (1 - w * w * h * h) - start * std::cos(q)) / std::sin(q);
    double stretch(double n) const { return start * std::cos(n * q) + b * std::sin(n * q); }
    double first(double n) const {
        const double center = m2 / (m1 + m2) * (rest + start) + drift * n * h;
        return center - m2 / (m1 + m2) * (rest + stretch(n));
    }
};

std::unique_ptr<Simulation> two_bodies(int steps) {
    return simulate(R"("dimension": 2, "time": {"step": 0.001, "steps": )" + std::to_string(steps) +
                    R"(}, "gravity": [0, 0],
        "bodies": [{"type": "particles", "name": "pair", "positions": [[0, 0], [0.6, 0]],
                    "velocity": [0.2, 0], "mass": [1, 3]}],
        "forces": [{"type": "springs", "name": "spring", "connect": [["pair", 0, "pair", 1]],
                    "stiffness": 27, "rest_length": 0.5}],
        "objective": [{"type": "energy", "name": "energy", "springs": ["spring"]}])");
}

}  // namespace

TEST_CASE("two-body spring: positions, momentum, energy and period of the discrete system") {
    const TwoBodies exact;
    const int steps = 5000;
    const auto sim = two_bodies(steps);
    const double momentum = (exact.m1 + exact.m2) * exact.drift;
    double worst_momentum = 0, worst_position = 0, worst_energy = 0, worst_invariant = 0;
    double before = exact.start, first_crossing = -1, last_crossing = -1;
    int crossings = 0;
    sim->run(false, [&](std::int64_t n) {
        const double x1 = position(*sim, 0, 0), x2 = position(*sim, 1, 0);
        const double v1 = velocity(*sim, 0, 0), v2 = velocity(*sim, 1, 0);
        const double s = x2 - x1 - exact.rest, v = v2 - v1;
        worst_momentum =
            std::max(worst_momentum, std::fabs(exact.m1 * v1 + exact.m2 * v2 - momentum));
        worst_position =
            std::max(worst_position, std::fabs(x1 - exact.first(static_cast<double>(n))));
        // Relative energy: oscillates. What the method conserves exactly is that minus h k s v / 2.
        const double energy = 0.5 * exact.mu * v * v + 0.5 * exact.k * s * s;
        const double start_energy = 0.5 * exact.k * exact.start * exact.start;
        worst_energy = std::max(worst_energy, std::fabs(energy - start_energy));
        worst_invariant = std::max(
            worst_invariant, std::fabs(energy - 0.5 * exact.h * exact.k * s * v - start_energy));
        if (n > 0 && before > 0 && s <= 0) {
            last_crossing = static_cast<double>(n - 1) + before / (before - s);
            if (first_crossing < 0) first_crossing = last_crossing;
            ++crossings;
        }
        before = s;
        return true;
    });
    CHECK(worst_momentum < 1e-14);
    CHECK(worst_position < 1e-11);
    CHECK(worst_invariant < 1e-13);
    // |s v| is at most w A^2 / 2.
    CHECK(worst_energy < 0.5 * exact.h * exact.k * exact.w * exact.start * exact.start / 2 * 1.01);
    CHECK(worst_energy > 0.9 * 0.5 * exact.h * exact.k * exact.w * exact.start * exact.start / 2);
    REQUIRE(crossings == 5);
    const double period = (last_crossing - first_crossing) / (crossings - 1) * exact.h;
    const double continuous = 2 * 3.14159265358979323846 * std::sqrt(exact.mu / exact.k);
    // q / (w h) = 1 + (w h)^2 / 24 + ...: the discrete period is shorter by that.
    const double wh = exact.w * exact.h;
    CHECK(period == doctest::Approx(continuous * (1 - wh * wh / 24)).epsilon(1e-7));
}

TEST_CASE("two-body spring: the energy term has the energy of the formula") {
    const TwoBodies exact;
    const auto sim = two_bodies(137);
    const double energy = sim->run();
    const double s = exact.stretch(137), v = (s - exact.stretch(136)) / exact.h;
    CHECK(energy == doctest::Approx(0.5 * (exact.m1 + exact.m2) * exact.drift * exact.drift +
                                    0.5 * exact.mu * v * v + 0.5 * exact.k * s * s)
                        .epsilon(1e-9));
}

TEST_CASE("springs that only pull or only push") {
    const auto run = [](const std::string& acts, double rest) {
        const auto sim = simulate(R"("dimension": 2, "time": {"step": 0.5, "steps": 1},
            "gravity": [0, 0],
            "bodies": [{"type": "particles", "name": "p", "positions": [[0, 0], [3, 4]],
                        "velocity": [[0, 0], [0.3, 0.4]]}],
            "forces": [{"type": "springs", "connect": [["p", 0, "p", 1]], "stiffness": 2,
                        "damping": 4, "rest_length": )" +
                                  std::to_string(rest) + R"(, "acts": ")" + acts + R"("}])");
        sim->run();
        return velocity(*sim, 0, 0);
    };
    // h (k (5 - r) + c 0.5) * 3/5
    CHECK(run("both", 4) == doctest::Approx(0.5 * (2 * 1 + 4 * 0.5) * 0.6).epsilon(1e-14));
    CHECK(run("both", 6) == doctest::Approx(0.5 * (-2 * 1 + 4 * 0.5) * 0.6).epsilon(1e-14));
    CHECK(run("pull", 4) == doctest::Approx(0.5 * (2 * 1 + 4 * 0.5) * 0.6).epsilon(1e-14));
    CHECK(run("pull", 6) == 0);
    CHECK(run("push", 4) == 0);
    CHECK(run("push", 7) == doctest::Approx(0.5 * (-2 * 2 + 4 * 0.5) * 0.6).epsilon(1e-14));
}

TEST_CASE("springs of grids and chains") {
    const auto springs = [](const std::string& connect) {
        const auto sim = simulate(R"("time": {"step": 1, "steps": 0},
            "bodies": [{"type": "particles", "name": "net",
                        "positions": {"grid": {"counts": [3, 4, 1], "spacing": [1, 2, 1]}}}],
            "forces": [{"type": "springs", "name": "s", "stiffness": 1,
                        "rest_length": {"initial": 0.5}, "connect": )" +
                                  connect + "}]");
        return sim->model().find_quantity("s.rest_length")->values;
    };
    const auto grid = [&](const std::string& pattern) {
        return springs(R"({"grid": "net", "counts": [3, 4], "patterns": [")" + pattern + R"("]})");
    };
    const std::vector<double> structural = grid("structural");
    CHECK(structural.size() == 2 * 4 + 3 * 3);
    CHECK(std::count(structural.begin(), structural.end(), 0.5) == 8);  // along x
    CHECK(std::count(structural.begin(), structural.end(), 1.0) == 9);  // along y
    const std::vector<double> shear = grid("shear");
    CHECK(shear.size() == 2 * 2 * 3);
    for (const double length : shear) CHECK(length == 0.5 * std::sqrt(5.0));
    CHECK(grid("bend").size() == 1 * 4 + 3 * 2);
    CHECK(springs(R"({"chain": "net"})").size() == 11);
}
