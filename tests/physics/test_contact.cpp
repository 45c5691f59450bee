// Contact and friction by energies (kernels/colliders/barrier.hpp) against closed forms: rest height,
// sliding, sticking, impacts.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/base/error.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

constexpr double g = 9.81;

// b'(d), b''(d) and d b'(d)/d reach, of b = -(d - r)^2 log(d / r).
double slope(double d, double r) { return -2 * (d - r) * std::log(d / r) - (d - r) * (d - r) / d; }
double curvature(double d, double r) {
    return -2 * std::log(d / r) - 4 * (d - r) / d + (d - r) * (d - r) / (d * d);
}
double slope_by_reach(double d, double r) {
    return 2 * std::log(d / r) + 2 * (d - r) / r + 2 * (d - r) / d;
}

// Where k b'(d) + weight = 0.
double rest_height(double k, double reach, double weight) {
    double low = 1e-9 * reach, high = reach;
    for (int n = 0; n < 200; ++n) {
        const double d = 0.5 * (low + high);
        (k * slope(d, reach) + weight < 0 ? low : high) = d;
    }
    return 0.5 * (low + high);
}

struct Block {
    double h = 1e-3;
    std::int64_t steps = 1000;
    double height = 1e-3, speed = 0, fall = 0, mass = 1;
    double gravity_x = 0, gravity_y = -g;
    double stiffness = 1e6, reach = 1e-3, friction = 0.3, bristle = 1e6;
    std::string objective =
        R"({"type": "center_of_mass", "name": "way", "of": "block", "target": [0, 0]})";
    std::string parameters = R"({"path": "floor.friction"})";
};

