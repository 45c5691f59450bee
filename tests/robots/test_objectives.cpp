// Objectives on joints and arrays: their values in closed form, at the start.
#include <doctest/doctest.h>

#include <numbers>

#include "tests/robots/oracle.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

const char* const model = R"(<mujoco><worldbody>
    <body><joint name="turn" axis="0 1 0"/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body><joint name="socket" type="ball"/>
        <inertial pos="0.1 0 0" mass="0.3" diaginertia="0.1 0.1 0.1"/></body></body>
    <body><freejoint name="float"/>
      <inertial pos="0 0 0" mass="0.3" diaginertia="0.1 0.1 0.1"/></body>
  </worldbody></mujoco>)";

// Turns by 0.6 about x, by 0.9 about y; the free body at (1, 2, 3) turned by 2.5 about z.
double loss(const std::string& objective) {
    const auto quaternion = [](int axis, double angle) {
        std::string text;
        for (int k = 0; k < 4; ++k)
            text += ", " + number(k == 0          ? std::cos(angle / 2)
                                  : k == axis + 1 ? std::sin(angle / 2)
                                                  : 0.0);
        return text;
    };
    const TemporaryFolder folder;
    std::ofstream(folder / "robot.xml") << model;
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = ir::Precision::f64;
    Simulation s(
        Scene::of(document::Document::parse(
                      R"({"format": 1, "time": {"step": 0.01, "steps": 1}, "bodies": [{"type":
            "articulated", "name": "robot", "model": "robot.xml", "qpos": [7)" +
                          quaternion(0, 0.6) + ", 1, 2, 3" + quaternion(2, 2.5) +
                          R"(], "qvel": [0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9]}], "objective": [)" +
                          objective + "]}",
                      "scene"),
                  folder / "scene.json"),
        all_modules(), options);
    return s.run();
}

void is(const std::string& objective, double expected) {
    CHECK(std::fabs(loss(objective) - expected) < 1e-12 * std::fabs(expected));
}

}  // namespace

TEST_CASE("joint_target: distances of positions, turns and velocities") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string begin = R"({"type": "joint_target", "of": "robot", "at": 0)";
    is(begin + R"(, "joints": ["turn"], "qpos": 6.5})", 0.25);
    is(begin + R"(, "joints": ["turn"], "qpos": 0.5, "periodic": true})",
       4 * std::pow(std::sin(3.25), 2));
    // From the pose in which it is drawn.
    is(begin + R"(, "joints": ["socket"], "position_factor": 3})", 3 * 0.36);
    is(begin + R"(, "joints": ["float"], "qpos": [0, 0, 1, 1, 0, 0, 0]})", 1 + 4 + 4 + 2.5 * 2.5);
    is(begin + R"(, "joints": ["float", "turn"], "position_factor": 0, "velocity_factor": [0.1, 2],
                  "qvel": [1, 1, 1, 0, 0, 0, 3]})",
       0.1 * (9 + 16 + 25 + 49 + 64 + 81) + 2 * 6.25);
}

TEST_CASE("array_target: elements and components, each with its factor") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string begin = R"({"type": "array_target", "at": 0, "array": )";
    is(begin + R"("robot.qvel", "elements": [4, 1], "target": [1, 5]})", 9 + 16);
    // Bodies: the world, two at the origin, the free one.
    is(begin + R"("robot.xpos", "elements": [3, 0], "target": [[1, 1, 1], [2, 0, 0]],
                 "factor": [[5, 2, 1], [3, 1, 1]]})",
       2 * 1 + 4 + 3 * 4);
    is(begin + R"("position", "elements": [2]})", 1 + 4 + 9);
}

TEST_CASE("joint_target, array_target: what is wrong is refused") {
    HINDCAST_NEEDS_MUJOCO();
    const auto says = [](const std::string& objective, const std::string& words) {
        const std::string said = message([&] { loss(objective); });
        CHECK_MESSAGE(said.find(words) != std::string::npos, said);
    };
    says(R"({"type": "joint_target", "of": "robot", "joints": ["trun"]})", "turn");
    says(R"({"type": "joint_target", "of": "robot", "joints": [3]})", "2");
    says(R"({"type": "joint_target", "of": "robot", "joints": [0, "turn"]})", "twice");
    says(R"({"type": "array_target", "array": "robot.qpso"})", "robot.qpos");
    says(R"({"type": "array_target", "array": "robot.qpos", "elements": [12]})", "11");
}
