// What of a robot's model is refused, by name and with a remedy; what is only noted; what passes.
#include <doctest/doctest.h>

#include "engine/robot/supported.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/mujoco.hpp"

using namespace hindcast;
using namespace hindcast::robot;
using namespace hindcast::test;

namespace {

// Two bodies with a hinge 'swing' and a slide 'drop', their geoms and sites, and more.
struct Parts {
    std::string option, flag, joint, geom, world, before, after, actuator, tendon;
};
std::string arm(const Parts& p) {
    return "<mujoco><option " + p.option + "><flag " + p.flag + "/></option>" + p.before +
           R"(<worldbody><body name="upper"><joint name="swing" )" + p.joint +
           R"(/><geom name="shell" size="0.1" )" + p.geom +
           R"(/><site name="wrist"/></body><body name="lower" pos="1 0 0"><joint name="drop" type="slide"/>)"
           R"(<geom name="tip" size="0.1"/><site name="end"/></body>)" +
           p.world + R"(</worldbody><tendon><fixed name="cord" )" + p.tendon +
           R"(><joint joint="swing" coef="1"/></fixed></tendon><actuator>)" + p.actuator +
           "</actuator>" + p.after + "</mujoco>";
}

// What require_supported() says.
std::string refused(const Parts& parts) {
    const RobotModel model = RobotModel::from_text(arm(parts));
    return message([&] { require_supported(model); });
}
std::string refused_actuator(const std::string& text) {
    Parts parts;
    parts.actuator = text;
    return refused(parts);
}
std::string refused_flag(const std::string& flag) {
    Parts parts;
    parts.flag = flag + "=\"enable\"";
    return refused(parts);
}

const std::string write_a_motor = "; write a motor, position, velocity or general actuator";

}  // namespace

TEST_CASE("supported robots: a plain one passes") {
    HINDCAST_NEEDS_MUJOCO();
    CHECK(refused({}) == "no error");
    Parts all;
    all.option = R"(integrator="RK4" cone="elliptic" wind="1 0 0")";
    all.joint = R"(stiffness="1" damping="2" armature="3" frictionloss="4" range="-1 1")";
    all.geom = R"(fluidshape="ellipsoid")";  // without a medium it does nothing
    all.actuator = R"(<motor joint="swing"/><position joint="swing" kp="3" timeconst="0.1"/>
        <velocity joint="swing"/><intvelocity joint="swing" actrange="-1 1"/>
        <damper joint="swing" ctrlrange="0 1"/><cylinder tendon="cord"/>
        <general site="wrist" dyntype="filterexact" dynprm="1"/>
        <general jointinparent="swing" dyntype="integrator" gaintype="affine" biastype="affine"/>)";
    all.tendon = R"(stiffness="1" damping="2" armature="3" frictionloss="4" range="-1 1")";
    all.world = R"(<body name="hand" mocap="true"/>)";
    all.after = R"(<equality><joint joint1="swing" joint2="drop"/>
        <connect site1="wrist" site2="end"/><weld body1="upper" body2="lower"/></equality>
        <sensor><touch site="wrist"/><contact geom1="shell" data="found"/></sensor>)";
    CHECK(refused(all) == "no error");
}

TEST_CASE("supported robots: options that are refused") {
    HINDCAST_NEEDS_MUJOCO();
    Parts parts;
    parts.option = R"(density="1.2")";
    CHECK(refused(parts) ==
          "option density = 1.2: forces of a fluid are not supported; set it to 0");
    parts.option = R"(viscosity="0.25")";
    CHECK(refused(parts) ==
          "option viscosity = 0.25: forces of a fluid are not supported; set it to 0, and give the "
          "joints damping");
    parts.option = R"(integrator="implicit")";
    CHECK(refused(parts) ==
          "option integrator = implicit is not supported; write Euler, implicitfast, discrete or "
          "RK4");
    parts.option = R"(noslip_iterations="3")";
    CHECK(refused(parts) ==
          "option noslip_iterations = 3: the no-slip solver is not supported; set it to 0, and "
          "raise impratio against slip");
    CHECK(refused_flag("override") ==
          "flag override = enable is not supported; write margin, solref, solimp and friction in "
          "the geoms");
    CHECK(refused_flag("sleep") ==
          "flag sleep = enable is not supported; remove it: bodies at rest are simulated like "
          "others");
    parts = {};
    parts.option = R"(integrator="discrete")";
    parts.flag = R"(ipc="enable")";
    CHECK(refused(parts) == "flag ipc = enable is not supported; remove it");
    CHECK(refused_flag("diagexact") == "flag diagexact = enable is not supported; remove it");
    CHECK(refused_flag("speculative") ==
          "flag speculative = enable is not supported; remove it, and take a smaller time step");
}

