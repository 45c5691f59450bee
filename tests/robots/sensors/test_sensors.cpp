// Sensors of articulated bodies against MuJoCo: what they say after a step from random states.
#include <doctest/doctest.h>

#include "tests/robots/models.hpp"
#include "tests/robots/sensors/sensors.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

const char* const robot_text = R"(<mujoco>
  <option timestep="0.005" gravity="0.3 -0.2 -9.7" magnetic="0.1 -0.5 0.2" solver="Newton" tolerance="0"
          iterations="200" ls_tolerance="1e-12" ls_iterations="100" INTEGRATOR>
    <flag warmstart="disable" CONSTRAINT/></option>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="mark" pos="0.4 0.3 0.2" euler="30 20 10"/>
    <body name="base" pos="0 0 1">
      <joint name="base" type="free" damping="0.05"/>
      <geom name="box" type="box" size="0.2 0.1 0.05"/>
      <site name="jet" pos="0.2 0.05 0" euler="10 20 30"/>
      <body name="arm" pos="0.2 0 0" euler="0 10 0">
        <joint name="a" axis="0 1 0" range="-20 20" actuatorfrcrange="-0.3 0.4" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0.1" size="0.03"/>
        <body name="hand" pos="0.3 0 0">
          <joint name="b" type="slide" axis="0 1 0" armature="0.01"/>
          <joint name="ball" type="ball"/>
          <geom name="palm" type="ellipsoid" size="0.05 0.1 0.08" pos="0.1 0 0" euler="0 40 10"/>
          <site name="hand" pos="0.2 0 0.1" quat="0.7 0.1 0.5 -0.2"/>
        </body>
      </body>
    </body>
    <body name="post" pos="1 0 0" euler="0 0 20"><geom name="post" size="0.1"/></body>
  </worldbody>
  <tendon>
    <fixed name="cord" stiffness="4"><joint joint="a" coef="0.7"/><joint joint="b" coef="-1.1"/></fixed>
    <spatial name="rope"><site site="mark"/><site site="hand"/></spatial>
  </tendon>
  <actuator>
    <position name="servo" joint="a" kp="3" kv="0.4" gear="1.3" forcerange="-0.5 0.5"/>
    <motor name="winch" tendon="rope" gear="0.5"/>
    <motor name="pull" tendon="rope" gear="0.7"/>
    <motor name="jet" site="jet" gear="0 0.1 1 0 0 0.1"/>
  </actuator>
  <sensor>
    <jointpos joint="a"/><jointvel joint="b"/><ballquat joint="ball"/><ballangvel joint="ball"/>
    <tendonpos tendon="cord"/><tendonpos tendon="rope"/><tendonvel tendon="cord"/><tendonvel tendon="rope"/>
    <actuatorpos actuator="servo"/><actuatorvel actuator="servo"/><actuatorfrc actuator="servo"/>
    <actuatorpos actuator="winch"/><actuatorvel actuator="jet"/><actuatorfrc actuator="jet"/>
    <jointactuatorfrc joint="a"/><tendonactuatorfrc tendon="rope"/>
    <magnetometer site="hand"/><accelerometer site="hand"/><velocimeter site="hand"/><gyro site="hand"/>
    <accelerometer site="mark"/><accelerometer site="jet" cutoff="5"/><gyro site="jet" cutoff="0.5"/>
    <framepos objtype="body" objname="arm"/><framepos objtype="xbody" objname="arm"/>
    <framepos objtype="geom" objname="palm"/><framepos objtype="site" objname="hand" reftype="site" refname="jet"/>
    <framepos objtype="geom" objname="post" reftype="body" refname="hand"/>
    <framequat objtype="body" objname="arm"/><framequat objtype="geom" objname="palm" reftype="xbody" refname="base"/>
    <framexaxis objtype="site" objname="hand"/><frameyaxis objtype="geom" objname="palm"/>
    <framezaxis objtype="xbody" objname="hand" reftype="geom" refname="box"/>
    <framelinvel objtype="body" objname="hand"/><framelinvel objtype="site" objname="hand" reftype="site" refname="jet"/>
    <frameangvel objtype="xbody" objname="hand"/><frameangvel objtype="geom" objname="palm" reftype="body" refname="base"/>
    <framelinacc objtype="body" objname="hand"/><framelinacc objtype="geom" objname="palm"/>
    <framelinacc objtype="xbody" objname="base"/><framelinacc objtype="geom" objname="post"/>
    <frameangacc objtype="site" objname="hand"/><frameangacc objtype="body" objname="arm"/>
    <subtreecom body="base"/><subtreecom body="arm"/><subtreecom body="world"/>
    <subtreelinvel body="base"/><subtreelinvel body="arm"/><subtreeangmom body="base"/><subtreeangmom body="hand"/>
  </sensor>
