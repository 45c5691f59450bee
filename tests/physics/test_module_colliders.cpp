// Planes and spheres: restitution, Coulomb friction on an incline, penalty oscillation, the
// sphere's force, the projection rule, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

TEST_CASE("impulse: the normal velocity is reversed by the restitution, exactly once per bounce") {
    // Binary numbers throughout, so that the expected values are exact.
    const auto sim = simulate(R"("time": {"step": "1/64", "steps": 200}, "gravity": [0, 0, -8],
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 1]],
                    "velocity": [1, 0, 0]}],
        "colliders": [{"type": "plane", "normal": [0, 0, 2], "response": "impulse",
                       "restitution": 0.5}])");
    double before = 0, top = 0, bounces = 0;
    std::vector<double> tops;
    sim->run(false, [&](std::int64_t) {
        const double v = velocity(*sim, 0, 2);
        if (v > 0 && before < 0) {
            ++bounces;
            CHECK(v == -0.5 * (before - 8.0 / 64));
            tops.push_back(top);
            top = -1;
        }
        before = v;
        top = std::max(top, position(*sim, 0, 2));
        return true;
    });
    CHECK(bounces >= 3);
    CHECK(velocity(*sim, 0, 0) == 1);  // no friction
    // Each flight reaches the square of the restitution, up to what one step moves.
    CHECK(tops[1] == doctest::Approx(0.25 * tops[0]).epsilon(0.3));
}

TEST_CASE("impulse: friction takes mu (1 + e) |v_n| from the tangential speed, or holds it") {
    const auto after = [](double friction) {
        const auto sim = simulate(R"("time": {"step": "1/64", "steps": 1}, "gravity": [0, 0, 0],
            "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, -0.125]],
                        "velocity": [3, 4, -2]}],
            "colliders": [{"type": "plane", "normal": [0, 0, 1], "response": "impulse",
                           "restitution": 0.25, "friction": )" +
                                  std::to_string(friction) + "}]");
        sim->run();
        return std::vector<double>{velocity(*sim, 0, 0), velocity(*sim, 0, 1),
                                   velocity(*sim, 0, 2)};
    };
    const std::vector<double> sliding = after(0.4);  // 5 - 0.4 * 1.25 * 2 = 4 of 5 is left
    CHECK(sliding[0] == doctest::Approx(3 * 0.8).epsilon(1e-14));
    CHECK(sliding[1] == doctest::Approx(4 * 0.8).epsilon(1e-14));
    CHECK(sliding[2] == 0.5);
    const std::vector<double> held = after(2.5);
    CHECK(held[0] == 0);
    CHECK(held[1] == 0);
    CHECK(held[2] == 0.5);
}