TEST_CASE("supported robots: joints and tendons that are refused") {
    HINDCAST_NEEDS_MUJOCO();
    Parts parts;
    parts.joint = R"(stiffness="1 2")";
    CHECK(refused(parts) ==
          "joint 'swing' has a spring that is not linear, which is not supported; write one number "
          "as stiffness");
    parts.joint = R"(damping="1 0 2")";
    CHECK(refused(parts) ==
          "joint 'swing' has damping that is not linear, which is not supported; write one number "
          "as damping");
    parts.joint = R"(stiffness="1" springyield="0.1")";
    CHECK(refused(parts) ==
          "joint 'swing' has a spring that yields, which is not supported; remove springyield");
    parts = {};
    parts.tendon = R"(stiffness="1 2")";
    CHECK(refused(parts) ==
          "tendon 'cord' has a spring that is not linear, which is not supported; write one number "
          "as stiffness");
    parts.tendon = R"(damping="1 2")";
    CHECK(refused(parts) ==
          "tendon 'cord' has damping that is not linear, which is not supported; write one number "
          "as damping");
    parts.tendon = R"(stiffness="1" springyield="0.1")";
    CHECK(refused(parts) ==
          "tendon 'cord' has a spring that yields, which is not supported; remove springyield");
}

TEST_CASE("supported robots: geoms and bodies that are refused") {
    HINDCAST_NEEDS_MUJOCO();
    Parts parts;
    parts.geom = R"(surfacevel="1 0 0 0 0 0")";
    CHECK(refused(parts) ==
          "geom 'shell' has a moving surface, which is not supported; remove surfacevel, and move "
          "the body");
    parts.geom = R"(adhesion="2")";
    CHECK(refused(parts) ==
          "geom 'shell' is adhesive, which is not supported; remove adhesion, or hold with an "
          "equality constraint");
    parts = {};
    parts.after =
        R"(<contact><pair name="grip" geom1="shell" geom2="tip" adhesion="1"/></contact>)";
    CHECK(refused(parts) ==
          "pair 'grip' is adhesive, which is not supported; remove adhesion, or hold with an "
          "equality constraint");
    parts = {};
    parts.before = R"(<asset><mesh name="m" vertex="0 0 0  1 0 0  0 1 0  0 0 1  1 1 1"/></asset>)";
    parts.world = R"(<geom name="field" type="sdf" mesh="m"/>)";
    CHECK(refused(parts) ==
          "geom 'field' is a signed distance field, which is not supported; write a mesh, or "
          "several that are convex");
    parts = {};
    parts.world = R"(<body name="table"><flexcomp name="cloth" type="grid" dim="2" count="3 3 1"
        spacing="0.1 0.1 0.1" mass="1"/></body>)";
    CHECK(refused(parts) ==
          "flex 'cloth' deforms, which is not supported; write it as a body of the scene: cloth, "
          "rods or solids");
}

