// Forces over time on points: their impulses, gradients by each step's force, basis functions of
// splines, work, equilibrium in implicit scenes, the points that they act on.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "engine/model/shown.hpp"
#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

constexpr double mass = 2, v0[2] = {3, 0.5};

// A free point of 2 kg in the plane without gravity.
std::string point(const std::string& time, const std::string& push, const std::string& more = "") {
    return R"("dimension": 2, "time": {)" + time + R"(}, "gravity": [0, 0],
        "bodies": [{"type": "particles", "name": "p", "positions": [[1, -2]], "mass": 2,
                    "velocity": [3, 0.5]}],
        "forces": [{"type": "push", "name": "motor", "of": "p", )" +
           push + "}]" + more;
}

// Forces of the steps, as any.
std::vector<std::array<double, 2>> sampled(int steps) {
    std::vector<std::array<double, 2>> f;
    for (int k = 0; k < steps; ++k)
        f.push_back({std::sin(1.3 * k), 2 - 0.7 * std::cos(0.4 * k * k)});
    return f;
}
std::string rows(const std::vector<std::array<double, 2>>& f) {
    std::string text = "[";
    for (const auto& row : f)
        text += (text.size() > 1 ? ", [" : "[") + number(row[0]) + ", " + number(row[1]) + "]";
    return text + "]";
}

using Force = std::function<std::array<double, 2>(int substep)>;

// The discrete law of motion: v += h f / m, x += h v.
struct Moved {
    double x[2] = {1, -2}, v[2] = {v0[0], v0[1]};
};
Moved moved(int substeps, double h, const Force& force) {
    Moved m;
    for (int n = 0; n < substeps; ++n) {
        const auto f = force(n);
        for (std::size_t k = 0; k < 2; ++k) {
            m.v[k] += h * f[k] / mass;
            m.x[k] += h * m.v[k];
        }
    }
    return m;
}
void check_moved(const std::string& scene, int substeps, double h, const Force& force) {
    const auto s = simulate(scene);
    s->run();
    const Moved m = moved(substeps, h, force);
    for (int k = 0; k < 2; ++k) {
        CHECK(velocity(*s, 0, k) == doctest::Approx(m.v[k]).epsilon(1e-12));
        CHECK(position(*s, 0, k) == doctest::Approx(m.x[k]).epsilon(1e-12));
    }
}

const std::string motor_parameter = R"(, "parameters": [{"path": "motor.force"}])";

}  // namespace

TEST_CASE("push: the impulse of one force for each step, which its substeps hold") {
    for (const int substeps : {1, 3}) {
        const int steps = 17;
        const double h = 0.25 / substeps;
        const auto f = sampled(steps);
        const auto s =
            simulate(point(R"("step": 0.25, "steps": 17, "substeps": )" + std::to_string(substeps),
                           R"("force": )" + rows(f)));
        s->run();
        double impulse[2] = {0, 0}, way[2] = {0, 0};
        const int n = steps * substeps;
        for (int j = 0; j < n; ++j)
            for (std::size_t k = 0; k < 2; ++k) {
                const double force = f[static_cast<std::size_t>(j / substeps)][k];
                impulse[k] += h * force;
                way[k] += h * h * (n - j) * force / mass;  // h^2 (n - j) / m of each
            }
        const double start[2] = {1, -2};
        for (int k = 0; k < 2; ++k) {
            CHECK(velocity(*s, 0, k) == doctest::Approx(v0[k] + impulse[k] / mass).epsilon(1e-12));
            CHECK(position(*s, 0, k) ==
                  doctest::Approx(start[k] + n * h * v0[k] + way[k]).epsilon(1e-12));
        }
    }
}

TEST_CASE("push: the derivative of the end by the force of step k is h^2 (n - k) / m") {
    // The loss |x_n - t|^2 has the derivative 2 (x_n - t) h^2 (n - k) / m. A free point moves by
    // the same law in implicit Euler steps.
    const std::string target =
        R"(, "objective": [{"type": "point_target", "of": "p", "target": [0.3, 0.4]}])";
    for (const char* integrator : {"semi_implicit_euler", "implicit_euler"}) {
        CAPTURE(integrator);
        const int steps = 12;
        const double h = 0.25, to[2] = {0.3, 0.4};
        const auto s = simulate(
            point(std::string(R"("step": 0.25, "steps": 12, "integrator": ")") + integrator + "\"",
                  R"("force": )" + rows(sampled(steps)), target + motor_parameter));
        s->run(true);
        const std::vector<double> gradient = s->gradient();
        REQUIRE(gradient.size() == 2 * steps);
        for (int k = 0; k < steps; ++k)
            for (int c = 0; c < 2; ++c)
                CHECK(gradient[static_cast<std::size_t>(2 * k + c)] ==
                      doctest::Approx(2 * (position(*s, 0, c) - to[c]) * h * h * (steps - k) / mass)
                          .epsilon(1e-10));
        check_derivatives(*s);
    }
    // Of one force for all: the sum of these, h^2 n (n + 1) / (2 m).
    const auto all = simulate(
        point(R"("step": 0.25, "steps": 12)", R"("force": [1, -2])", target + motor_parameter));
    all->run(true);
    const std::vector<double> gradient = all->gradient();
    REQUIRE(gradient.size() == 2);
    CHECK(gradient[0] ==
          doctest::Approx(2 * (position(*all, 0, 0) - 0.3) * 0.0625 * 78 / mass).epsilon(1e-12));
}