namespace {

// A block on a slope of angle a, starting down it at 1 m/s from `depth` under the surface, with
// g = 10. Positions along the slope: t = (cos a, sin a) points up.
std::unique_ptr<Simulation> incline(double angle, const std::string& contact, double depth,
                                    double speed, int steps) {
    const double c = std::cos(angle), s = std::sin(angle);
    auto sim = simulate(R"("dimension": 2, "time": {"step": "1/256", "steps": )" +
                        std::to_string(steps) + R"(}, "gravity": [0, -10],
        "bodies": [{"type": "particles", "name": "block", "positions": [[0, 0]], "mass": 2}],
        "colliders": [{"type": "plane", "name": "slope", "normal": [0, 1], )" +
                        contact + "}]");
    const auto set = [&](const char* path, std::initializer_list<double> values) {
        sim->model().find_quantity(path)->values = values;
        sim->model().find_quantity(path)->upload();
    };
    set("slope.normal", {-s, c});
    set("block.positions", {s * depth, -c * depth});
    set("block.velocity", {-c * speed, -s * speed});
    return sim;
}
double along(Simulation& s, double angle) {
    return -(velocity(s, 0, 0) * std::cos(angle) + velocity(s, 0, 1) * std::sin(angle));
}

}  // namespace

TEST_CASE("impulse: a block slides down an incline with g (sin a - mu cos a), or sticks") {
    const double a = 0.5;
    const auto sliding = incline(a, R"("response": "impulse", "friction": 0.3)", 1e-3, 1, 300);
    sliding->run();
    const double gain = 10 * (std::sin(a) - 0.3 * std::cos(a));
    CHECK(along(*sliding, a) == doctest::Approx(1 + 300.0 / 256 * gain).epsilon(1e-10));
    // tan 0.5 = 0.546: with more friction than that it stops after v / (g (mu cos a - sin a)).
    const double loss = 10 * (0.8 * std::cos(a) - std::sin(a));
    const int stop = static_cast<int>(std::ceil(256 / loss));
    const auto moving = incline(a, R"("response": "impulse", "friction": 0.8)", 1e-3, 1, stop - 1);
    moving->run();
    CHECK(along(*moving, a) == doctest::Approx(1 - (stop - 1) / 256.0 * loss).epsilon(1e-9));
    const auto held = incline(a, R"("response": "impulse", "friction": 0.8)", 1e-3, 1, stop + 50);
    held->run();
    CHECK(velocity(*held, 0, 0) == 0);
    CHECK(velocity(*held, 0, 1) == 0);
}

TEST_CASE("penalty: a block slides down an incline with g (sin a - mu cos a)") {
    const double a = 0.5, depth = 2 * 10 * std::cos(a) / 4000;  // where the contact carries it
    const auto sim =
        incline(a, R"("response": "penalty", "stiffness": 4000, "damping": 5, "friction": 0.3)",
                depth, 1, 300);
    sim->run();
    const double gain = 10 * (std::sin(a) - 0.3 * std::cos(a));
    CHECK(along(*sim, a) == doctest::Approx(1 + 300.0 / 256 * gain).epsilon(1e-9));
}

TEST_CASE("penalty: below the slip speed friction is viscous") {
    // v <- v (1 - h mu g / slip) on a level floor.
    const auto sim = simulate(R"("dimension": 2, "time": {"step": "1/256", "steps": 100},
        "gravity": [0, -10],
        "bodies": [{"type": "particles", "name": "block", "positions": [[0, -0.01]],
                    "velocity": [0.25, 0]}],
        "colliders": [{"type": "plane", "normal": [0, 1], "response": "penalty",
                       "stiffness": 1000, "friction": 0.2, "slip_speed": 0.5}])");
    sim->run();
    CHECK(velocity(*sim, 0, 0) ==
          doctest::Approx(0.25 * std::pow(1 - 0.2 * 10 / (256 * 0.5), 100)).epsilon(1e-10));
}

TEST_CASE("penalty: small oscillations about the equilibrium, and no force that pulls") {
    // Depth p about m g / k: p_n = A cos(n q) + B sin(n q), cos q = 1 - (w h)^2 / 2.
    const double h = 1.0 / 256, w = std::sqrt(500.0), q = std::acos(1 - w * w * h * h / 2);
    const auto sim = simulate(R"("dimension": 2, "time": {"step": "1/256", "steps": 333},
        "gravity": [0, -10],
        "bodies": [{"type": "particles", "name": "block", "positions": [[0, 1.99]], "mass": 2}],
        "colliders": [{"type": "plane", "normal": [0, 1], "offset": 2, "response": "penalty",
                       "stiffness": 1000}])");
    sim->run();
    const double start = 1.99 - (2 - 0.02), next = start * (1 - w * w * h * h);
    const double b = (next - start * std::cos(q)) / std::sin(q);
    CHECK(position(*sim, 0, 1) ==
          doctest::Approx(1.98 + start * std::cos(333 * q) + b * std::sin(333 * q)).epsilon(1e-11));
    // Leaving fast: the damper would pull with 40 * 5 N, the spring pushes with 1 N.
    const auto leaving = simulate(R"("dimension": 2, "time": {"step": "1/256", "steps": 1},
        "gravity": [0, 0],
        "bodies": [{"type": "particles", "name": "block", "positions": [[0, -0.001]],
                    "velocity": [0, 5]}],
        "colliders": [{"type": "plane", "normal": [0, 1], "response": "penalty",
                       "stiffness": 1000, "damping": 40}])");
    leaving->run();
    CHECK(velocity(*leaving, 0, 1) == 5);
}

TEST_CASE("sphere: the penalty pushes along the line from the center") {
    const auto sim = simulate(R"("time": {"step": 0.5, "steps": 1}, "gravity": [0, 0, 0],
        "bodies": [{"type": "particles", "name": "p", "mass": 4,
                    "positions": [[1, 2, 3.5], [1, 2, 5], [1, 2, 3]]}],
        "colliders": [{"type": "sphere", "center": [1, 2, 3], "radius": 2, "response": "penalty",
                       "stiffness": 8}])");
    sim->run();
    CHECK(velocity(*sim, 0, 2) == 0.5 * 8 * 1.5 / 4);
    CHECK(velocity(*sim, 0, 0) == 0);
    CHECK(velocity(*sim, 1, 2) == 0);  // on the surface
    CHECK(velocity(*sim, 2, 2) == 0);  // at the center there is no direction
}

TEST_CASE("sphere: impulse and projection act on the radial velocity") {
    const auto run = [](const std::string& response) {
        const auto sim = simulate(R"("dimension": 2, "time": {"step": "1/64", "steps": 1},
            "gravity": [0, 0],
            "bodies": [{"type": "particles", "name": "p", "positions": [[0.6, 0.8]],
                        "velocity": [-2, -1]}],
            "colliders": [{"type": "sphere", "center": [0, 0], "radius": 1.5, )" +
                                  response + "}]");
        sim->run();
        return std::pair(velocity(*sim, 0, 0), velocity(*sim, 0, 1));
    };
    // n = (0.6, 0.8), v_n = -2, v_t = (-0.8, 0.6).
    const auto [x, y] = run(R"("response": "impulse", "restitution": 0.5)");
    CHECK(x == doctest::Approx(-0.8 + 0.6).epsilon(1e-13));
    CHECK(y == doctest::Approx(0.6 + 0.8).epsilon(1e-13));
    // Projection looks at the position after the step.
    const double px = 0.6 - 2.0 / 64, py = 0.8 - 1.0 / 64, r = std::hypot(px, py);
    const double vn = (-2 * px - py) / r;
    const auto [u, v] = run(R"("response": "projection")");
    CHECK(u == doctest::Approx(-2 - vn * px / r).epsilon(1e-13));
    CHECK(v == doctest::Approx(-1 - vn * py / r).epsilon(1e-13));
}

TEST_CASE("projection: at the end of the step, on the new position; positions stay") {
    const auto sim = simulate(R"("dimension": 2, "time": {"step": 0.25, "steps": 1},
        "gravity": [0, 0],
        "bodies": [{"type": "particles", "name": "p", "velocity": [2, -1],
                    "positions": [[0, 0], [0.5, 0], [1, 0]]}],
        "colliders": [{"type": "plane", "normal": [-1, 0], "offset": -1, "friction": 0.125,
                       "response": "projection"}])");
    sim->run();
    CHECK(velocity(*sim, 0, 0) == 2);  // at 0.5: free
    CHECK(velocity(*sim, 1, 0) == 2);  // at 1: on the plane, not beyond
    CHECK(velocity(*sim, 2, 0) == 0);  // at 1.5
    CHECK(velocity(*sim, 2, 1) == -0.75);
    CHECK(position(*sim, 2, 0) == 1.5);
}

TEST_CASE("colliders: fixed points and other bodies are left alone") {
    const auto sim = simulate(R"("dimension": 2, "time": {"step": 0.25, "steps": 1},
        "gravity": [0, 0],
        "bodies": [{"type": "particles", "name": "a", "positions": [[0, -1]], "velocity": [0, -1]},
                   {"type": "particles", "name": "b", "positions": [[0, -1], [1, -1]],
                    "velocity": [0, -1], "fixed": [0]}],
        "colliders": [{"type": "plane", "of": "b", "normal": [0, 1], "response": "impulse"}])");
    sim->run();
    CHECK(velocity(*sim, 0, 1) == -1);
    CHECK(velocity(*sim, 1, 1) == -1);
    CHECK(velocity(*sim, 2, 1) == 0);
}

TEST_CASE("colliders: keys without meaning and gradients that do not exist are errors") {
    const auto with = [](const std::string& keys, const std::string& parameter = "") {
        return simulate(
            R"("time": {"step": 0.25, "steps": 1},
            "bodies": [{"type": "particles", "name": "a", "positions": [[0, 0, 0]]}],
            "colliders": [{"type": "plane", "name": "floor", )" +
            keys + "}]" +
            (parameter.empty() ? "" : R"(, "parameters": [{"path": ")" + parameter + "\"}]"));
    };
    const std::string up = R"("normal": [0, 0, 1])";
    CHECK_NOTHROW(with(up));
    CHECK_THROWS_WITH_AS(with(up + R"(, "response": "penalty")"),
                         doctest::Contains("needs a stiffness"), Error);
    CHECK_THROWS_WITH_AS(with(up + R"(, "response": "penalty", "stiffness": 1, "restitution": 1)"),
                         doctest::Contains("has no meaning"), Error);
    CHECK_THROWS_WITH_AS(with(up + R"(, "stiffness": 10)"), doctest::Contains("has no meaning"),
                         Error);
    CHECK_THROWS_WITH_AS(with(up + R"(, "response": "penalty", "stiffness": 1, "slip_speed": 1)"),
                         doctest::Contains("without friction"), Error);
    CHECK_THROWS_WITH_AS(with(R"("normal": [0, 0, 0])"), doctest::Contains("zero vector"), Error);
    // The plane's place decides whether there is an impulse, and nothing else.
    CHECK_THROWS_WITH_AS(with(up + R"(, "response": "impulse")", "floor.offset"),
                         doctest::Contains("'floor.offset' has no gradient with the response "
                                           "\"impulse\": where the surface lies only decides"),
                         Error);
    CHECK_THROWS_WITH_AS(with(up + R"(, "response": "projection")", "floor.offset"),
                         doctest::Contains("with the response \"projection\""), Error);
    CHECK_THROWS_WITH_AS(with(up + R"(, "response": "impulse")", "floor.offset"),
                         doctest::Contains("choose the response \"impact\" or \"penalty\""), Error);
    CHECK_NOTHROW(with(up, "floor.offset"));
    CHECK_NOTHROW(with(up + R"(, "response": "penalty", "stiffness": 1)", "floor.offset"));
}
