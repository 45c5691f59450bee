// Tendons of articulated bodies against MuJoCo: accelerations of random states, and states after a step,
// with spatial tendons that go straight, over pulleys and around geoms; their derivatives.
#include <doctest/doctest.h>

#include "tests/robots/compare_steps.hpp"
#include "tests/robots/tendon_models.hpp"

using namespace hindcast;
using namespace hindcast::test;

TEST_CASE("tendons: accelerations and steps are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const RobotText& robot : tendon_texts())
        for (const char* integrator : {"RK4", "Euler", "implicitfast", "discrete"}) {
            const std::string name = robot.name;
            CAPTURE(name);
            CAPTURE(integrator);
            const StepErrors e =
                compare_steps([&](const std::string& word) { return with_integrator(robot, word); },
                              integrator, 100);
            // MuJoCo's points inside geoms are up to 1e-7 m beside.
            const double most = name.find("inside") == std::string::npos ? 1e-9 : 1e-6;
            CHECK(e.acceleration < most);
            CHECK(e.position < most);
            CHECK(e.velocity < most);
        }
}