// A point on a plane.
std::unique_ptr<Simulation> simulated(const Block& b) {
    const std::string text =
        R"({"format": 1, "dimension": 2, "time": {"step": )" + number(b.h) + R"(, "steps": )" +
        std::to_string(b.steps) + R"(, "integrator": "implicit_euler"}, "gravity": [)" +
        number(b.gravity_x) + ", " + number(b.gravity_y) + R"(],
        "bodies": [{"type": "particles", "name": "block", "positions": [[0, )" +
        number(b.height) + R"(]], "velocity": [)" + number(b.speed) + ", " + number(-b.fall) +
        R"(], "mass": )" + number(b.mass) + R"(}],
        "colliders": [{"type": "plane", "name": "floor", "normal": [0, 1], "offset": 0,
            "response": "barrier", "stiffness": )" +
        number(b.stiffness) + R"(, "distance": )" + number(b.reach) + R"(, "friction": )" +
        number(b.friction) + R"(, "bristle_stiffness": )" + number(b.bristle) + R"(}],
        "objective": [)" +
        b.objective + R"(], "parameters": [)" + b.parameters + "]}";
    SimulationOptions options;
    options.device = has_cpu_device() ? cpu_device() : interpreter_device();
    options.precision = ir::Precision::f64;
    return std::make_unique<Simulation>(Scene::parse(text), all_modules(), options);
}

}  // namespace

TEST_CASE(
    "contact: a point rests where the barrier carries its weight, with that root's derivative") {
    Block b;
    b.h = 0.05;
    b.steps = 150;
    b.height = 8e-3;
    b.reach = 1e-2;
    b.stiffness = 2e4;
    b.mass = 0.7;
    b.parameters = R"({"path": "gravity"}, {"path": "floor.stiffness"}, {"path": "floor.distance"},
                      {"path": "floor.offset"}, {"path": "block.mass"})";
    b.objective = R"({"type": "center_of_mass", "of": "block", "target": [0, -0.5]})";
    const auto s = simulated(b);
    s->run(true);
    const double d = rest_height(b.stiffness, b.reach, b.mass * g),
                 bend = b.stiffness * curvature(d, b.reach);
    CHECK(position(*s, 0, 1) == doctest::Approx(d).epsilon(1e-11));
    // The objective's derivative by the height is 2 (d + 0.5).
    const std::vector<double> gradient = s->gradient();
    const double by_height = 2 * (d + 0.5);
    const auto close = [&](double found, double expected) {
        CHECK(found / by_height == doctest::Approx(expected).epsilon(1e-9));
    };
    close(gradient[1], b.mass / bend);
    close(gradient[2], -slope(d, b.reach) / bend);
    close(gradient[3], -b.stiffness * slope_by_reach(d, b.reach) / bend);
    close(gradient[4], 1);
    close(gradient[5], -g / bend);
}

TEST_CASE(
    "friction: a block stops after v^2 / (2 mu g), with an error of first order in the step") {
    const double v = 1, mu = 0.3, exact = v * v / (2 * mu * g);
    const auto stop = [&](double h, double& derivative) {
        Block b;
        b.h = h;
        b.steps = std::llround(0.5 / h);
        b.speed = v;
        b.height = rest_height(b.stiffness, b.reach, g);
        b.bristle = 1e7;
        const auto s = simulated(b);
        s->run(true);
        CHECK(std::abs(velocity(*s, 0, 0)) < 1e-9);
        const double x = position(*s, 0, 0);
        derivative = s->gradient().front() / (2 * x);
        return x;
    };
    double by_friction = 0, unused = 0;
    const double at_1_ms = stop(1e-3, by_friction), at_2_ms = stop(2e-3, unused);
    CHECK(at_1_ms == doctest::Approx(exact).epsilon(0.02));
    CHECK(by_friction == doctest::Approx(-exact / mu).epsilon(0.02));
    // Backward Euler by itself is short by v h / 2; the first step knows no normal force yet, and
    // goes v h without friction.
    CHECK(at_1_ms - exact == doctest::Approx(v * 1e-3 / 2).epsilon(0.05));
    CHECK(at_2_ms - exact == doctest::Approx(v * 2e-3 / 2).epsilon(0.05));
}

TEST_CASE("friction: below its angle a block on an incline does not creep, above it slides") {
    for (const double tangent : {0.25, 0.5}) {
        CAPTURE(tangent);
        const double a = std::atan(tangent);
        Block b;
        b.gravity_x = g * std::sin(a);
        b.gravity_y = -g * std::cos(a);
        b.height = rest_height(b.stiffness, b.reach, g * std::cos(a));
        const auto s = simulated(b);
        s->run(false);
        const double speed = velocity(*s, 0, 0);
        if (tangent < b.friction)
            CHECK(std::abs(speed) < 1e-9);
        else
            CHECK(speed ==
                  doctest::Approx(g * (std::sin(a) - b.friction * std::cos(a))).epsilon(0.01));
    }
}

TEST_CASE("friction: an oblique impact that slides throughout takes mu times the normal impulse") {
    const auto off = [](double h) {
        Block b;
        b.h = h;
        b.steps = std::llround(0.1 / h);
        b.gravity_y = 0;
        b.height = 0.03;
        b.speed = 3;
        b.fall = 1;
        b.friction = 0.2;
        b.stiffness = 1e4;
        b.reach = 0.02;
        const auto s = simulated(b);
        s->run(false);
        const double normal = velocity(*s, 0, 1) + 1, tangential = 3 - velocity(*s, 0, 0);
        CHECK(normal > 1);  // it has left again
        CHECK(position(*s, 0, 1) > b.reach);
        return std::abs(tangential / (b.friction * normal) - 1);
    };
    const double coarse = off(1e-3), fine = off(2.5e-4);
    CHECK(coarse < 0.05);
    CHECK(fine < 0.5 * coarse + 1e-6);
}

TEST_CASE("contact: derivatives through a hundred steps of falling, sliding and sticking") {
    Block b;
    b.h = 5e-3;
    b.steps = 100;
    b.height = 0.02;
    b.speed = 0.5;
    b.friction = 0.35;
    b.stiffness = 3e4;
    b.reach = 5e-3;
    b.bristle = 2e4;
    b.gravity_x = 0.4;
    b.objective = R"({"type": "center_of_mass", "of": "block", "target": [0.3, 0.1], "at": "all"})";
    b.parameters = R"({"path": "floor.friction"}, {"path": "floor.stiffness"},
        {"path": "floor.distance"}, {"path": "floor.bristle_stiffness"}, {"path": "floor.offset"},
        {"path": "block.mass"}, {"path": "block.velocity"}, {"path": "block.positions"},
        {"path": "gravity"})";
    const auto s = simulated(b);
    // Along the gradient itself, by differences of fourth order.
    s->run(true);
    const std::vector<double> gradient = s->gradient(), start = s->parameters().values();
    const double size = norm(gradient);
    const auto at = [&](double by) {
        std::vector<double> moved = start;
        for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += by * gradient[k] / size;
        s->parameters().set_values(moved);
        return s->run(false);
    };
    double best = 1;
    for (const double step : {1e-4, 3e-5, 1e-5, 3e-6, 1e-6}) {
        const double by_differences =
            (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step);
        best = std::min(best, std::abs(by_differences / size - 1));
    }
    CHECK(best < 1e-6);
    s->parameters().set_values(start);
    CHECK(std::abs(velocity(*s, 0, 0)) < 1);
    s->run(true);
    const double slope_forward = s->directional_derivative(gradient);
    CHECK(slope_forward == doctest::Approx(size * size).epsilon(1e-10));
}

TEST_CASE("contact: nothing passes an obstacle, however fast it comes") {
    for (const int dimension : {2, 3}) {
        std::string places, speeds;
        unsigned seed = 7;
        const auto random = [&] {
            seed = seed * 1664525u + 1013904223u;
            return static_cast<double>(seed >> 8) / (1 << 24);
        };
        constexpr int count = 100;
        for (int p = 0; p < count; ++p) {
            places += p > 0 ? ", [" : "[";
            speeds += p > 0 ? ", [" : "[";
            for (int c = 0; c < dimension; ++c) {
                const bool up = c == dimension - 1;
                places += (c > 0 ? ", " : "") + number(up ? 1.2 + random() : 2 * random() - 1);
                speeds +=
                    (c > 0 ? ", " : "") + number(up ? -20 - 100 * random() : 4 * random() - 2);
            }
            places += "]";
            speeds += "]";
        }
        const std::string zero = dimension == 2 ? "[0, 0]" : "[0, 0, 0]",
                          up = dimension == 2 ? "[0, 1]" : "[0, 0, 1]";
        const std::string text =
            R"({"format": 1, "dimension": )" + std::to_string(dimension) +
            R"(, "time": {"step": "1/50", "steps": 12, "integrator": "implicit_euler"},
            "bodies": [{"type": "particles", "name": "rain", "positions": [)" +
            places + R"(], "velocity": [)" + speeds + R"(]}],
            "colliders": [{"type": "plane", "name": "floor", "normal": )" +
            up + R"(, "response": "barrier",
                "stiffness": 1e5, "distance": 0.01, "friction": 0.3},
                {"type": "sphere", "name": "ball", "center": )" +
            zero + R"(, "radius": 1,
                 "response": "barrier", "stiffness": 1e5, "distance": 0.01, "friction": 0.3}]})";
        for (const ir::Precision precision : {ir::Precision::f64, ir::Precision::f32}) {
            SimulationOptions options;
            options.device = has_cpu_device() ? cpu_device() : interpreter_device();
            options.precision = precision;
            Simulation s(Scene::parse(text), all_modules(), options);
            s.run(false, [&](std::int64_t) {
                for (int p = 0; p < count; ++p) {
                    double square = 0;
                    for (int c = 0; c < dimension; ++c) {
                        const double x = position(s, p, c);
                        square += x * x;
                        if (c == dimension - 1) CHECK(x > 0);
                    }
                    CHECK(square > 1);
                }
                return true;
            });
        }
    }
}

