// Articulated bodies against MuJoCo: accelerations of random states, states after a step with each
// integrator, and trajectories.
#include <doctest/doctest.h>

#include "tests/robots/compare_steps.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

template <class Text>
void compare(const std::string& name, const Text& text_of, const std::string& integrator,
             int states = 100) {
    CAPTURE(name);
    CAPTURE(integrator);
    const StepErrors e = compare_steps(text_of, integrator, states);
    CHECK(e.acceleration < 1e-9);
    CHECK(e.position < 1e-9);
    CHECK(e.velocity < 1e-9);
    CHECK(e.activation < 1e-12);
}

// A model of MuJoCo's wheels with everything off that is not simulated.
std::string unconstrained(const std::string& file, const std::string& integrator) {
    return R"(<mujoco><include file=")" +
           (robot_models_folder() / "mjx/mujoco/mjx/test_data" / file).string() +
           R"("/><option timestep="0.005" integrator=")" + integrator +
           R"("><flag constraint="disable"/></option></mujoco>)";
}

// The same of a robot in URDF, without what is only seen or touched: joints and inertias.
std::string without_shapes(const std::filesystem::path& file, const std::string& integrator) {
    std::ifstream in(file);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    for (const std::string element : {"visual", "collision"}) {
        // "<collision>" and "<collision name=...", not "<collision_checking>".
        const std::string end = "</" + element + ">";
        std::size_t from = 0;
        while ((from = text.find("<" + element, from)) != std::string::npos) {
            if (text[from + element.size() + 1] == '_') {
                ++from;
                continue;
            }
            text.erase(from, text.find(end, from) + end.size() - from);
        }
    }
    const std::size_t head = text.find('>', text.find("<robot")) + 1;
    return text.insert(head, "<mujoco><option timestep=\"0.005\" integrator=\"" + integrator +
                                 "\"><flag constraint=\"disable\"/></option></mujoco>");
}

}  // namespace

TEST_CASE("articulated bodies accelerate and step as MuJoCo's do") {
    HINDCAST_NEEDS_MUJOCO();
    for (const RobotText& robot : robot_texts())
        for (const char* integrator : {"RK4", "Euler", "implicitfast", "discrete"})
            compare(
                robot.name, [&](const std::string& word) { return with_integrator(robot, word); },
                integrator);
}

TEST_CASE("models of MuJoCo's wheels accelerate and step as in MuJoCo, without constraints") {
    HINDCAST_NEEDS_MUJOCO();
    if (!std::filesystem::exists(robot_models_folder() / "mjx")) HINDCAST_SKIP("no models of MJX");
    for (const char* file : {"humanoid/humanoid.xml", "pendula.xml", "tendon/fixed.xml"})
        for (const char* integrator : {"RK4", "Euler", "implicitfast", "discrete"})
            compare(
                file, [&](const std::string& word) { return unconstrained(file, word); },
                integrator);
}

TEST_CASE("robots in URDF accelerate and step as in MuJoCo, without constraints") {
    HINDCAST_NEEDS_MUJOCO();
    const std::filesystem::path folder =
        robot_models_folder() / "robots/cmeel.prefix/share/example-robot-data/robots";
    if (!std::filesystem::exists(folder)) HINDCAST_SKIP("no example-robot-data");
    for (const char* file :
         {"panda_description/urdf/panda.urdf", "go2_description/urdf/go2.urdf",
          "simple_humanoid_description/urdf/simple_humanoid.urdf",
          "solo_description/robots/solo12.urdf", "talos_data/robots/talos_full_v2.urdf"})
        for (const char* integrator : {"RK4", "Euler", "implicitfast", "discrete"})
            compare(
                file, [&](const std::string& word) { return without_shapes(folder / file, word); },
                integrator, 20);
}

TEST_CASE("200 steps of articulated bodies that are not chaotic are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const std::size_t number : {0U, 2U, 4U}) {
        const RobotText& robot = robot_texts()[number];
        CAPTURE(robot.name);
        for (const char* integrator : {"RK4", "Euler", "implicitfast", "discrete"}) {
            CAPTURE(integrator);
            const std::string text = with_integrator(robot, integrator);
            Oracle oracle(text, "robot.xml");
            Ours ours(text, robot_step, 200);
            std::mt19937_64 generator(11);
            RobotState state = oracle.random_state(generator);
            for (double& v : state.qvel) v *= 0.1;
            oracle.set(state);
            ours.set(state);
            for (int k = 0; k < 200; ++k) oracle.step();
            ours.run();
            const std::vector<double> expected = oracle.state().qpos, found = ours.array("qpos");
            double largest = 0;
            for (std::size_t k = 0; k < found.size(); ++k)
                largest = std::max(largest, std::fabs(found[k] - expected[k]));
            CHECK(largest < 1e-7);
        }
    }
}
