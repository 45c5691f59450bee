// Soft bodies that touch robots and rigid bodies by a barrier and friction: closed forms, momentum, and
// derivatives.
#include <doctest/doctest.h>

#include <functional>
#include <numbers>

#include "tests/physics/module_scene.hpp"
#include "tests/support/mujoco.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

constexpr double g = 9.81;

// -b'(d) of the barrier k b(d), b = -(d - r)^2 log(d / r).
double repulsion(double d, double r) { return (d - r) * (2 * std::log(d / r) + (d - r) / d); }

// The distance at which the barrier bears a weight.
double rest_distance(double weight, double k, double r) {
    double low = 1e-9 * r, high = r;
    for (int i = 0; i < 200; ++i) {
        const double middle = 0.5 * (low + high);
        (k * repulsion(middle, r) > weight ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

// A box of 0.4 x 0.4 x 0.2 m on four fixed points.
std::string box_on_points(double height, int steps) {
    return R"("time": {"step": 0.01, "steps": )" + std::to_string(steps) +
           R"(, "integrator": "implicit_euler"}, "gravity": [0, 0, -9.81],
    "bodies": [
        {"type": "articulated", "name": "boxes", "model": {"shapes": [
            {"type": "box", "size": [0.4, 0.4, 0.2], "position": [0, 0, )" +
           number(height) + R"(], "density": 250}]}},
        {"type": "particles", "name": "nails", "mass": 1, "fixed": true,
         "positions": [[-0.1, -0.1, 0], [0.1, -0.1, 0], [-0.1, 0.1, 0], [0.1, 0.1, 0]]}],
    "colliders": [{"type": "articulated", "name": "skin", "with": "boxes", "of": "nails",
                   "stiffness": 4000, "distance": 0.02}],
    "objective": [{"type": "point_target", "of": "boxes", "target": [0, 0, 0]}],
    "parameters": [{"path": "skin.stiffness"}, {"path": "skin.distance"}])";
}

// A plate at an angle, and a block of soft material on it.
std::string incline(double angle, double friction, int steps) {
    const double c = std::cos(angle / 2), s = std::sin(angle / 2), up = 0.1 + 0.0045;
    const auto turned = [&](double x, double z) {
        return "[" + number(std::cos(angle) * x + std::sin(angle) * z) + ", 0, " +
               number(-std::sin(angle) * x + std::cos(angle) * z) + "]";
    };
    const std::string x = number(std::cos(angle)) + "*x+" + number(std::sin(angle)) + "*(z+" +
                          number(up) + ")",
                      z = number(-std::sin(angle)) + "*x+" + number(std::cos(angle)) + "*(z+" +
                          number(up) + ")";
    return R"("time": {"step": 0.005, "steps": )" + std::to_string(steps) +
           R"(, "integrator": "implicit_euler"}, "gravity": [0, 0, -9.81],
    "bodies": [
        {"type": "articulated", "name": "plates", "model": {"shapes": [
            {"type": "box", "size": [6, 1, 0.2], "position": [0, 0, 0], "fixed": true, "orientation": [)" +
           number(c) + ", 0, " + number(s) + R"(, 0]},
            {"type": "sphere", "radius": 0.1, "position": [0, 5, 0]}]}},
        {"type": "solid", "name": "block", "density": 1000, "mu": 4e6, "lambda": 4e6,
         "mesh": {"box": {"min": [-0.1, -0.1, 0], "max": [0.1, 0.1, 0.1], "cells": [1, 1, 1]}},
         "positions": {"formula": [")" +
           x + R"(", "y", ")" + z + R"("]}}],
    "colliders": [{"type": "articulated", "name": "skin", "with": "plates", "of": "block",
                   "stiffness": 1e6, "distance": 0.005, "friction": )" +
           number(friction) + R"(}],
    "objective": [{"type": "center_of_mass", "of": "block", "target": )" +
           turned(0, 0) + "}]";
}

// How far the block has slid down the plate.
double slid(double angle, double friction, int steps) {
    const auto begin = simulate(incline(angle, friction, 0)),
               end = simulate(incline(angle, friction, steps));
    begin->run();
    end->run();
    const document::Document probe = document::Document::parse("{}", "probe");
    const model::Range block = begin->model().points("block", probe.root());
    double way = 0;
    for (std::int64_t p = block.first; p < block.first + block.count; ++p)
        way += ((position(*end, p, 0) - position(*begin, p, 0)) * std::cos(angle) -
                (position(*end, p, 2) - position(*begin, p, 2)) * std::sin(angle)) /
               static_cast<double>(block.count);
    return way;
}

}  // namespace

TEST_CASE("contact with rigid bodies: a box rests on points at the height of a root") {
    HINDCAST_NEEDS_MUJOCO();
    const double weight = 0.4 * 0.4 * 0.2 * 250 * g / 4;
    const auto height = [&](double k, double r) { return 0.1 + rest_distance(weight, k, r); };
    const double root = height(4000, 0.02);
    const auto s = simulate(box_on_points(root + 2e-4, 600));
    s->run(true);
    CHECK(s->model().array("boxes.qpos").value(2) == doctest::Approx(root).epsilon(1e-9));
    CHECK(std::abs(s->model().array("boxes.qvel").value(2)) < 1e-9);
    // The loss is the square of the height; its derivatives are those of the root.
    const std::vector<double> gradient = s->gradient();
    const auto slope = [&](const std::function<double(double)>& at, double step) {
        return (at(step) - at(-step)) / (2 * step);
    };
    CHECK(gradient[0] ==
          doctest::Approx(2 * root * slope([&](double by) { return height(4000 + by, 0.02); }, 1))
              .epsilon(1e-6));
    CHECK(
        gradient[1] ==
        doctest::Approx(2 * root * slope([&](double by) { return height(4000, 0.02 + by); }, 1e-6))
            .epsilon(1e-6));
}

TEST_CASE("contact with rigid bodies: a block on a plate slides as its friction says, or holds") {
    HINDCAST_NEEDS_MUJOCO();
    const double angle = 0.4;
    // Begun at rest, at once: half of the acceleration times the square of the time.
    const int steps = 120;
    const double t = steps * 0.005;
    const double mu = 0.2;
    CHECK(
        slid(angle, mu, steps) ==
        doctest::Approx(0.5 * g * (std::sin(angle) - mu * std::cos(angle)) * t * t).epsilon(0.03));
    // Bristles hold the block once they bear its weight, and it does not creep.
    const double held = slid(angle, 0.6, steps);
    CHECK(std::abs(held) < 1e-3);
    CHECK(std::abs(slid(angle, 0.6, 2 * steps) - held) < 1e-7);
}

TEST_CASE("contact with rigid bodies: momentum that a block gains, bodies lose") {
    HINDCAST_NEEDS_MUJOCO();
    const auto scene = [](int steps) {
        return R"("time": {"step": "1/200", "steps": )" + std::to_string(steps) +
               R"(, "integrator": "implicit_euler"}, "gravity": [0, 0, 0],
    "bodies": [
        {"type": "articulated", "name": "boxes", "model": {"shapes": [
            {"type": "box", "size": [0.2, 0.3, 0.4], "position": [0, 0, 0], "density": 400},
            {"type": "capsule", "radius": 0.1, "length": 0.2, "position": [0, 0, 0.6], "density": 600}]},
         "qvel": [0, 0, 0, 1, 2, -1, 0, 0, 0, -2, 0.5, 1]},
        {"type": "solid", "name": "block", "density": 300,
         "mesh": {"box": {"min": [0.2, -0.2, -0.2], "max": [0.6, 0.2, 0.8], "cells": [1, 2, 4]}},
         "velocity": [-3, 0.2, 0.1], "mu": 20000, "lambda": 30000}],
    "colliders": [{"type": "articulated", "name": "skin", "with": "boxes", "stiffness": 3000,
                   "distance": 0.02, "friction": 0.5}],
    "objective": [{"type": "center_of_mass", "of": "block", "target": [0, 0, 0]}])";
    };
    const auto momentum = [](Simulation& s) {
        model::Model& m = s.model();
        std::array<double, 3> sum{};
        const std::vector<double> qvel = m.array("boxes.qvel").to_doubles();
        const model::Quantity& mass = *m.find_quantity("boxes.body_mass");
        for (std::size_t c = 0; c < 3; ++c)
            sum[c] = mass.values[1] * qvel[c] + mass.values[2] * qvel[6 + c];
        const Array masses = m.array("mass");
        const document::Document probe = document::Document::parse("{}", "probe");
        const model::Range block = m.points("block", probe.root());
        for (std::int64_t k = block.first; k < block.first + block.count; ++k)
            for (int c = 0; c < 3; ++c)
                sum[static_cast<std::size_t>(c)] += masses.value(k) * velocity(s, k, c);
        return sum;
    };
    const auto before = simulate(scene(0)), after = simulate(scene(60));
    before->run();
    after->run();
    const auto start = momentum(*before), end = momentum(*after);
    for (std::size_t c = 0; c < 3; ++c) CHECK(std::abs(end[c] - start[c]) < 1e-11 * 100);
    // They have met: the box has been hit.
    CHECK(after->model().array("boxes.qvel").value(0) < -0.3);
}

TEST_CASE("contact with rigid bodies: no point passes, however fast") {
    HINDCAST_NEEDS_MUJOCO();
    const auto s = simulate(R"("time": {"step": 0.01, "steps": 30, "integrator": "implicit_euler"},
    "gravity": [0, 0, 0],
    "bodies": [
        {"type": "articulated", "name": "boxes", "model": {"shapes": [
            {"type": "box", "size": [0.1, 0.6, 0.6], "position": [0, 0, 0], "density": 2000}]},
         "qvel": [0, 0, 0, 0, 3, 0]},
        {"type": "particles", "name": "shots", "mass": 0.1,
         "positions": [[1, 0, 0], [1.5, 0.1, 0.1], [2, -0.1, 0.2], [-1, 0.02, -0.1]],
         "velocity": [[-80, 0, 0], [-60, 0, 0], [-100, 1, 0], [70, 0, 0]]}],
    "colliders": [{"type": "articulated", "name": "skin", "with": "boxes", "stiffness": 1000,
                   "distance": 0.01, "friction": 0.3}],
    "objective": [{"type": "center_of_mass", "of": "shots", "target": [0, 0, 0]}])");
    s->run();
    // The box is far heavier, and stays near its place: each shot is on the side from which it came.
    for (int p = 0; p < 3; ++p) CHECK(position(*s, p + 1, 0) > 0);
    CHECK(position(*s, 4, 0) < 0);
}

TEST_CASE("contact with rigid bodies: derivatives of a block that falls on boxes and slides") {
    HINDCAST_NEEDS_MUJOCO();
    const auto s =
        simulate(R"("time": {"step": "1/100", "steps": 12, "integrator": "implicit_euler"},
    "bodies": [
        {"type": "articulated", "name": "boxes", "model": {"shapes": [
            {"type": "box", "size": [0.6, 0.6, 0.2], "position": [0, 0, 0.1], "density": 300}]}},
        {"type": "solid", "name": "block", "density": 300,
         "mesh": {"box": {"min": [-0.2, -0.1, 0.215], "max": [0.2, 0.1, 0.4], "cells": [2, 1, 1]}},
         "velocity": [0.8, 0.3, -0.3], "mu": 20000, "lambda": 30000}],
    "colliders": [{"type": "articulated", "name": "skin", "with": "boxes", "stiffness": 2000,
                   "distance": 0.03, "friction": 0.3}],
    "objective": [{"type": "center_of_mass", "of": "block", "target": [0.5, 0, 0.2]},
                  {"type": "point_target", "of": "boxes", "target": [0.3, 0.1, 0]}],
    "parameters": [{"path": "boxes.qpos"}, {"path": "boxes.qvel"}, {"path": "boxes.body_mass"},
        {"path": "block.positions"}, {"path": "block.velocity"}, {"path": "block.mu"},
        {"path": "skin.stiffness"}, {"path": "skin.distance"}, {"path": "skin.friction"}])");
    check_derivatives(*s);
}

TEST_CASE("contact with rigid bodies: what is not there is refused by name") {
    HINDCAST_NEEDS_MUJOCO();
    const auto scene = [](const std::string& collider, const std::string& integrator,
                          const std::string& shape) {
        return R"("time": {"step": 0.01, "steps": 1, "integrator": ")" + integrator +
               R"("}, "bodies": [{"type": "articulated", "name": "boxes", "model": {"shapes": [)" +
               shape +
               R"(]}}, {"type": "particles", "name": "dust", "mass": 1, "positions": [[0, 0, 1]]}],
    "colliders": [{"type": "articulated", "name": "skin", "stiffness": 1, )" +
               collider + "}]";
    };
    const std::string ball = R"({"type": "sphere", "radius": 0.1, "position": [0, 0, 0]})";
    check_refused(scene(R"("with": "boxes")", "semi_implicit_euler", ball),
                  "choose implicit_euler");
    check_refused(scene(R"("with": "boxs")", "implicit_euler", ball), "did you mean");
    check_refused(scene(R"("with": "boxes", "bristle_stiffness": 3)", "implicit_euler", ball),
                  "without friction");
    check_refused(scene(R"("with": "boxes", "of": "boxes")", "implicit_euler", ball),
                  "no points of soft bodies");
    check_refused(scene(R"("with": "boxes")", "implicit_euler",
                        R"({"type": "ellipsoid", "size": [1, 1, 2], "position": [0, 0, 0]})"),
                  "of the kind ellipsoid");
}