TEST_CASE("contact: an obstacle that could overrun a point is refused, one that cannot pushes it") {
    const auto scene = [](double speed) {
        return R"({"format": 1, "dimension": 2, "gravity": [0, 0],
            "time": {"step": "1/50", "steps": 20, "integrator": "implicit_euler"},
            "bodies": [{"type": "particles", "name": "stone", "positions": [[0, 0.05]]}],
            "colliders": [{"type": "plane", "name": "piston", "normal": [0, 1], "offset": 0,
                "response": "barrier", "stiffness": 1e4, "distance": 0.02, "velocity": [0, )" +
               number(speed) + R"(]}], "parameters": [{"path": "piston.velocity"}]})";
    };
    SimulationOptions options;
    options.device = interpreter_device();
    options.precision = ir::Precision::f64;
    CHECK_THROWS_WITH_AS(Simulation(Scene::parse(scene(1.01)), all_modules(), options),
                         doctest::Contains("farther than its barrier reaches"), Error);
    Simulation s(Scene::parse(scene(0.9)), all_modules(), options);
    s.run(false);
    // It went 0.9 m/s for 0.4 s; the stone is ahead of it, and as fast or faster.
    CHECK(position(s, 0, 1) > 0.36);
    CHECK(velocity(s, 0, 1) >= 0.9 * (1 - 1e-9));
    s.parameters().set_values(std::vector<double>{0, 1.2});
    CHECK_THROWS_WITH_AS(s.run(false), doctest::Contains("move by less than their reach"), Error);
}
