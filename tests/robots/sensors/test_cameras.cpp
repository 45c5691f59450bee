// What cameras see of sites, and frames of cameras, against MuJoCo's.
#include <doctest/doctest.h>

#include "tests/robots/sensors/sensors.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

const char* const text = R"(<mujoco>
  <option timestep="0.005"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <camera name="wall" pos="4 3 2" euler="60 20 30" resolution="64 48"/>
    <body name="seen" pos="1 2 5"><joint type="ball"/><geom size="0.1" pos="0.1 0 0.2"/>
      <site name="s" pos="0.3 0.1 0"/>
      <body><joint axis="1 1 0"/><geom size="0.2" pos="0 0.4 0"/></body></body>
    <body name="eye" pos="0 0 1"><freejoint/><geom size="0.1" pos="0.1 0.1 0"/>
      <camera name="fixed" pos="0.1 0.2 0.3" euler="10 20 30" resolution="320 240" fovy="50"/>
      <camera name="lens" pos="0.1 0.2 0.3" euler="10 20 30" resolution="320 240"
              sensorsize="0.02 0.01" focal="0.03 0.025" principal="0.001 0.002"/>
      <camera name="flat" pos="0.1 0.2 0.3" resolution="320 240" projection="orthographic" fovy="3"/>
      <camera name="track" mode="track" pos="0.1 0.2 0.3" euler="10 20 30" resolution="320 240"/>
      <camera name="trackcom" mode="trackcom" pos="0.1 0.2 0.3" euler="10 20 30" resolution="3 240"/>
      <camera name="at" mode="targetbody" target="seen" pos="0.1 0.2 0.3" resolution="320 240"/>
      <camera name="atcom" mode="targetbodycom" target="seen" pos="0.1 0.2 0.3" resolution="320 240"/>
      <body pos="0.3 0 0"><joint axis="0 1 1"/><geom type="box" size="0.2 0.1 0.1"/></body></body>
  </worldbody>
  <sensor>
    <camprojection site="s" camera="wall"/><camprojection site="s" camera="fixed"/>
    <camprojection site="s" camera="lens"/><camprojection site="s" camera="flat"/>
    <camprojection site="s" camera="track"/><camprojection site="s" camera="trackcom"/>
    <camprojection site="s" camera="at"/><camprojection site="s" camera="atcom"/>
    <camprojection site="s" camera="fixed" cutoff="100"/>
    FRAMES
  </sensor></mujoco>)";

const char* const frames = R"(
    <framepos objtype="camera" objname="fixed"/><framequat objtype="camera" objname="wall"/>
    <framepos objtype="site" objname="s" reftype="camera" refname="lens"/>
    <framequat objtype="camera" objname="lens" reftype="camera" refname="wall"/>
    <framezaxis objtype="camera" objname="fixed"/><framelinvel objtype="camera" objname="fixed"/>
    <framelinvel objtype="xbody" objname="seen" reftype="camera" refname="fixed"/>
    <frameangvel objtype="camera" objname="lens"/><framelinacc objtype="camera" objname="fixed"/>
    <frameangacc objtype="camera" objname="lens"/>)";

}  // namespace

TEST_CASE("sites in the pictures of cameras, and frames of cameras, are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    check_states(replaced(text, "FRAMES", frames), {});
}

TEST_CASE("sites in the pictures of cameras have exact derivatives") {
    HINDCAST_NEEDS_MUJOCO();
    check_sensor_derivatives(replaced(text, "FRAMES", ""), {"qpos", "body_pos", "body_mass"}, 6, 0);
}

// A camera at the origin that looks along x, upright: of a point 2 m ahead, 0.5 m to the left and 0.25 m up, at
// 90 degrees over 200 pixels of height, 100 pixels of 400 are 1 m.
TEST_CASE("sites in the pictures of cameras: a closed form") {
    HINDCAST_NEEDS_MUJOCO();
    Ours ours(R"(<mujoco><worldbody>
        <camera name="c" xyaxes="0 -1 0 0 0 1" resolution="400 200" fovy="90"/>
        <body pos="2 0.5 0.25"><joint/><geom size="0.1"/><site name="s"/></body></worldbody>
        <sensor><camprojection name="p" site="s" camera="c"/></sensor></mujoco>)",
              robot_step, 1, "", R"(, "sensors": ["p"])");
    ours.run();
    CHECK(std::fabs(ours.array("sensordata")[0] - 175) < 1e-12);
    CHECK(std::fabs(ours.array("sensordata")[1] - 87.5) < 1e-12);
}

TEST_CASE("frames of cameras that follow are refused by name") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string said = message([] {
        Ours(
            R"(<mujoco><worldbody><body><joint/><geom size="1"/><camera name="c" mode="track"/></body>
            </worldbody><sensor><framepos name="p" objtype="camera" objname="c"/></sensor></mujoco>)",
            robot_step, 1, "", R"(, "sensors": ["p"])");
    });
    CHECK(said.find("at /bodies/0/sensors: sensor 'p' is about the frame of a camera that is not "
                    "fixed") != std::string::npos);
}
