// Sensors of articulated bodies against MuJoCo: what they say after a step from random states.
#include <doctest/doctest.h>

#include <cstring>

#include "engine/robot/layout/model_layout.hpp"
#include "tests/robots/models.hpp"
#include "tests/robots/oracle.hpp"

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

// The sensors' numbers after a step. Where the pointer lies in the release that layout_version() names.
std::vector<double> sensordata(const Oracle& oracle) {
    REQUIRE(robot::layout_version() == 4000001);
    const double* numbers = nullptr;
    std::memcpy(&numbers, oracle.data() + 160816, sizeof(void*));
    return {numbers, numbers + oracle.model().size("nsensordata")};
}

// The text with names of its sensors, and the list of these.
std::string named(std::string text, std::string& names) {
    int number = 0;
    const std::size_t begin = text.find("<sensor>") + 8, end = text.find("</sensor>");
    std::string sensors = text.substr(begin, end - begin);
    for (std::size_t k = sensors.find('<'); k != std::string::npos; k = sensors.find('<', k + 1)) {
        const std::size_t space = sensors.find(' ', k);
        const std::string name = "s" + std::to_string(number++);
        sensors.insert(space, " name=\"" + name + "\"");
        names += (names.empty() ? "\"" : ", \"") + name + "\"";
    }
    return text.replace(begin, end - begin, sensors);
}

}  // namespace

TEST_CASE("sensors say what MuJoCo's do") {
    HINDCAST_NEEDS_MUJOCO();
    for (const char* constraint : {"", "constraint=\"disable\""})
        for (const char* integrator : {"RK4", "Euler", "implicitfast", "discrete"}) {
            CAPTURE(std::string(constraint));
            CAPTURE(std::string(integrator));
            std::string names, text = with_integrator({"", robot_text}, integrator);
            text.replace(text.find("CONSTRAINT"), 10, constraint);
            text = named(text, names);
            Oracle oracle(text, "robot.xml");
            Ours ours(text, robot_step, 1, "", ", \"sensors\": [" + names + "]");
            std::mt19937_64 generator(9);
            for (int k = 0; k < 30; ++k) {
                const RobotState state = oracle.random_state(generator);
                oracle.set(state), oracle.step();
                ours.set(state), ours.run();
                const std::vector<double> found = ours.array("sensordata"),
                                          expected = sensordata(oracle);
                REQUIRE(found.size() == expected.size());
                const auto address = oracle.model().integers("sensor_adr");
                double size = 0;
                for (const double v : expected) size = std::max(size, std::fabs(v));
                for (std::size_t s = 0, i = 0; i < found.size(); ++i) {
                    if (s + 1 < address.size() && static_cast<int>(i) >= address[s + 1]) ++s;
                    CAPTURE(s);
                    CHECK(std::fabs(found[i] - expected[i]) < 1e-9 * (1 + size));
                }
            }
        }
}

TEST_CASE("sensors: what is none, and what is not simulated, is refused by name") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string text = R"(<mujoco><worldbody><body><joint name="a"/><geom size="1"/>
        <site name="s"/></body></worldbody>
        <sensor><touch name="skin" site="s"/><jointpos name="angle" joint="a"/></sensor></mujoco>)";
    const auto said = [&](const std::string& names) {
        return message([&] { Ours(text, robot_step, 1, "", ", \"sensors\": [" + names + "]"); });
    };
    CHECK(said("\"angle\"") == "no error");
    CHECK(said("\"skin\"")
              .find("at /bodies/0/sensors: sensor 'skin' is of type touch, which is not "
                    "simulated") != std::string::npos);
    CHECK(said("\"angel\"").find("did you mean") != std::string::npos);
}