TEST_CASE("push: a course is the sum of its basis functions") {
    // Rows at the times 0.3 r in steps of 0.1; two substeps of each. The cubic is that of Catmull
    // and Rom, with f_-1 = 2 f_0 - f_1 before the first row, and so behind the last.
    const std::vector<std::array<double, 2>> f = sampled(5);
    const auto at = [&](int r) {
        if (r < 0) return std::array{2 * f[0][0] - f[1][0], 2 * f[0][1] - f[1][1]};
        if (r > 4) return std::array{2 * f[4][0] - f[3][0], 2 * f[4][1] - f[3][1]};
        return f[static_cast<std::size_t>(r)];
    };
    for (const std::string interpolation : {"hold", "linear", "cubic"}) {
        CAPTURE(interpolation);
        const Force force = [&](int substep) {
            const int interval = std::min(substep / 6, 4);
            const double u = interval == 4 ? 0 : (substep % 6) / 6.0;
            std::array<double, 4> basis{0, 1, 0, 0};  // of the rows interval - 1 to interval + 2
            if (interpolation == "linear") basis = {0, 1 - u, u, 0};
            if (interpolation == "cubic")
                basis = {-u * (1 - u) * (1 - u) / 2, 1 - u * u * (5 - 3 * u) / 2,
                         u * (1 + u * (4 - 3 * u)) / 2, -u * u * (1 - u) / 2};
            std::array<double, 2> sum{0, 0};
            for (int k = 0; k < 4; ++k)
                for (std::size_t c = 0; c < 2; ++c)
                    sum[c] += basis[static_cast<std::size_t>(k)] * at(interval - 1 + k)[c];
            return sum;
        };
        // To the last row, and far behind it.
        for (const int steps : {12, 15})
            check_moved(point(R"("step": 0.1, "substeps": 2, "steps": )" + std::to_string(steps),
                              R"("interval": 0.3, "interpolation": ")" + interpolation +
                                  R"(", "force": )" + rows(f)),
                        2 * steps, 0.05, force);
    }
}

TEST_CASE("push: formulas know the time of their row, of steps and of courses") {
    const auto wave = [](double t) { return std::array{std::sin(4 * t), 1 - t * t}; };
    const std::string formula = R"text("force": {"formula": ["sin(4*t)", "1-t*t"]})text";
    check_moved(point(R"("step": 0.25, "substeps": 2, "steps": 9)", formula), 18, 0.125,
                [&](int j) { return wave(0.25 * (j / 2)); });
    check_moved(point(R"("step": 0.25, "substeps": 2, "steps": 9)",
                      formula + R"(, "interval": 0.5, "interpolation": "hold")"),
                18, 0.125, [&](int j) { return wave(0.5 * (j / 4)); });
    // One force for each step is a parameter of its own.
    const auto s = simulate(point(R"("step": 0.25, "steps": 9)", formula,
                                  R"(, "objective": [{"type": "point_target", "of": "p",
                                     "target": [0, 0]}])" +
                                      motor_parameter));
    CHECK(s->parameters().values().size() == 18);
    check_refused(R"("dimension": 2, "time": {"step": 0.25, "steps": 9},
        "bodies": [{"type": "particles", "name": "p", "positions": [[1, -2]],
                    "velocity": {"formula": ["t", "0"]}}])",
                  "unknown name 't'");
}

TEST_CASE("push: the work is the gain of kinetic energy") {
    // In each step m/2 (|v_n+1|^2 - |v_n|^2) = h f_n . (v_n + v_n+1) / 2.
    const double h = 0.125;
    double work = 0, before[2] = {v0[0], v0[1]};
    for (int n = 1; n <= 10; ++n) {
        const auto s = simulate(point(R"("step": 0.125, "steps": )" + std::to_string(n),
                                      R"text("force": {"formula": ["3*cos(5*t)", "2-4*t"]})text"));
        s->run();
        const double t = h * (n - 1), f[2] = {3 * std::cos(5 * t), 2 - 4 * t};
        const double kinetic = energies_of(*s).at("kinetic energy");
        for (int k = 0; k < 2; ++k) {
            work += h * f[k] * (before[k] + velocity(*s, 0, k)) / 2;
            before[k] = velocity(*s, 0, k);
        }
        CHECK(kinetic - mass / 2 * (v0[0] * v0[0] + v0[1] * v0[1]) ==
              doctest::Approx(work).epsilon(1e-12));
    }
}

