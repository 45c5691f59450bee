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
        for (const char* integrator : {"RK4", "Euler", "implicitfast"})
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
        for (const char* integrator : {"RK4", "Euler", "implicitfast"})
            compare(
                file, [&](const std::string& word) { return exact(file, word); }, integrator, 20);
}
