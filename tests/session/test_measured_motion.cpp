// Where a robot was measured to be, as frames have it: an arm whose shoulder was measured, against the
// closed form of where its parts are.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <optional>

#include "app/session/frames/frame_recorder.hpp"
#include "app/session/frames/scene_info.hpp"
#include "tests/identification/measured_scene.hpp"
#include "tests/support/mujoco.hpp"

using namespace hindcast;
using test::measured_scene;
using test::put_file;

namespace {

constexpr double h = 0.01;

// The lower part begins 0.5 m along the upper one. Nothing but the joints' speeds moves it.
void put_arm(const test::TemporaryFolder& folder) {
    put_file(folder, "arm.xml", R"(<mujoco><option gravity="0 0 0"/><worldbody>
      <geom type="box" size="0.1 0.1 0.1"/>
      <body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05" mass="1"/>
        <body name="lower" pos="0.5 0 0"><joint name="elbow" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04" mass="0.5"/></body></body>
      </worldbody></mujoco>)");
}

std::string arm_scene(const std::string& channels, const std::string& keys = "") {
    return R"({"format": 1, "time": {"step": 0.01, "steps": 40},
      "bodies": [{"type": "articulated", "name": "arm", "model": "arm.xml", "qvel": [0.3, 2]}],
      "objective": [{"type": "measured", "name": "encoder", "of": "arm", "file": "arm.csv",
        "channels": [)" +
           channels + "]" + keys + "}]}";
}

const std::string shoulder = R"({"column": "angle", "array": "qpos", "index": "shoulder"})";

// In the order of the stage: the numbers of each ghost at each whole step, and the elbow's angle.
struct Look {
    std::map<std::int64_t, std::vector<std::vector<double>>> ghosts;
    std::map<std::int64_t, double> elbow;
    std::vector<render::Drawable> drawables;
};

Look look_at(Simulation& simulation) {
    Look look;
    const auto scene = session::make_scene_info(simulation);
    const auto base = session::numbers_of(simulation);
    session::FrameKernels kernels(simulation.options().device);
    session::FrameRecorder recorder(kernels, nullptr);
    recorder.watch(simulation.model(), scene->plan.points,
                   std::make_shared<const std::vector<std::string>>(scene->kept({})));
    for (const render::Drawable& drawable : scene->plan.stage->drawables)
        if (drawable.measured) look.drawables.push_back(drawable);
    simulation.run(false, [&](std::int64_t step) {
        const session::FramePointer frame = recorder.record(step);
        const auto numbers =
            scene->drawable_numbers(*base, nullptr, h * static_cast<double>(step), frame.get());
        for (std::size_t k = 0; k < numbers.size(); ++k)
            if (scene->plan.stage->drawables[k].measured) look.ghosts[step].push_back(numbers[k]);
        look.elbow[step] = simulation.model().array("arm.qpos").value(1);
        return true;
    });
    return look;
}

// Along lines between the samples that put_samples() writes; nothing outside.
std::optional<double> measured_at(double time) {
    constexpr double times[] = {0.05, 0.1, 0.17, 0.25}, angles[] = {0.2, -0.1, 0.4, 0.5};
    for (std::size_t k = 0; k < 3; ++k)
        if (time >= times[k] - 1e-9 && time <= times[k + 1] + 1e-9)
            return angles[k] +
                   (time - times[k]) / (times[k + 1] - times[k]) * (angles[k + 1] - angles[k]);
    return std::nullopt;
}

void put_samples(const test::TemporaryFolder& folder) {
    put_file(folder, "arm.csv",
             "time,angle,speed\n0.05,0.2,0\n0.1,-0.1,0\n0.17,0.4,0\n0.25,0.5,0\n");
}

// Place, and rotation about y by rows.
std::vector<double> pose(double x, double z, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return {x, 0, z, c, 0, s, 0, 1, 0, -s, 0, c};
}

void check_numbers(const std::vector<double>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k)
        CHECK(found[k] == doctest::Approx(expected[k]).epsilon(1e-12).scale(1));
}

// angle = scale m + offset at times by `delay` later.
void check_look(const Look& look, double delay, double scale, double offset) {
    REQUIRE(look.ghosts.size() >= 40);
    int drawn = 0;
    for (const auto& [step, ghosts] : look.ghosts) {
        CAPTURE(step);
        REQUIRE(ghosts.size() == 2);  // not what rests
        const auto measured = measured_at(h * static_cast<double>(step) + delay);
        if (!measured) {
            CHECK(ghosts[0].empty());
            CHECK(ghosts[1].empty());
            continue;
        }
        ++drawn;
        const double angle = scale * *measured + offset;
        check_numbers(ghosts[0], pose(0, 1, angle));
        check_numbers(ghosts[1], pose(0.5 * std::cos(angle), 1 - 0.5 * std::sin(angle),
                                      angle + look.elbow.at(step)));
    }
    CHECK(drawn == 21);                         // the record lasts 20 steps
    CHECK(std::fabs(look.elbow.at(20)) > 0.1);  // it does move
}

}  // namespace

TEST_CASE("session: the measured motion is where the samples say, and only then") {
    HINDCAST_NEEDS_MUJOCO();
    const test::TemporaryFolder folder;
    put_arm(folder);
    put_samples(folder);
    SUBCASE("as the file has it") {
        const auto simulation = measured_scene(folder, arm_scene(shoulder));
        const Look look = look_at(*simulation);
        check_look(look, 0, 1, 0);
        for (const render::Drawable& drawable : look.drawables) {
            CHECK(drawable.name == "encoder");
            CHECK(drawable.ghost);
            CHECK(drawable.measured_partly);  // the elbow is as simulated
        }
    }
    SUBCASE("delayed, scaled, with an offset") {
        const auto simulation = measured_scene(
            folder, arm_scene(shoulder, R"(, "delay": 0.03, "scale": 2, "offset": 0.1)"));
        check_look(look_at(*simulation), 0.03, 2, 0.1);
    }
    SUBCASE("a motion that begins before it is measured") {
        const auto simulation = measured_scene(folder, arm_scene(shoulder, R"(, "delay": -0.05)"));
        check_look(look_at(*simulation), -0.05, 1, 0);
    }
}

TEST_CASE("session: what is not measured of a robot has no ghost") {
    HINDCAST_NEEDS_MUJOCO();
    const test::TemporaryFolder folder;
    put_arm(folder);
    put_samples(folder);
    SUBCASE("speeds alone") {
        const auto simulation =
            measured_scene(folder, arm_scene(R"({"column": "speed", "array": "qvel"})"));
        CHECK(look_at(*simulation).drawables.empty());
    }
    SUBCASE("all joints: none is as simulated") {
        const auto simulation = measured_scene(
            folder,
            arm_scene(shoulder + R"(, {"column": "speed", "array": "qpos", "index": "elbow"})"));
        Look look = look_at(*simulation);
        REQUIRE(look.drawables.size() == 2);
        CHECK_FALSE(look.drawables[0].measured_partly);
        for (const std::int64_t step : {5, 12, 25}) {
            const double angle = *measured_at(h * static_cast<double>(step));
            check_numbers(look.ghosts.at(step)[1],
                          pose(0.5 * std::cos(angle), 1 - 0.5 * std::sin(angle), angle));
        }
    }
}

TEST_CASE("session: a ghost of the measured motion changes no bit of a run") {
    HINDCAST_NEEDS_MUJOCO();
    const test::TemporaryFolder folder;
    put_arm(folder);
    put_samples(folder);
    const auto looked_at = measured_scene(folder, arm_scene(shoulder)),
               alone = measured_scene(folder, arm_scene(shoulder));
    look_at(*looked_at);
    alone->run();
    for (const char* array : {"arm.qpos", "arm.qvel", "arm.xpos", "encoder.residual"})
        CHECK(looked_at->model().array(array).to_doubles() ==
              alone->model().array(array).to_doubles());
}