TEST_CASE("push: at rest in quasi-static steps a spring is longer by f / k") {
    // A spring of length 1 along x from the origin: |x| = 1 + |f| / k, along f.
    const auto s = simulate(R"("dimension": 2, "gravity": [0, 0],
        "time": {"step": 1, "steps": 3, "integrator": "quasi_static"},
        "bodies": [{"type": "particles", "name": "wall", "positions": [[0, 0]], "fixed": true},
                   {"type": "particles", "name": "p", "positions": [[1, 0]]}],
        "forces": [{"type": "springs", "name": "spring", "connect": [["wall", 0, "p", 0]],
                    "stiffness": 50, "rest_length": 1},
                   {"type": "push", "name": "hand", "of": "p", "force": [[1, 0], [4, 1], [3, 4]]}],
        "objective": [{"type": "point_target", "of": "p", "target": [0, 0]}],
        "parameters": [{"path": "hand.force"}])");
    s->run(true);
    CHECK(position(*s, 1, 0) == doctest::Approx(1.1 * 0.6).epsilon(1e-9));
    CHECK(position(*s, 1, 1) == doctest::Approx(1.1 * 0.8).epsilon(1e-9));
    // d|x|^2 / df = 2 |x| / k f / |f| by the last force, and 0 by those before.
    const std::vector<double> gradient = s->gradient();
    for (std::size_t k = 0; k < 4; ++k) CHECK(std::fabs(gradient[k]) < 1e-12);
    CHECK(gradient[4] == doctest::Approx(2 * 1.1 / 50 * 0.6).epsilon(1e-9));
    CHECK(gradient[5] == doctest::Approx(2 * 1.1 / 50 * 0.8).epsilon(1e-9));
}

TEST_CASE("push: on a body, on some of its points, on all") {
    const auto speeds = [](const std::string& push, const std::string& integrator) {
        const auto s = simulate(R"("dimension": 2, "gravity": [0, 0],
            "time": {"step": 0.5, "steps": 1, "integrator": ")" +
                                integrator + R"("},
            "bodies": [{"type": "particles", "name": "a", "positions": [[0, 0], [1, 0]], "mass": 2},
                       {"type": "particles", "name": "b", "mass": 4, "fixed": [1],
                        "positions": [[2, 0], [3, 0], [4, 0]]}],
            "forces": [{"type": "push", "force": [8, 0])" +
                                push + "}]");
        s->run();
        std::vector<double> v;
        for (int p = 0; p < 5; ++p) v.push_back(velocity(*s, p, 0));
        return v;
    };
    using V = std::vector<double>;
    for (const char* integrator : {"semi_implicit_euler", "implicit_euler"}) {
        CHECK(speeds("", integrator) == V{2, 2, 1, 0, 1});
        CHECK(speeds(R"(, "of": "b")", integrator) == V{0, 0, 1, 0, 1});
        CHECK(speeds(R"(, "of": "b", "points": [2, 1])", integrator) == V{0, 0, 0, 0, 1});
        CHECK(speeds(R"(, "of": "a", "points": [1])", integrator) == V{0, 2, 0, 0, 0});
    }
}

TEST_CASE("push: what acts is an array for objectives, and is shown") {
    // The mean of |f|^2 over the steps, with the derivative 2 f / n by each.
    const auto f = sampled(6);
    const auto s = simulate(point(
        R"("step": 0.25, "substeps": 2, "steps": 6)", R"("force": )" + rows(f),
        R"(, "objective": [{"type": "array_target", "array": "motor.applied", "at": "all"}])" +
            motor_parameter));
    double mean = 0;
    for (const auto& row : f) mean += (row[0] * row[0] + row[1] * row[1]) / 6;
    CHECK(s->run(true) == doctest::Approx(mean).epsilon(1e-12));
    const std::vector<double> gradient = s->gradient();
    for (std::size_t k = 0; k < 12; ++k)
        CHECK(gradient[k] == doctest::Approx(2 * f[k / 2][k % 2] / 6).epsilon(1e-12));
    CHECK(s->model().array("motor.applied").value(0, 1) == f[5][1]);
    model::ShownValues shown(s->model(), "pushing force");
    s->model().step_counter().assign_integers(std::vector<std::int64_t>{12});  // after the run
    shown.evaluate();
    CHECK(shown.values().value(0, 0) == f[5][0]);
    CHECK(shown.values().value(0, 1) == f[5][1]);
}

TEST_CASE("push: too few forces, a course without times and points of no body are errors") {
    const auto refused = [](const std::string& push, const std::string& words) {
        check_refused(point(R"("step": 0.25, "steps": 3)", push), words);
    };
    refused(R"("force": [[1, 0], [2, 0]])", "2 rows, and the scene has 3 steps");
    refused(R"("force": [[1, 0], [2, 0]])", "\"interval\"");
    refused(R"("force": [1, 0], "interpolation": "cubic")", "without \"interval\"");
    refused(R"("force": [1, 0], "interval": 0.1234567)", "whole number of substeps");
    refused(R"("force": {"formula": ["x", "0"]})", "'x'");
    check_refused(R"("time": {"step": 0.25, "steps": 3},
        "bodies": [{"type": "particles", "name": "p", "positions": [[1, -2, 0]]}],
        "forces": [{"type": "push", "points": [0], "force": [1, 0, 0]}])",
                  "add \"of\"");
}
