// Constraints of articulated bodies against MuJoCo: accelerations of random states, and velocities after
// a step, with limits, friction loss and equalities.
#include <doctest/doctest.h>

#include "tests/robots/compare_steps.hpp"
#include "tests/robots/constrained_models.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

template <class Text>
void compare(const std::string& name, const Text& text_of, const std::string& integrator,
             int states = 100) {
    CAPTURE(name);
    CAPTURE(integrator);
    const StepErrors e = compare_steps(text_of, integrator, states);
    // MuJoCo's search places contacts of meshes with what is round up to some 1e-7 m beside.
    const bool searched = name.find("meshes") != std::string::npos;
    CHECK(e.acceleration < (searched ? 1e-5 : 1e-9));
    CHECK(e.position < (searched ? 1e-6 : 1e-9));
    CHECK(e.velocity < (searched ? 1e-5 : 1e-9));
}

// A model of MuJoCo's wheels, its solver asked for all digits.
std::string exact(const std::string& file, const std::string& integrator) {
    const std::filesystem::path path = robot_models_folder() / "mjx/mujoco/mjx/test_data" / file;
    return R"(<mujoco><include file=")" + path.string() + R"("/><compiler meshdir=")" +
           (path.parent_path() / "assets").string() +
           R"("/><option timestep="0.005" solver="Newton" tolerance="0" iterations="200"
             ls_tolerance="1e-12" ls_iterations="100" integrator=")" +
           integrator + R"("><flag warmstart="disable"/></option></mujoco>)";
}

}  // namespace

TEST_CASE("constraints of articulated bodies: accelerations and steps are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const RobotText& robot : constrained_texts())
        for (const char* integrator : {"RK4", "Euler", "implicitfast", "discrete"})
            compare(
                robot.name, [&](const std::string& word) { return with_integrator(robot, word); },
                integrator);
}

TEST_CASE("constraints of models of MuJoCo's wheels are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    if (!std::filesystem::exists(robot_models_folder() / "mjx")) HINDCAST_SKIP("no models of MJX");
    for (const char* file :
         {"humanoid/humanoid.xml", "humanoid/02_humanoids.xml", "pendula.xml",
          "quadratic_frictionloss.xml", "shadow_hand/right_hand.xml", "tendon/fixed.xml"})
        for (const char* integrator : {"RK4", "Euler", "implicitfast", "discrete"})
            compare(
                file, [&](const std::string& word) { return exact(file, word); }, integrator, 20);
}

TEST_CASE(
    "constraints at the end of the step: stiff, saturated and unguarded springs are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    const auto text = [](const std::string& cone, const std::string& guard, const std::string& soft,
                         const std::string& integrator) {
        return R"(<mujoco><option timestep="0.005" solver="Newton" tolerance="0" iterations="200"
             ls_tolerance="1e-12" ls_iterations="100" impratio="2" integrator=")" +
               integrator + R"(" cone=")" + cone + R"("><flag warmstart="disable" refsafe=")" +
               guard + R"("/></option>
          <worldbody><geom name="floor" type="plane" size="2 2 1" )" +
               soft + R"( priority="1"/>
            <body pos="0 0 0.35"><joint name="a" axis="0 1 0" damping="3" range="-10 10"
              solreflimit="0.0015 0.8"/><geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0"/>
              <body pos="0.3 0 0"><joint name="b" axis="0 1 0.3" damping="2" stiffness="30"
                  frictionloss="0.3"/>
                <geom name="shin" type="capsule" size="0.05" fromto="0 0 0 0.4 0 0" condim="6"
                      friction="0.7 0.1 0.02"/></body></body>
            <body pos="1 0 0.09"><freejoint/><geom name="box" type="box" size="0.1 0.2 0.1"/></body>
          </worldbody>
          <contact><pair geom1="floor" geom2="box" solref="0.0025 0.6" solreffriction="0.025 1.2"/></contact>
          <actuator><position joint="b" kp="50" kv="3"/></actuator></mujoco>)";
    };
    for (const char* const cone : {"pyramidal", "elliptic"})
        for (const char* const guard : {"enable", "disable"})
            for (const char* const soft :
                 {R"(solref="0.002 1")", R"(solref="0.0048 1" solimp="0.5 0.99 0.3 0.5 2")",
                  R"(solref="0.002 0.7" solimp="0.9 0.9999 0.01 0.5 2")",
                  R"(solref="0.01 1" solimp="0.9998 0.9998 0.01 0.5 2")",
                  R"(solref="-400000 -100")", R"(solref="-400000 -4000")"}) {
                CAPTURE(cone);
                CAPTURE(guard);
                CAPTURE(soft);
                const auto compare = [&](const char* integrator) {
                    CAPTURE(integrator);
                    const std::string model = text(cone, guard, soft, integrator);
                    const StepErrors e =
                        compare_steps([&](const std::string&) { return model; }, integrator, 20);
                    CHECK(e.position < 1e-9);
                    CHECK(e.velocity < 1e-9);
                };
                compare("discrete");
                for (const char* const integrator : {"Euler", "implicitfast"}) compare(integrator);
            }
}

TEST_CASE("contacts without a guard of their time constants are MuJoCo's, with every integrator") {
    HINDCAST_NEEDS_MUJOCO();
    for (const char* const guard : {"enable", "disable"})
        for (const char* const integrator : {"RK4", "Euler", "implicitfast", "discrete"}) {
            CAPTURE(guard);
            CAPTURE(integrator);
            const auto text = [&](const std::string& word) {
                return R"(<mujoco><option timestep="0.005" solver="Newton" tolerance="0"
                  iterations="200" ls_tolerance="1e-12" ls_iterations="100" integrator=")" +
                       word + R"("><flag warmstart="disable" refsafe=")" + guard +
                       R"("/></option><worldbody>
                  <geom type="plane" size="5 5 1" pos="0 0 -1" solref="0.008 1"/>
                  <body><freejoint/><geom type="box" size="0.1 0.2 0.15" solref="0.008 1"/></body>
                </worldbody></mujoco>)";
            };
            const StepErrors e = compare_steps(text, integrator, 40);
            CHECK(e.position < 1e-9);
            CHECK(e.velocity < 1e-9);
        }
}
