// What holds bodies that tendons in space pull at, against MuJoCo's.
#include <doctest/doctest.h>

#include "tests/robots/sensors/sensors.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// Tendons straight, over pulleys, around a sphere, a cylinder and inside of one; all that a tendon may have.
const char* const pulled = R"(<mujoco>
  <option timestep="0.005" solver="Newton" tolerance="0" iterations="200"
          ls_tolerance="1e-12" ls_iterations="100" INTEGRATOR><flag warmstart="disable" constraint="CONSTRAINT"/></option>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="w" pos="0.6 0.3 0.4"/><site name="v" pos="-0.5 0.2 0.7"/>
    <body name="base" pos="0 0 0.5"><freejoint/>
      <geom name="ball" size="0.2"/><site name="base" pos="0.1 0.2 0.3" euler="20 10 0"/>
      <site name="side" pos="0 0 0.25"/>
      <body name="arm" pos="0.4 0 0" euler="0 10 0"><joint axis="0 1 0.1" damping="0.1"/>
        <geom name="drum" type="cylinder" size="0.15 0.2" pos="0.2 0 0" euler="80 10 0"/>
        <site name="arm" pos="0.1 -0.1 0.1" euler="0 40 10"/><site name="in" pos="0.22 0 0"/>
        <body name="hand" pos="0.5 0 0.1"><joint type="ball" damping="0.05"/>
          <geom type="box" size="0.1 0.2 0.05" mass="0.5"/><site name="hand" pos="0.1 0.1 0" euler="30 0 50"/>
          <body name="nut" pos="0 0.3 0"><geom size="0.05" mass="0.1"/><site name="nut" pos="0 0 0.1"/></body>
        </body></body></body>
  </worldbody>
  <tendon>
    <spatial name="spring" stiffness="20" springlength="0.2 0.5" damping="0.7"><site site="w"/><site site="hand"/></spatial>
    <spatial name="pull" ARMATURE><site site="base"/><site site="nut"/><site site="v"/></spatial>
    <spatial name="around" stiffness="9" damping="0.2"><site site="v"/><geom geom="ball" sidesite="side"/><site site="hand"/>
      <pulley divisor="2"/><site site="base"/><geom geom="drum"/><site site="nut"/></spatial>
    <spatial name="inside" stiffness="5"><site site="base"/><geom geom="drum" sidesite="in"/><site site="hand"/></spatial>
    <spatial name="limit" limited="true" range="0.3 0.6" margin="0.05" frictionloss="0.4"><site site="w"/>
      <site site="arm"/></spatial>
    <spatial name="same"><site site="v"/><site site="base"/></spatial>
    <fixed name="fixed" stiffness="3"><joint joint="elbow" coef="0.4"/></fixed>
  </tendon>
  <actuator><motor tendon="pull" gear="1.7"/><position tendon="limit" kp="12" kv="0.5" gear="-0.6"/>
    <motor tendon="fixed" gear="2"/></actuator>
  <equality><tendon tendon1="same" tendon2="limit" polycoef="0.1 0.6 0.3 -0.1 0.05"/><tendon tendon1="inside"/></equality>
  <sensor>
    <force site="base"/><torque site="base"/><force site="arm"/><torque site="arm"/>
    <force site="hand"/><torque site="hand"/><force site="nut"/><torque site="nut"/>
  </sensor></mujoco>)";

std::string pulled_by(const std::string& integrator, bool armature, bool constrained = true) {
    const std::string text = replaced(pulled, "<joint axis", "<joint name=\"elbow\" axis");
    return replaced(replaced(with_integrator({"", text.c_str()}, integrator), "ARMATURE",
                             armature ? "armature=\"0.3\"" : ""),
                    "CONSTRAINT", constrained ? "enable" : "disable");
}

}  // namespace

TEST_CASE("forces between bodies that tendons in space pull at are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const char* integrator : {"RK4", "implicitfast", "Euler", "discrete"})
        for (const bool armature : {false, true}) {
            CAPTURE(std::string(integrator));
            CAPTURE(armature);
            for (const bool constrained : {false, true}) {
                const std::string text = pulled_by(integrator, armature, constrained);
                check_states(replaced(text, " sidesite=\"in\"", ""), {});
                // Within a circle MuJoCo looks for the point by an iteration that ends a little before it.
                check_states(text, {.count = 30, .tolerance = 3e-8});
            }
        }
}

TEST_CASE("forces between bodies that tendons in space pull at have exact derivatives") {
    HINDCAST_NEEDS_MUJOCO();
    check_sensor_derivatives(pulled_by("implicitfast", true),
                             {"qpos", "qvel", "ctrl", "geom_size", "body_mass", "actuator_gear"}, 3,
                             1);
}

// A rope with a spring of 8 N/m, stretched by 0.5 m, from (0, 0.2, 1) on the body to the world above it: pulls the
// weightless hinge about the rope's own line. What holds the body pulls it down.
TEST_CASE("forces between bodies that tendons in space pull at: a closed form") {
    HINDCAST_NEEDS_MUJOCO();
    Ours ours(R"(<mujoco><option gravity="0 0 0"/><worldbody><site name="top" pos="0 0.2 2"/>
        <body><joint axis="0 0 1"/><geom size="0.1" mass="1"/><site name="s"/><site name="end" pos="0 0.2 1"/></body>
        </worldbody><tendon><spatial stiffness="8" springlength="0.5"><site site="top"/><site site="end"/></spatial>
        </tendon><sensor><force name="f" site="s"/><torque name="t" site="s"/></sensor></mujoco>)",
              robot_step, 1, "", R"(, "sensors": ["f", "t"])");
    ours.run();
    const std::vector<double> found = ours.array("sensordata"), expected = {0, 0, -4, -0.8, 0, 0};
    for (std::size_t k = 0; k < 6; ++k) CHECK(std::fabs(found[k] - expected[k]) < 1e-12);
}
