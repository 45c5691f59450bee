// Sites that are meshes, for insidesite and sensors of contacts, against MuJoCo's.
#include <doctest/doctest.h>

#include "tests/robots/sensors/sensors.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// The pit is not convex: its hull counts.
const char* const volumes = R"(<mujoco>
  <option timestep="0.005" solver="Newton" tolerance="0" iterations="200"
          ls_tolerance="1e-12" ls_iterations="100"><flag warmstart="disable"/></option>
  <asset>
    <mesh name="pit" scale="2 2 1.5" vertex="0 0 0  1 0 0  0 1 0  0 0 1  .2 .2 .2"
          face="0 2 1  0 1 3  0 3 2  1 2 4  2 3 4  3 1 4"/>
    <mesh name="stone" vertex="0 0 0 1.3 0 .1 0 1.4 0 0 .1 1.3 1.3 1.3 .2 -.1 -.1 .2"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <site name="pit" type="mesh" mesh="pit" pos="-0.5 -0.6 -0.4" euler="10 20 30"/>
    <body name="a" pos="0 0 0.3"><freejoint/><geom size="0.2"/><geom size="0.1" pos="0.3 0 0"/>
      <site name="stone" type="mesh" mesh="stone" pos="-0.3 -0.4 -0.5" euler="0 10 40"/></body>
    <body name="b" pos="0.2 0.2 0.3"><freejoint/><geom name="b" type="capsule" size="0.15 0.2"/></body>
    <body name="c" pos="-0.2 0.2 0.3"><freejoint/><geom name="c" size="0.25"/><site name="c" pos="0.1 0 0"/></body>
  </worldbody>
  <sensor>
    <insidesite site="pit" objtype="body" objname="a"/><insidesite site="pit" objtype="geom" objname="b"/>
    <insidesite site="pit" objtype="site" objname="c"/><insidesite site="stone" objtype="geom" objname="b"/>
    <insidesite site="stone" objtype="xbody" objname="c"/><insidesite site="stone" objtype="site" objname="c"/>
    <contact site="pit" num="4" data="found force dist pos normal"/>
    <contact site="stone" body2="b" num="2" reduce="maxforce" data="found force normal"/>
    <contact site="stone" reduce="netforce" data="found force torque pos"/>
  </sensor></mujoco>)";

}  // namespace

TEST_CASE("sites that are meshes hold what MuJoCo's hold") {
    HINDCAST_NEEDS_MUJOCO();
    check_states(volumes, {.count = 200, .low = 0.3});
}

// Of a tetrahedron with corners at the origin and 1 m along each axis: 0.3 (1, 1, 1) lies in it, 0.4 does not.
TEST_CASE("sites that are meshes: a closed form") {
    HINDCAST_NEEDS_MUJOCO();
    Ours ours(R"(<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody>
        <site name="m" type="mesh" mesh="m"/><site name="in" pos="0.3 0.3 0.3"/><site name="out" pos="0.4 0.4 0.4"/>
        <body><joint/><geom size="0.1"/></body></worldbody><sensor>
        <insidesite name="i" site="m" objtype="site" objname="in"/>
        <insidesite name="o" site="m" objtype="site" objname="out"/></sensor></mujoco>)",
              robot_step, 1, "", R"(, "sensors": ["i", "o"])");
    ours.run();
    CHECK(ours.array("sensordata") == std::vector<double>{1, 0});
}

TEST_CASE("sites that are meshes: what MuJoCo does not have, and enclosure, are refused by name") {
    HINDCAST_NEEDS_MUJOCO();
    const auto said = [](const std::string& sensor) {
        const std::string text =
            R"(<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody><body>
            <joint/><geom name="g" size="0.1"/><site name="m" type="mesh" mesh="m"/><site name="s" size="1"/></body>
            </worldbody><sensor>)" +
            sensor + "</sensor></mujoco>";
        return message([&] { Ours(text, robot_step, 1, "", R"(, "sensors": ["x"])"); });
    };
    CHECK(said("<touch name='x' site='m'/>").find("of which MuJoCo has no touch sensor") !=
          std::string::npos);
    CHECK(said("<insidesite name='x' site='s' objtype='geom' objname='g' enclosed='true'/>")
              .find("at /bodies/0/sensors: sensor 'x' says how far a thing is enclosed") !=
          std::string::npos);
}
