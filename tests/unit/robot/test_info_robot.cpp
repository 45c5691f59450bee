// hindcast info ROBOT: bodies as a tree, joints, actuators, what collides, notes and refusals.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "engine/document/document.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

const char* const arm = R"(<mujoco>
  <option timestep="0.005" integrator="implicitfast"/>
  <worldbody>
    <light/>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="upper">
      <joint name="shoulder" type="hinge" range="-90 180" damping="0.5" stiffness="2"
             frictionloss="0.25" armature="0.125"/>
      <geom name="bone" type="capsule" size="0.1 0.2" mass="1.5"/>
      <body name="lower">
        <joint name="rail" type="slide" damping="3"/>
        <geom type="box" size="0.1 0.1 0.1" mass="0.5" friction="0.5"/>
        <geom size="0.1" contype="0" conaffinity="0" mass="0"/>
      </body>
    </body>
    <body name="target" mocap="true"/>
    <body><freejoint/><geom size="1" mass="2"/></body>
  </worldbody>
  <actuator>
    <motor name="turn" joint="shoulder" gear="50" ctrlrange="-1 1"/>
    <muscle name="biceps" joint="rail" lengthrange="0 1"/>
  </actuator>
</mujoco>)";

}  // namespace

TEST_CASE("info of a robot: as text") {
    HINDCAST_NEEDS_MUJOCO();
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    std::ofstream(folder / "arm.xml") << arm;
    const Finished run = run_program({"info", "arm.xml"}, folder.path());
    CHECK(run.status == 1);  // it cannot be simulated
    CHECK(
        run.err ==
        "hindcast: arm.xml: actuator 'biceps' is a muscle, which is not supported; write a motor, "
        "position, velocity or general actuator\n");
    CHECK(run.out == R"(robot      arm.xml
holds      4 bodies, 3 joints, 5 geoms, 2 actuators, 1 mocap body
state      9 positions, 8 velocities, 1 activations, 2 controls
step       0.005 s, implicitfast, pyramidal cones, gravity 0 0 -9.81 m/s^2

bodies and joints
  world
    upper, 1.5 kg
        hinge joint shoulder, range -1.5708 to 3.14159 rad, stiffness 2 N m/rad, damping 0.5 N m s/rad, friction loss 0.25 N m, armature 0.125 kg m^2
      lower, 0.5 kg
          slide joint rail, damping 3 N s/m
    target, mocap
    #4, 2 kg
        free joint #2

actuators
  turn on joint shoulder, gain fixed, bias none, gear 50, control -1 to 1
  biceps on joint rail, gain muscle, bias muscle, activation muscle, gear 1

geoms that collide
  plane floor of world, friction 1 0.005 0.0001
  capsule bone of upper, friction 1 0.005 0.0001
  box #2 of lower, friction 0.5 0.005 0.0001
  sphere #4 of #4, friction 1 0.005 0.0001

notes
  1 light is for looks only
  1 geom touches nothing

refused: it would move differently
  actuator 'biceps' is a muscle, which is not supported; write a motor, position, velocity or general actuator
)");
}

TEST_CASE("info of a robot: as JSON") {
    HINDCAST_NEEDS_MUJOCO();
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    std::ofstream(folder / "arm.xml") << arm;
    const Finished run = run_program({"info", "arm.xml", "--json"}, folder.path());
    REQUIRE(run.status == 1);
    const document::Document parsed = document::Document::parse(run.out, "arm.json");
    const document::Node& said = parsed.root();
    CHECK(said.find("file")->string() == "arm.xml");
    CHECK(said.find("sizes")->find("nbody")->integer() == 5);
    const document::Node& upper = said.find("bodies")->item(1);
    CHECK(upper.find("name")->string() == "upper");
    CHECK(upper.find("parent")->integer() == 0);
    CHECK(upper.find("mass")->real() == 1.5);
    const document::Node& shoulder = upper.find("joints")->item(0);
    CHECK(shoulder.find("type")->string() == "hinge");
    CHECK(shoulder.find("damping")->real() == 0.5);
    CHECK(shoulder.find("range")->size() == 2);
    CHECK(said.find("actuators")->item(0).find("on")->string() == "joint shoulder");
    CHECK(said.find("colliding_geoms")->size() == 4);
    CHECK(said.find("notes")->size() == 2);
    CHECK(said.find("refusals")->item(0).find("what")->string() ==
          "actuator 'biceps' is a muscle, which is not supported");
    CHECK(said.find("arrays") == nullptr);
    const Finished all = run_program({"info", "arm.xml", "--json", "--arrays"}, folder.path());
    REQUIRE(all.status == 1);
    const document::Document with_arrays = document::Document::parse(all.out, "arm.json");
    const document::Node& mass = *with_arrays.root().find("arrays")->find("body_mass");
    CHECK(mass.find("rows")->integer() == 5);
    CHECK(mass.find("columns")->integer() == 1);
    CHECK(mass.find("values")->item(2).real() == 0.5);
}

TEST_CASE("info of a robot: the status says whether it can be simulated") {
    HINDCAST_NEEDS_MUJOCO();
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    std::ofstream(folder / "fine.xml")
        << R"(<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>)";
    std::ofstream(folder / "still.xml")
        << R"(<mujoco><worldbody><body><geom size="1"/></body></worldbody></mujoco>)";
    const Finished fine = run_program({"info", "fine.xml"}, folder.path());
    CHECK(fine.status == 0);
    CHECK(fine.err == "");
    const Finished still = run_program({"info", "still.xml"}, folder.path());
    CHECK(still.status == 1);
    CHECK(still.out.find("  the model has no joints: nothing moves; give a body a joint\n") !=
          std::string::npos);
    CHECK(still.err ==
          "hindcast: still.xml: the model has no joints: nothing moves; give a body a joint\n");
}

TEST_CASE("info of a robot: what goes wrong") {
    HINDCAST_NEEDS_PROGRAM();
    const TemporaryFolder folder;
    std::ofstream(folder / "arm.json") << "{}";
    std::ofstream(folder / "arm.xml") << "<mujoco>\n<worldbodies/></mujoco>";
    const auto error = [&](const std::vector<std::string>& arguments) {
        const Finished run = run_program(arguments, folder.path());
        CHECK(run.status == 1);
        CHECK(run.out == "");
        return run.err;
    };
    CHECK(error({"info", "arm.json"}) ==
          "hindcast: 'arm.json' is no model of a robot; name a file .xml (MJCF) or .urdf; for a "
          "scene write --scene\n");
    CHECK(error({"info", "none.xml"}).find("none.xml") != std::string::npos);
    {
        const Environment nowhere("HINDCAST_MUJOCO", "/nowhere/libmujoco.so");
        CHECK(
            error({"info", "arm.xml"}) ==
            "hindcast: models of robots cannot be read: '/nowhere/libmujoco.so' cannot be opened: "
            "/nowhere/libmujoco.so: cannot open shared object file: No such file or directory; "
            "app/run fetches MuJoCo's library; or pip install mujoco-core==4.0.1, or set "
            "HINDCAST_MUJOCO to its libmujoco.so.4.0.1\n");
        const Finished run = run_program({"info"}, folder.path());
        CHECK(run.out.find("MuJoCo       '/nowhere/libmujoco.so' cannot be opened") !=
              std::string::npos);
    }
    HINDCAST_NEEDS_MUJOCO();
    CHECK(
        error({"info", "arm.xml"}) ==
        "hindcast: arm.xml:2: MuJoCo refuses the model: XML Error: Schema violation: unrecognized "
        "element; Element 'worldbodies', line 2\n");
}
