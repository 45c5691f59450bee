// Forces of the scene on robots: on their points, against MuJoCo's xfrc_applied, and dry friction of
// their joints.
#include <doctest/doctest.h>

#include <numbers>

#include "tests/robots/models.hpp"
#include "tests/robots/oracle.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// MuJoCo with a force on the centers of mass of some bodies.
class Pushed : public Oracle {
public:
    using Oracle::Oracle;
    // Of each body a force and a torque in the world.
    void push(const std::vector<double>& wrenches) { put(wrenches, 256); }
};

std::vector<double> row(Simulation& s, const std::string& name, std::int64_t element) {
    std::vector<double> all;
    for (int k = 0; k < 3; ++k) all.push_back(s.model().array(name).value(element, k));
    return all;
}

}  // namespace

TEST_CASE("articulated bodies: forces on their points move them as in MuJoCo") {
    HINDCAST_NEEDS_MUJOCO();
    constexpr double stiffness = 30;
    const double places[2][3] = {{0.7, -0.4, 1.9}, {-0.3, 0.5, 0.4}};
    for (const RobotText& robot : robot_texts())
        for (const char* const integrator : {"Euler", "implicitfast", "RK4"}) {
            CAPTURE(robot.name);
            CAPTURE(integrator);
            const std::string text = with_integrator(robot, integrator);
            Pushed oracle(text, "robot.xml");
            const std::int64_t bodies = oracle.model().size("nbody"),
                               pulled[2] = {0, bodies - 2};  // points of bodies 1 and the last one
            std::string keys = R"(, "forces": [)";
            for (int k = 0; k < (bodies > 2 ? 2 : 1); ++k)
                keys += std::string(k > 0 ? ", " : "") +
                        R"({"type": "pull", "of": "robot", "point": )" + std::to_string(pulled[k]) +
                        R"(, "places": [[)" + number(places[k][0]) + ", " + number(places[k][1]) +
                        ", " + number(places[k][2]) + R"(]], "stiffness": )" + number(stiffness) +
                        "}";
            Ours ours(text, robot_step, 1, keys + "]"), still(text, robot_step, 0);
            std::mt19937_64 generator(11);
            double largest = 0, moved = 0;
            for (int k = 0; k < 10; ++k) {
                const RobotState state = oracle.random_state(generator);
                still.set(state);
                still.run();
                std::vector<double> wrenches(static_cast<std::size_t>(6 * bodies));
                for (int p = 0; p < (bodies > 2 ? 2 : 1); ++p) {
                    const auto at = row(still.simulation(), "position", pulled[p]);
                    for (std::size_t c = 0; c < 3; ++c)
                        wrenches[static_cast<std::size_t>(6 * (pulled[p] + 1)) + c] =
                            stiffness * (places[p][c] - at[c]);
                }
                ours.set(state);
                ours.run();
                oracle.set(state);
                oracle.push(std::vector<double>(wrenches.size()));
                oracle.step();
                const auto free = oracle.state().qvel;
                oracle.set(state);
                oracle.push(wrenches);
                oracle.step();
                largest = std::max({largest, distance(ours.array("qpos"), oracle.state().qpos),
                                    distance(ours.array("qvel"), oracle.state().qvel)});
                moved = std::max(moved, distance(free, oracle.state().qvel));
            }
            CHECK(largest < 1e-9);
            CHECK(moved > 1e-3);
        }
}

TEST_CASE("articulated bodies: dry friction of a joint, against a fine integration of its law") {
    HINDCAST_NEEDS_MUJOCO();
    constexpr double inertia = 0.02, coulomb = 0.3, speed = 0.5, step = 0.01;
    const auto text = [](const std::string& integrator) {
        return R"(<mujoco><option gravity="0 0 0" integrator=")" + integrator + R"("/><worldbody>
            <body><joint name="axle" axis="0 0 1"/>
            <inertial pos="0 0 0" mass="1" diaginertia="0.02 0.02 0.02"/></body>
            </worldbody></mujoco>)";
    };
    const auto rate = [&](double v) {
        return -coulomb * 2 / std::numbers::pi * std::atan(v / speed) / inertia;
    };
    double v = 2;
    for (int k = 0; k < 20000; ++k) {
        const double h = 0.2 / 20000, a = rate(v), b = rate(v + h / 2 * a), c = rate(v + h / 2 * b),
                     d = rate(v + h * c);
        v += h / 6 * (a + 2 * b + 2 * c + d);
    }
    const auto end = [&](const std::string& integrator, int parts) {
        TemporaryFolder folder;
        std::ofstream(folder / "robot.xml") << text(integrator);
        SimulationOptions options;
        options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        options.precision = ir::Precision::f64;
        Simulation s(Scene::of(document::Document::parse(
                                   R"({"format": 1, "time": {"step": )" + number(step / parts) +
                                       R"(, "steps": )" + std::to_string(20 * parts) +
                                       R"(}, "bodies": [{"type": "articulated", "name": "robot",
                     "model": "robot.xml", "qvel": [2], "dof_coulomb": 0.3, "dof_coulomb_speed": 0.5}]})",
                                   "scene"),
                               folder / "scene.json"),
                     all_modules(), options);
        s.run();
        return s.model().array("robot.qvel").value(0);
    };
    // Of fourth order.
    const double one = end("RK4", 1) - v, half = end("RK4", 2) - v;
    CHECK(std::fabs(one) < 1e-5);
    CHECK(one / half == doctest::Approx(16).epsilon(0.2));
    // Of first order: half the step, half the error.
    for (const char* const integrator : {"Euler", "implicitfast"}) {
        const double coarse = end(integrator, 4) - v, fine = end(integrator, 8) - v;
        CHECK(std::fabs(coarse) < 0.05);
        CHECK(coarse / fine == doctest::Approx(2).epsilon(0.1));
    }
    // The implicit step is stable where the explicit one would overshoot.
    const double stiff = end("implicitfast", 1);
    CHECK(stiff > 0);
    CHECK(stiff < 1);
}

