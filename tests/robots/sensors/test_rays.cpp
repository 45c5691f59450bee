// Rangefinders that see meshes and height fields against MuJoCo's.
#include <doctest/doctest.h>

#include "tests/robots/sensors/sensors.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// A pit in a mesh that is not convex, a stone, and hills; eyes that move.
const char* const valley = R"(<mujoco>
  <option timestep="0.005" gravity="0 0 -1"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <asset>
    <mesh name="pit" vertex="0 0 0  1 0 0  0 1 0  0 0 1  .2 .2 .2"
          face="0 2 1  0 1 3  0 3 2  1 2 4  2 3 4  3 1 4"/>
    <mesh name="stone" vertex="0 0 0 .3 0 .1 0 .4 0 0 .1 .3 .3 .3 .2 -.1 -.1 .2"/>
    <hfield name="hills" nrow="4" ncol="5" size="1 .8 .5 .3"
            elevation="0 .2 .5 .1 .3  .7 .3 .1 .9 .2  0 .6 .4 .1 .3  .2 .8 .1 .5 .6"/>
    <material name="glass" rgba="1 1 1 0"/>
  </asset>
  <worldbody>
    <geom name="hills" type="hfield" hfield="hills" pos="0.1 -0.2 -0.4" euler="5 -8 20"/>
    <geom type="mesh" mesh="stone" pos="0.2 0 0.2" material="glass"/>
    <body pos="0 0 0.3"><joint type="slide" axis="0 0.2 1"/><joint type="ball"/>
      <geom type="mesh" mesh="pit" pos="0.1 0 0.1" euler="10 20 30"/>
      <site name="own" pos="0.1 0 0.2" euler="20 160 0"/></body>
    <body pos="0.5 0.5 0.5"><joint type="slide" axis="1 0 0.1"/><joint type="ball"/>
      <geom type="mesh" mesh="stone" euler="0 30 10"/>
      <geom size="0.02" pos="0.3 0 0.3"/></body>
    <body><freejoint/><geom size="0.01"/>
      <site name="a"/><site name="b" euler="180 0 0"/><site name="c" pos="0.3 0.1 0" euler="90 10 0"/>
      <site name="d" pos="0 0 -0.2" euler="150 40 0"/><site name="e" pos="0.2 -0.3 -0.6" euler="0 70 0"/></body>
  </worldbody>
  <sensor><rangefinder site="own"/><rangefinder site="a"/><rangefinder site="b"/><rangefinder site="c"/>
    <rangefinder site="d" cutoff="0.4"/><rangefinder site="e"/><rangefinder site="d"/></sensor></mujoco>)";

}  // namespace

TEST_CASE("rangefinders see meshes and height fields as MuJoCo's do") {
    HINDCAST_NEEDS_MUJOCO();
    check_states(valley, {.count = 400});
}

TEST_CASE("rangefinders that see meshes and height fields have exact derivatives") {
    HINDCAST_NEEDS_MUJOCO();
    check_sensor_derivatives(valley, {"qpos", "body_pos", "geom_pos", "geom_quat"}, 8, 1);
}

// Above a slope that rises by 0.5 over 2 m, at x = 0.3 from its middle: 2 - 0.25 - 0.075 above it; and from
// below up to the bottom, 0.2 below zero.
TEST_CASE("rangefinders and height fields: a closed form") {
    HINDCAST_NEEDS_MUJOCO();
    Ours ours(
        R"(<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 0.5 0.2" elevation="0 1 0 1"/>
        </asset><worldbody><body><geom type="hfield" hfield="h"/></body><site name="up" pos="0.3 0.4 -1"/>
        <site name="down" pos="0.3 0.1 2" euler="180 0 0"/><body><joint/><geom size="0.1" pos="5 0 0"/></body>
        </worldbody><sensor><rangefinder name="d" site="down"/><rangefinder name="u" site="up"/></sensor></mujoco>)",
        robot_step, 1, "", R"(, "sensors": ["d", "u"])");
    ours.run();
    CHECK(std::fabs(ours.array("sensordata")[0] - 1.675) < 1e-12);
    CHECK(std::fabs(ours.array("sensordata")[1] - 0.8) < 1e-12);
}
