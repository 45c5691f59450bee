// Robots and rigid bodies in scenes whose points move to the minimum of energies: alone they step as
// MuJoCo does; with soft bodies, both sides feel one force.
#include <doctest/doctest.h>

#include "tests/robots/compare_steps.hpp"
#include "tests/robots/constrained_models.hpp"
#include "tests/robots/tendon_models.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

const char* const coupled = R"(, "integrator": "implicit_euler")";

void compare(const RobotText& robot, int states) {
    const std::string name = robot.name;
    CAPTURE(name);
    const StepErrors e =
        compare_steps([&](const std::string& word) { return with_integrator(robot, word); },
                      "discrete", states, coupled);
    const bool searched = name.find("meshes") != std::string::npos;
    const double most = searched ? 1e-5 : name.find("inside") != std::string::npos ? 1e-6 : 1e-9;
    CHECK(e.position < most);
    CHECK(e.velocity < most);
    CHECK(e.activation < most);
}

// Two rigid boxes, of which one spins, and a soft block between them on springs, far from all else.
std::string free_bodies(const char* gravity, int steps) {
    return R"("time": {"step": "1/200", "steps": )" + std::to_string(steps) +
           R"(, "integrator": "implicit_euler"}, "gravity": )" + gravity + R"(,
    "bodies": [
        {"type": "articulated", "name": "boxes", "model": {"shapes": [
            {"type": "box", "name": "left", "size": [0.2, 0.3, 0.1], "position": [0, 0, 0.5], "density": 400},
            {"type": "sphere", "name": "right", "radius": 0.1, "position": [1, 0.1, 0.5],
             "density": 600}]},
         "qvel": [0.3, 0.1, -0.2, 3, -2, 5, -0.4, 0.2, 0.3, 0, 0, 0]},
        {"type": "solid", "name": "block", "density": 300,
         "mesh": {"box": {"min": [0.4, -0.1, 0.4], "max": [0.7, 0.2, 0.6], "cells": [2, 1, 1]}},
         "velocity": [0.2, -0.3, 0.5], "mu": 4000, "lambda": 6000}],
    "forces": [
        {"type": "springs", "name": "straps", "stiffness": 900, "rest_length": {"initial": 0.7},
         "connect": [["block", 0, "boxes", 0], ["block", 11, "boxes", 1], ["block", 5, "boxes", 0],
                     ["boxes", 0, "boxes", 1]]}],
    "objective": [{"type": "center_of_mass", "of": "block", "target": [0, 0, 0]}])";
}

struct Momentum {
    std::array<double, 3> sum{};
    double largest = 0;  // of one body's component
};

// Linear, of the bodies by their joints and of the block by its points.
Momentum momentum_of(Simulation& s) {
    model::Model& m = s.model();
    Momentum p;
    const auto add = [&](int c, double part) {
        p.sum[static_cast<std::size_t>(c)] += part;
        p.largest = std::max(p.largest, std::abs(part));
    };
    const std::vector<double> qvel = m.array("boxes.qvel").to_doubles();
    const model::Quantity& mass = *m.find_quantity("boxes.body_mass");
    for (std::size_t b = 0; b < 2; ++b)
        for (int c = 0; c < 3; ++c)
            add(c, mass.values[b + 1] * qvel[6 * b + static_cast<std::size_t>(c)]);
    const Array masses = m.array("mass");
    const document::Document probe = document::Document::parse("{}", "probe");
    const model::Range block = m.points("block", probe.root());
    for (std::int64_t k = block.first; k < block.first + block.count; ++k)
        for (int c = 0; c < 3; ++c) add(c, masses.value(k) * velocity(s, k, c));
    return p;
}

}  // namespace

TEST_CASE("coupled robots: alone they step as MuJoCo does") {
    HINDCAST_NEEDS_MUJOCO();
    for (const RobotText& robot : robot_texts()) compare(robot, 30);
    for (const RobotText& robot : constrained_texts()) compare(robot, 30);
    for (const RobotText& robot : tendon_texts()) compare(robot, 15);
}

TEST_CASE("coupled robots: what soft bodies gain, rigid bodies lose") {
    HINDCAST_NEEDS_MUJOCO();
    const auto before = simulate(free_bodies("[0, 0, 0]", 0));
    before->run();
    const Momentum start = momentum_of(*before);
    for (const int steps : {1, 2, 40}) {
        CAPTURE(steps);
        const auto after = simulate(free_bodies("[0, 0, 0]", steps));
        after->run();
        const Momentum end = momentum_of(*after);
        for (std::size_t c = 0; c < 3; ++c)
            CHECK(std::abs(end.sum[c] - start.sum[c]) < 1e-12 * std::max(end.largest, 1.0));
    }
    // The block really pulls: the boxes' own momentum changes by much more.
    const auto after = simulate(free_bodies("[0, 0, 0]", 40));
    after->run();
    CHECK(std::abs(after->model().array("boxes.qvel").value(6) + 0.4) > 0.1);
}

TEST_CASE("coupled robots: gradients of a block between rigid bodies, in all modes") {
    HINDCAST_NEEDS_MUJOCO();
    const auto s = simulate(free_bodies("[0, 0, -9.81]", 12) +
                            R"(, "parameters": [{"path": "boxes.qpos"}, {"path": "boxes.qvel"},
        {"path": "boxes.body_mass"}, {"path": "boxes.body_inertia"}, {"path": "block.positions"},
        {"path": "block.density"}, {"path": "block.mu"}, {"path": "straps.stiffness"},
        {"path": "straps.rest_length"}, {"path": "gravity"}])");
    check_derivatives(*s);
}

TEST_CASE("coupled robots: what does not go together is refused by name") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string boxes = R"("bodies": [{"type": "articulated", "name": "boxes", "model":
        {"shapes": [{"type": "sphere", "radius": 0.1, "position": [0, 0, 1]}]}}])";
    for (const char* integrator : {"bdf2", "quasi_static"})
        check_refused(R"("time": {"step": 0.01, "steps": 2, "integrator": ")" +
                          std::string(integrator) + R"("}, )" + boxes,
                      "move by implicit_euler");
    const TemporaryFolder folder;
    CHECK_THROWS_WITH_AS(
        Ours(with_integrator(robot_texts().front(), "Euler"), robot_step, 1, "", "", coupled),
        doctest::Contains("'discrete'"), Error);
}