TEST_CASE("supported robots: actuators that are refused") {
    HINDCAST_NEEDS_MUJOCO();
    CHECK(refused_actuator(R"(<muscle name="biceps" joint="swing" lengthrange="0 1"/>)") ==
          "actuator 'biceps' is a muscle, which is not supported" + write_a_motor);
    CHECK(refused_actuator(
              R"(<dcmotor name="drive" joint="swing" resistance="1" motorconst="1"/>)") ==
          "actuator 'drive' is a DC motor, which is not supported" + write_a_motor);
    CHECK(refused_actuator(R"(<pid name="servo" joint="swing" kp="1"/>)") ==
          "actuator 'servo' is a PID controller, which is not supported" + write_a_motor);
    for (const char* const user :
         {R"(dyntype="user" actdim="1")", R"(gaintype="user")", R"(biastype="user")"})
        CHECK(
            refused_actuator(std::string(R"(<general name="own" joint="swing" )") + user + "/>") ==
            "actuator 'own' is computed by a callback, which is not supported" + write_a_motor);
    CHECK(refused_actuator(R"(<adhesion name="pad" body="upper" ctrlrange="0 1"/>)") ==
          "actuator 'pad' is adhesive, which is not supported; hold with an equality constraint");
    CHECK(
        refused_actuator(
            R"(<general name="rod" cranksite="wrist" slidersite="end" cranklength="1"/>)") ==
        "actuator 'rod' acts by a slider-crank, which is not supported; build the crank of bodies "
        "and a connect constraint");
    CHECK(refused_actuator(R"(<motor name="late" joint="swing" delay="0.01" nsample="8"/>)") ==
          "actuator 'late' is delayed, which is not supported; remove delay and nsample");
    const std::string own =
        "actuator 'heavy' has damping or armature of its own, which is not supported; write them "
        "in "
        "its joint or tendon, times the square of the gear";
    CHECK(refused_actuator(R"(<motor name="heavy" joint="swing" armature="1"/>)") == own);
    CHECK(refused_actuator(R"(<motor name="heavy" joint="swing" damping="1"/>)") == own);
    Parts parts;
    parts.world = R"(<body name="head"><joint name="neck" type="ball"/><geom size="1"/></body>)";
    parts.actuator = R"(<orientation name="gaze" joint="neck" kp="1"/>)";
    CHECK(refused(parts) ==
          "actuator 'gaze' acts on an orientation, which is not supported; write three motors on "
          "the ball joint, with gear");
}

TEST_CASE("supported robots: sensors that are refused") {
    HINDCAST_NEEDS_MUJOCO();
    Parts parts;
    parts.after = R"(<sensor><user name="own" dim="1"/></sensor>)";
    CHECK(refused(parts) ==
          "sensor 'own' is computed by a callback, which is not supported; remove it");
    parts.after =
        R"(<sensor><jointpos name="slow" joint="swing" delay="0.01" nsample="8"/></sensor>)";
    CHECK(refused(parts) ==
          "sensor 'slow' is delayed or sampled, which is not supported; remove delay, nsample and "
          "interval");
}

TEST_CASE("supported robots: several refusals come in one error") {
    HINDCAST_NEEDS_MUJOCO();
    Parts parts;
    parts.joint = R"(springyield="0.1" stiffness="1")";
    parts.actuator = R"(<pid name="servo" joint="swing" kp="1"/>)";
    CHECK(refused(parts) ==
          "joint 'swing' has a spring that yields, which is not supported; remove springyield\n"
          "  actuator 'servo' is a PID controller, which is not supported" +
              write_a_motor);
}

TEST_CASE("supported robots: what only looks is noted") {
    HINDCAST_NEEDS_MUJOCO();
    Parts parts;
    parts.option = R"(solver="PGS")";
    parts.before = R"(<asset><texture name="sky" type="skybox" builtin="flat" width="8" height="8"/>
        <material name="red"/><material name="blue"/></asset>)";
    parts.world = R"(<light/><light/><camera name="eye"/><camera name="seen" resolution="10 10"/>
        <geom size="1" contype="0" conaffinity="0"/><geom name="paired" size="1" contype="0" conaffinity="0"/>)";
    parts.after = R"(<contact><pair geom1="paired" geom2="tip"/></contact>
        <sensor><camprojection camera="seen" site="wrist"/></sensor>)";
    const RobotModel model = RobotModel::from_text(arm(parts));
    const Support support = support_of(model);
    CHECK(support.refusals.empty());
    CHECK(support.notes == std::vector<std::string>{
                               "solver = pgs is not used: Newton's method solves the same problem",
                               "1 camera is for looks only", "2 lights are for looks only",
                               "2 materials are for looks only", "1 texture is for looks only",
                               "1 geom touches nothing"});
}
