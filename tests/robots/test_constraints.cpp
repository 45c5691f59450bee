// Constraints of articulated bodies against MuJoCo: accelerations of random states, and velocities after
// a step, with limits, friction loss and equalities.
#include <doctest/doctest.h>

#include "tests/robots/constrained_models.hpp"
#include "tests/robots/oracle.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

void compare(const RobotText& robot, const std::string& integrator, int states = 100) {
    CAPTURE(robot.name);
    CAPTURE(integrator);
    const std::string text = with_integrator(robot, integrator);
    Oracle oracle(text, "robot.xml"), euler(with_integrator(robot, "Euler"), "robot.xml");
    Ours ours(text, robot_step, 1);
    std::mt19937_64 generator(7);
    double acceleration = 0, position = 0, velocity = 0;
    for (int k = 0; k < states; ++k) {
        const RobotState state = oracle.random_state(generator);
        ours.set(state);
        ours.run();
        oracle.set(state);
        oracle.step();
        euler.set(state);
        euler.step();
        if (integrator == "RK4")
            acceleration =
                std::max(acceleration, distance(ours.array("qacc"), euler.acceleration()));
        const RobotState after = oracle.state();
        position = std::max(position, distance(ours.array("qpos"), after.qpos));
        velocity = std::max(velocity, distance(ours.array("qvel"), after.qvel));
    }
    MESSAGE(integrator, ": ", acceleration, " ", velocity, " ", position);
    CHECK(acceleration < 1e-6);
    CHECK(position < 1e-6);
    CHECK(velocity < 1e-6);
}

}  // namespace

TEST_CASE("constraints of articulated bodies: accelerations and steps are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const RobotText& robot : constrained_texts())
        for (const char* integrator : {"RK4", "Euler", "implicitfast"}) compare(robot, integrator);
}