</mujoco>)";

// A robot that touches, reaches its limits, is held and is seen. CONE, CONTACT and EQUALITY stand where these
// are chosen.
const char* const touching_text = R"(<mujoco>
  <option timestep="0.005" gravity="0.3 -0.2 -9.7" solver="Newton" tolerance="0" cone="CONE"
          iterations="200" ls_tolerance="1e-12" ls_iterations="100" INTEGRATOR>
    <flag warmstart="disable" contact="CONTACT" equality="EQUALITY" energy="enable"/></option>
  <default><geom friction="0.8 0.05 0.02"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <site name="eye" pos="0.1 0.2 3" euler="170 10 0"/>
    <body name="base" pos="0 0 0.1">
      <joint name="base" type="free" damping="0.05" stiffness="3"/>
      <geom name="trunk" type="capsule" size="0.1 0.3" euler="0 80 10" condim="6"/>
      <geom name="lump" type="box" size="0.1 0.15 0.2" pos="0.3 0 0.3" contype="0" conaffinity="0"/>
      <site name="skin" type="ellipsoid" size="0.9 0.3 0.5"/>
      <site name="spot" type="box" size="0.3 0.1 0.05" pos="0 0 0.6" euler="30 10 40"/>
      <body name="arm" pos="0.4 0 0" euler="0 10 0">
        <joint name="a" axis="0 1 0" range="-20 20" damping="0.2" stiffness="4" springref="12"/>
        <joint name="b" type="slide" axis="1 0 0.1" range="-0.3 0.5" margin="0.1"/>
        <inertial pos="0.1 0.02 0.03" mass="0.7" fullinertia="0.01 0.02 0.015 0.001 0.002 -0.001"/>
        <geom name="tip" size="0.15" pos="0.4 0 0" condim="4"/>
        <site name="wrist" pos="0.1 0.05 0" euler="10 20 30"/>
        <site name="pad" type="capsule" size="0.2 0.3" pos="0.4 0 0"/>
        <body name="hand" pos="0.3 0 0.2">
          <joint name="ball" type="ball" range="0 30" margin="0.05" stiffness="2"/>
          <geom name="palm" type="ellipsoid" size="0.1 0.2 0.15" contype="0" conaffinity="0"/>
          <geom name="nail" type="cylinder" size="0.05 0.2" pos="0 0 0.3" contype="0" conaffinity="0"/>
          <geom name="knob" size="0.12" pos="0 0 -0.3" condim="1"/>
          <site name="palm" pos="0.1 0 0" euler="60 0 20"/>
          <body name="nut" pos="0 0.2 0"><geom size="0.08" mass="0.2" condim="3"/>
            <site name="nut" type="cylinder" size="0.4 0.2" pos="0 0.1 0" euler="40 0 20"/></body>
        </body>
      </body>
    </body>
    <body name="post" pos="0.5 0.4 0.2" euler="0 0 20">
      <geom name="post" type="capsule" size="0.2 0.4"/><site name="post" pos="0 0 0.5"/>
      <body name="flag" pos="0 0 0.8"><joint name="flag" axis="0 0 1"/>
        <geom type="box" size="0.2 0.02 0.1" pos="0.15 0.01 0" contype="0" conaffinity="0"/>
        <site name="flag" pos="0.1 0 0"/></body>
    </body>
    <body name="stone" pos="-0.4 0 0.3"><freejoint/><geom size="0.2" mass="0.5"/>
      <site name="stone" pos="0 0 0.1" euler="0 20 0"/></body>
  </worldbody>
  <tendon>
    <fixed name="cord" stiffness="4" limited="true" range="-0.2 0.3" margin="0.1">
      <joint joint="a" coef="0.7"/><joint joint="b" coef="-1.1"/></fixed>
    ROPE
  </tendon>
  <equality>
    <connect body1="hand" body2="stone" anchor="0.1 0.2 0"/>
    <weld body1="flag" body2="base" anchor="0.1 0 0.2" torquescale="0.6"/>
    <weld site1="wrist" site2="stone"/>
  </equality>
  <sensor>
    <touch site="skin"/><touch site="spot"/><touch site="pad"/><touch site="pad" cutoff="3"/><touch site="nut"/>
    <force site="skin"/><torque site="skin"/><force site="wrist"/><torque site="wrist"/>
    <force site="palm"/><torque site="palm"/><force site="nut"/><torque site="nut"/>
    <force site="flag"/><torque site="flag"/><force site="post"/><torque site="post"/>
    <force site="stone" cutoff="4"/><torque site="stone"/>
    <jointlimitpos joint="a"/><jointlimitvel joint="a"/><jointlimitfrc joint="a"/>
    <jointlimitpos joint="b"/><jointlimitvel joint="b"/><jointlimitfrc joint="b"/>
    <jointlimitpos joint="ball"/><jointlimitvel joint="ball"/><jointlimitfrc joint="ball"/>
    <tendonlimitpos tendon="cord"/><tendonlimitvel tendon="cord"/><tendonlimitfrc tendon="cord"/>
    <tendonlimitpos tendon="rope"/><tendonlimitvel tendon="rope"/><tendonlimitfrc tendon="rope"/>
    <rangefinder site="eye"/><rangefinder site="wrist"/><rangefinder site="palm"/><rangefinder site="spot"/>
    <rangefinder site="flag"/><rangefinder site="stone" cutoff="1"/><rangefinder site="post"/>
    <insidesite site="skin" objtype="body" objname="hand"/><insidesite site="spot" objtype="geom" objname="tip"/>
    <insidesite site="pad" objtype="site" objname="palm"/><insidesite site="nut" objtype="xbody" objname="hand"/>
    <contact reduce="netforce" data="found force torque pos normal tangent" subtree1="base"/>
    <contact reduce="netforce" data="force torque dist" body1="base"/>
    <contact reduce="netforce" data="force torque pos" geom2="floor"/>
    <contact reduce="netforce" data="force torque pos" subtree1="base" subtree2="base"/>
    <contact reduce="maxforce" data="found force torque dist pos normal tangent" geom1="floor"/>
    <contact reduce="maxforce" data="found force torque dist pos normal tangent" geom2="floor"/>
    <contact reduce="maxforce" data="force torque normal tangent" body1="base" body2="post"/>
    <contact reduce="mindist" data="found force torque dist pos normal tangent" subtree1="arm"/>
    <contact reduce="mindist" data="found dist pos" />
    <e_potential /><e_kinetic /><clock />
  </sensor>
