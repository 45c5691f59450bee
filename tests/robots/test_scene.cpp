// Articulated bodies in scenes: their points, keyframes, numbers that the scene writes, and other
// bodies beside them.
#include <doctest/doctest.h>

#include "tests/robots/oracle.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// A pendulum of 0.5 m with a site at its end, a free stone, and a body that nothing moves.
const char* const model = R"(<mujoco>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="rod" pos="0 0 2"><joint name="pivot" axis="0 1 0"/>
      <inertial pos="0 0 -0.3" mass="2" diaginertia="0.01 0.02 0.01"/>
      <site name="tip" pos="0 0 -0.5"/></body>
    <body name="stone"><freejoint/>
      <inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.1 0.1"/></body>
    <body name="target" mocap="true" pos="5 0 0">
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
  </worldbody>
  <actuator><motor joint="pivot"/><general joint="pivot" dyntype="integrator"/></actuator>
  <keyframe>
    <key name="thrown" qpos="0.5 1 2 3 1 0 0 0" qvel="2 1 0 4 0 0 3" ctrl="0.25 0.5" act="0.75"
         mpos="6 7 8" mquat="0 1 0 0"/>
  </keyframe>
</mujoco>)";

std::unique_ptr<Simulation> in_scene(const TemporaryFolder& folder, const std::string& bodies,
                                     std::int64_t steps = 20) {
    std::ofstream(folder / "robot.xml") << model;
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = ir::Precision::f64;
    options.steps = steps;
    return std::make_unique<Simulation>(
        Scene::of(document::Document::parse(R"({"format": 1, "gravity": [0, 1, 0],
            "time": {"step": 0.01, "steps": 20}, "bodies": [)" +
                                                bodies + "]}",
                                            "scene"),
                  folder / "scene.json"),
        all_modules(), options);
}

const std::string thrown =
    R"({"type": "articulated", "name": "robot", "model": "robot.xml", "keyframe": "thrown"})";
const std::string ball = R"({"type": "particles", "name": "ball", "positions": [[0, 0, 0]],
    "velocity": [1, 2, 3]})";

}  // namespace

TEST_CASE("articulated bodies: a keyframe says where all starts, and points follow") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    SUBCASE("before the first step") {
        const auto s = in_scene(folder, thrown, 0);
        s->run();
        const auto near = [&](std::int64_t point, const std::array<double, 3>& p,
                              const std::array<double, 3>& v) {
            for (int k = 0; k < 3; ++k) {
                CHECK(std::fabs(position(*s, point, k) - p[static_cast<std::size_t>(k)]) < 1e-15);
                CHECK(std::fabs(velocity(*s, point, k) - v[static_cast<std::size_t>(k)]) < 1e-15);
            }
        };
        // About y by 0.5 rad at 2 rad/s: a place at -l z goes to -l (sin, 0, cos), and moves at
        // -2 l (cos, 0, -sin).
        const double c = std::cos(0.5), n = std::sin(0.5);
        near(0, {-0.3 * n, 0, 2 - 0.3 * c}, {-0.6 * c, 0, 0.6 * n});
        near(1, {1, 2.1, 3}, {1 - 0.3, 0, 4});  // w x r = (0, 0, 3) x (0, 0.1, 0)
        near(2, {6, 7, 8}, {0, 0, 0});
        near(3, {-0.5 * n, 0, 2 - 0.5 * c}, {-1 * c, 0, 1 * n});
    }
    SUBCASE("after some") {
        const auto s = in_scene(folder, thrown);
        s->run();
        // The stone's center falls in g; act = 0.75 + 0.5 t.
        const double t = 0.2, h = 0.01;
        CHECK(position(*s, 1, 2) == doctest::Approx(3 + 4 * t - 9.81 * t * (t + h) / 2));
        CHECK(s->model().array("robot.act").value(0) == doctest::Approx(0.85));
        CHECK(position(*s, 2, 0) == 6);
    }
}

TEST_CASE("articulated bodies: other bodies beside them change nothing, and are not changed") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    const auto alone = in_scene(folder, thrown), particle = in_scene(folder, ball);
    alone->run();
    particle->run();
    for (const bool first : {true, false}) {
        const auto both = in_scene(folder, first ? thrown + ", " + ball : ball + ", " + thrown);
        both->run();
        const std::int64_t ball_at = first ? 4 : 0, robot_at = first ? 0 : 1;
        for (int k = 0; k < 3; ++k) {
            CHECK(position(*both, ball_at, k) == position(*particle, 0, k));
            CHECK(velocity(*both, ball_at, k) == velocity(*particle, 0, k));
            for (std::int64_t p = 0; p < 4; ++p) {
                CHECK(position(*both, robot_at + p, k) == position(*alone, p, k));
                CHECK(velocity(*both, robot_at + p, k) == velocity(*alone, p, k));
            }
        }
        CHECK(both->model().array("robot.qpos").to_doubles() ==
              alone->model().array("robot.qpos").to_doubles());
    }
}

TEST_CASE("articulated bodies: two of one model, with numbers of their own") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    const auto s = in_scene(folder, R"({"type": "articulated", "name": "light",
        "model": "robot.xml", "qpos": [0, 0, 0, 0, 1, 0, 0, 0], "ctrl": [1, 0],
        "body_mass": [0, 1, 1, 1], "gravity": [0, 0, 0]},
        {"type": "articulated", "name": "heavy",
        "model": "robot.xml", "qpos": [0, 0, 0, 0, 1, 0, 0, 0], "ctrl": [1, 0],
        "body_mass": [0, 4, 1, 1], "gravity": [0, 0, 0]})");
    s->run();
    // A torque of 1 N m without gravity: w = t / I, with I = 0.02 + m 0.3^2.
    CHECK(s->model().array("light.qvel").value(0) == doctest::Approx(0.2 / (0.02 + 0.09)));
    CHECK(s->model().array("heavy.qvel").value(0) == doctest::Approx(0.2 / (0.02 + 0.36)));
}