TEST_CASE("articulated bodies: what is wrong with forces is refused") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string text = R"(<mujoco><worldbody><body><joint axis="0 0 1"/>
        <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>)";
    CHECK(message([&] {
              TemporaryFolder folder;
              std::ofstream(folder / "robot.xml") << text;
              SimulationOptions options;
              options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
              Simulation(
                  Scene::of(document::Document::parse(
                                R"({"format": 1, "time": {"step": 0.01, "steps": 1}, "bodies":
                  [{"type": "articulated", "name": "robot", "model": "robot.xml",
                    "dof_coulomb_speed": 0.5}]})",
                                "scene"),
                            folder / "scene.json"),
                  all_modules(), options);
          }).find("there is no dry friction") != std::string::npos);
}

TEST_CASE("springs join points of robots by the names of bodies and sites") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string text = R"(<mujoco><worldbody><body name="b" pos="0 0 1">
        <joint name="hinge" axis="0 1 0"/>
        <inertial pos="0 0 -0.5" mass="1" diaginertia="0.1 0.1 0.1"/><site name="tip" pos="0 0 -1"/>
        </body></worldbody></mujoco>)";
    const auto keys = [](const std::string& body, const std::string& site) {
        return R"(, "forces": [{"type": "springs", "stiffness": 20, "rest_length": 0.25,
            "connect": [["robot", )" +
               site + R"(, "robot", )" + body + "]]}]";
    };
    const auto ends = [&](const std::string& more) {
        Ours ours(text, 0.01, 20, more, R"(, "qpos": [0.3], "qvel": [0.5])");
        ours.run();
        return ours.array("qpos");
    };
    // The body is point 0, the site point 1: named or numbered, the motion is the same. Both ends
    // belong to one body, so the spring does nothing to it.
    CHECK(ends(keys(R"("b")", R"("tip")")) == ends(keys("0", "1")));
    const auto said = [&](const std::string& more) {
        return message([&] { Ours(text, 0.01, 1, more); });
    };
    CHECK(said(keys(R"("c")", R"("tip")")).find("'robot' has no element called 'c'") !=
          std::string::npos);
    CHECK(said(keys("2", "1")) != "no error");
}

TEST_CASE("springs from cloth to a body of a robot, by its name") {
    HINDCAST_NEEDS_MUJOCO();
    const test::TemporaryFolder folder;
    std::ofstream(folder / "r.xml") << R"(<mujoco><option gravity="0 0 0"/><worldbody>
        <body name="other" pos="3 0 0"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body>
        <body name="b" pos="0 0 -1"><freejoint/><geom type="sphere" size="0.1" mass="0.5"/></body>
        </worldbody></mujoco>)";
    const auto after = [&](const std::string& point) {
        SimulationOptions options;
        options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        options.precision = ir::Precision::f64;
        Simulation s(Scene::of(document::Document::parse(
                                   R"({"format": 1, "time": {"step": 0.01, "steps": 1},
            "gravity": [0, 0, 0], "bodies": [
              {"type": "articulated", "name": "r", "model": "r.xml"},
              {"type": "cloth", "name": "c", "area_density": 1, "warp_stiffness": 10,
               "mesh": {"grid": {"origin": [0,0,0], "warp": [1,0,0], "weft": [0,1,0],
                        "cells": [1, 1]}}, "fixed": true}],
            "forces": [{"type": "springs", "stiffness": 8, "rest_length": 0.5,
                        "connect": [["c", 0, "r", )" +
                                       point + "]]}]}",
                                   "scene"),
                               folder / "scene.json"),
                     all_modules(), options);
        s.run();
        return s.model().array("r.qvel").to_doubles();
    };
    // Stretched by 1/2 m: 4 N upwards on 1/2 kg for 1/100 s.
    const std::vector<double> named = after(R"("b")");
    CHECK(named == after("1"));
    CHECK(named[8] == doctest::Approx(0.08).epsilon(1e-12));
}