</mujoco>)";

}  // namespace

TEST_CASE("sensors say what MuJoCo's do") {
    HINDCAST_NEEDS_MUJOCO();
    for (const char* constraint : {"", "constraint=\"disable\""})
        for (const char* integrator : {"RK4", "Euler", "implicitfast", "discrete"}) {
            CAPTURE(std::string(constraint));
            CAPTURE(std::string(integrator));
            check_states(
                replaced(with_integrator({"", robot_text}, integrator), "CONSTRAINT", constraint),
                {.count = 30});
        }
}

TEST_CASE("sensors of contact, limits, loads and rays say what MuJoCo's do") {
    HINDCAST_NEEDS_MUJOCO();
    for (const char* integrator : {"RK4", "implicitfast"})
        for (const char* cone : {"pyramidal", "elliptic"})
            for (const auto& [contact, equality] :
                 {std::pair("disable", "disable"), {"enable", "disable"}, {"enable", "enable"}}) {
                CAPTURE(std::string(integrator));
                CAPTURE(std::string(cone));
                CAPTURE(std::string(contact));
                CAPTURE(std::string(equality));
                std::string text = with_integrator({"", touching_text}, integrator);
                text = replaced(replaced(replaced(text, "CONE", cone), "CONTACT", contact),
                                "EQUALITY", equality);
                check_states(replaced(text, "ROPE",
                                      "<fixed name='rope' limited='true' range='0.3 0.5'><joint "
                                      "joint='flag' coef='0.5'/></fixed>"),
                             {.low = 0.3});
                text = replaced(text, "ROPE",
                                "<spatial name='rope' stiffness='3' springlength='0.2 1' "
                                "limited='true' range='0.3 1.6'><site site='nut'/><site "
                                "site='post'/></spatial>");
                check_states(text, {.count = 20, .low = 0.3});
            }
}

