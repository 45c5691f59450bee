// Shots of a bead on a rod, which nothing pulls: positions and jumps have closed forms.
#include <doctest/doctest.h>

#include "engine/model/residuals.hpp"
#include "tests/identification/measured_scene.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/mujoco.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

const char* const bead = R"(<mujoco><option gravity="0 0 0"/><worldbody><body>
  <joint name="rod" type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
  </body></worldbody></mujoco>)";

const char* const recording = "t,x,v\n5,0.1,1\n5.1,0.3,2\n5.2,0.2,1\n5.3,0,-1\n";

// The robot begins elsewhere: the first shot sets it.
std::string bead_scene(const std::string& controllers, const std::string& objectives = "") {
    return R"({"format": 1, "time": {"step": 0.01, "steps": 30},
      "bodies": [{"type": "articulated", "name": "bead", "model": "bead.xml", "qpos": [9], "qvel": [9]}],
      "controllers": [)" +
           controllers + R"(], "objective": [)" + objectives + "]}";
}

const std::string written =
    R"({"type": "shots", "name": "shots", "of": "bead", "times": [0, 0.1, 0.25],
  "qpos": [[0.5], [0.7], [-0.2]], "qvel": [[3], [1], [-2]]})";

std::unique_ptr<Simulation> bead_on_rod(const TemporaryFolder& folder, const std::string& scene) {
    put_file(folder, "bead.xml", bead);
    put_file(folder, "bead.csv", recording);
    return measured_scene(folder, scene);
}

std::string refusal(const std::string& controllers, const std::string& objectives = "") {
    const TemporaryFolder folder;
    return message([&] { bead_on_rod(folder, bead_scene(controllers, objectives)); });
}

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("shots: the state is set where each begins, bodies and points with it") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    const auto simulation = bead_on_rod(folder, bead_scene(written));
    simulation->run(false, [&](std::int64_t done) {
        const double t = 0.01 * static_cast<double>(done);
        // After a step: where the shot that the step belongs to has come to.
        const double x = done == 0    ? 9
                         : done <= 10 ? 0.5 + 3 * t
                         : done <= 25 ? 0.7 + t - 0.1
                                      : -0.2 - 2 * (t - 0.25);
        CHECK(simulation->model().array("bead.qpos").value(0) == doctest::Approx(x));
        CHECK(simulation->model().array("bead.xpos").value(1, 0) == doctest::Approx(x));
        CHECK(simulation->model().array("position").value(0, 0) == doctest::Approx(x));
        return true;
    });
}

TEST_CASE("shots: samples belong to the shot that begins at their time") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    put_file(folder, "samples.csv", "time,x\n0,0\n0.095,0\n0.1,0\n0.104,0\n0.25,0\n");
    const auto simulation = bead_on_rod(
        folder, bead_scene(written, R"({"type": "measured", "name": "ruler", "of": "bead",
          "file": "samples.csv", "channels": [{"column": "x", "array": "qpos", "index": "rod"}]})"));
    simulation->run();
    const auto r = simulation->model().array("ruler.residual").to_doubles();
    const double expected[] = {0.5, 0.5 + 3 * 0.095, 0.7, 0.704, -0.2};
    REQUIRE(r.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(r[i] == doctest::Approx(expected[i]).epsilon(1e-12));
}

TEST_CASE("shots: states of a file, along the line between its rows") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    const auto simulation = bead_on_rod(
        folder, bead_scene(R"({"type": "shots", "name": "shots", "of": "bead", "every": 0.15,
          "file": "bead.csv", "time": "t", "start": 5, "qpos_columns": ["x"], "qvel": [[1], [2]]})"));
    CHECK(simulation->model().find_quantity("shots.qpos")->values[0] == doctest::Approx(0.1));
    CHECK(simulation->model().find_quantity("shots.qpos")->values[1] == doctest::Approx(0.25));
    CHECK(simulation->model().find_quantity("shots.qvel")->values == std::vector<double>{1, 2});
    CHECK(simulation->model().shared<model::Residuals>().of_one_recording ==
          std::set<std::string>{"shots.qpos", "shots.qvel"});
}

TEST_CASE("shots: jumps, and their loss") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    const auto simulation = bead_on_rod(
        folder, bead_scene(written, R"({"type": "continuity", "name": "joined", "of": "shots",
                                        "sigma": [0.1, 0.5], "weight": 2})"));
    const double loss = simulation->run();
    // Arrived minus begun: 0.8 - 0.7 and 0.85 + 0.2; 3 - 1 and 1 + 2.
    const double expected[] = {1, 10.5, 4, 6};
    const auto r = simulation->model().array("joined.residual").to_doubles();
    REQUIRE(r.size() == 4);
    double squares = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(r[i] == doctest::Approx(expected[i]).epsilon(1e-11));
        squares += expected[i] * expected[i];
    }
    CHECK(loss == doctest::Approx(squares));
}

TEST_CASE("shots: what is wrong is said") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string begin = R"({"type": "shots", "name": "shots", "of": "bead", )";
    CHECK(contains(refusal(begin + R"("qpos": 1, "qvel": 1})"), "one of \"every\" and \"times\""));
    CHECK(contains(refusal(begin + R"("every": 0.105, "qpos": 1, "qvel": 1})"),
                   "0.105 s is not the time"));
    CHECK(contains(refusal(begin + R"("times": [0.1], "qpos": 1, "qvel": 1})"), "begins at 0"));
    CHECK(contains(refusal(begin + R"("times": [0, 0.2, 0.1], "qpos": 1, "qvel": 1})"),
                   "/controllers/0/times/2"));
    CHECK(
        contains(refusal(begin + R"("times": [0, 0.4], "qpos": 1, "qvel": 1})"), "after the run"));
    CHECK(contains(refusal(begin + R"("every": 0.1, "qvel": 1})"), "nothing says qpos"));
    CHECK(contains(
        refusal(
            begin +
            R"("every": 0.1, "qvel": 1, "file": "bead.csv", "time": "t", "qpos_columns": ["x"]})"),
        "from 5 s to 5.3 s"));
    CHECK(contains(
        refusal(
            begin +
            R"("every": 0.1, "qvel": 1, "file": "bead.csv", "time": "t", "start": 5, "qpos_columns": ["x", "v"]})"),
        "2 columns for 1"));
    const std::string good = begin + R"("every": 0.1, "qpos": 1, "qvel": 1})";
    CHECK(
        contains(refusal(good, R"({"type": "continuity", "of": "shot"})"), "did you mean 'shots'"));
    CHECK(contains(refusal(begin + R"("every": 0.5, "qpos": 1, "qvel": 1})",
                           R"({"type": "continuity", "of": "shots"})"),
                   "there is one shot"));
    CHECK(
        contains(refusal("", R"({"type": "continuity", "of": "shots"})"), "no controller of type"));
}