TEST_CASE("sensors: what is none, and what is not simulated, is refused by name") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string text = R"(<mujoco><worldbody><body><joint name="a"/><geom name="g" size="1"/>
        <site name="s"/></body></worldbody>
        <sensor><rangefinder name="skin" site="s" data="dist normal"/><jointpos name="angle" joint="a"/></sensor></mujoco>)";
    const auto said = [&](const std::string& names) {
        return message([&] { Ours(text, robot_step, 1, "", ", \"sensors\": [" + names + "]"); });
    };
    CHECK(said("\"angle\"") == "no error");
    CHECK(said("\"skin\"").find("at /bodies/0/sensors: sensor 'skin' says more than a distance") !=
          std::string::npos);
    CHECK(said("\"angel\"").find("did you mean") != std::string::npos);
}

// A spring of 7 N/m, stretched by 0.5 m, pulls at the origin along the hinge's axis: nothing moves, and what
// holds the body pulls it back, with the arm of 0.2 m about the site.
TEST_CASE("sensors: what holds a body withstands the scene's forces") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "robot.xml") << R"(<mujoco><option gravity="0 0 0"/><worldbody>
        <body name="b"><joint axis="0 0 1"/><geom size="0.1" mass="1"/><site name="s" pos="0.2 0 0"/></body>
        </worldbody><sensor><force name="f" site="s"/><torque name="t" site="s"/></sensor></mujoco>)";
    std::ofstream(folder.path() / "scene.json")
        << R"({"format": 1, "time": {"step": 0.01, "steps": 1},
        "gravity": [0, 0, 0], "bodies": [{"type": "articulated", "name": "r", "model": "robot.xml",
            "sensors": ["f", "t"]}, {"type": "particles", "name": "p", "positions": [[0, 0, 1]], "fixed": true}],
        "forces": [{"type": "springs", "connect": [["r", 0, "p", 0]], "stiffness": 7, "rest_length": 0.5}]})";
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = ir::Precision::f64;
    Simulation simulation(Scene::load(folder.path() / "scene.json"), all_modules(), options);
    simulation.run(false);
    const std::vector<double> found = simulation.model().array("r.sensordata").to_doubles();
    const std::vector<double> expected = {0, 0, -3.5, 0, -0.7, 0};
    for (std::size_t k = 0; k < 6; ++k) CHECK(found[k] == doctest::Approx(expected[k]));
}
