// The measured motion of a robot in the picture: a ghost that is switched off and on.
#include <doctest/doctest.h>

#include <fstream>

#include "app/gui/input/actions.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/view/looks.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/mujoco.hpp"

using namespace hindcast;
using test::Robot;

namespace {

// A rod that hangs at rest, and was measured to stand out by 90 degrees, from 0.1 s to 0.4 s. Another
// joint turns it about its axis and was not measured.
void open_rod(Robot& robot) {
    std::ofstream(robot.folder() / "rod.xml") << R"(<mujoco><option gravity="0 0 0"/><worldbody>
      <body pos="0 0 1"><joint name="swing" axis="0 1 0"/><joint name="spin" axis="0 0 1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05" mass="1"/></body>
      </worldbody></mujoco>)";
    std::ofstream(robot.folder() / "rod.csv") << "time,angle\n0.1,1.5708\n0.4,1.5708\n";
    std::ofstream(robot.folder() / "rod.json") << R"({"format": 1, "name": "rod",
      "time": {"step": 0.01, "steps": 60},
      "bodies": [{"type": "articulated", "name": "rod", "model": "rod.xml"}],
      "objective": [{"type": "measured", "name": "encoder", "of": "rod", "file": "rod.csv",
        "channels": [{"column": "angle", "array": "qpos", "index": "swing"}]}],
      "parameters": [{"path": "rod.qpos[swing]"}],
      "view": {"camera": {"eye": [0, -3, 1], "target": [0, 0, 1]}}})";
    robot.work().opening.open(robot.folder() / "rod.json");
    REQUIRE(test::opened(robot));
}

// Pixels of the view that are red, as the ghost is.
int red(Robot& robot, ImGuiTestContext& hands) {
    const ImRect view = hands.ItemInfo("//###View/picture").RectFull;
    const render::Image image = robot.app().screenshot();
    int count = 0;
    for (int y = static_cast<int>(view.Min.y) + 60; y < static_cast<int>(view.Max.y) - 20; ++y)
        for (int x = static_cast<int>(view.Min.x) + 20; x < static_cast<int>(view.Max.x) - 120;
             ++x) {
            const std::uint8_t* const p =
                &image.pixels[4 *
                              (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                               static_cast<std::size_t>(x))];
            count += p[0] > p[1] + 25 && p[0] > p[2] + 25;
        }
    return count;
}

void show_step(Robot& robot, std::int64_t step) {
    test::stop_at(robot, step);
    REQUIRE(robot.wait([&] {
        const render::Frame* const frame = robot.app().picture().frame();
        return frame != nullptr && frame->step == step;
    }));
    robot.frames(3);
}

}  // namespace

TEST_CASE("gui: the measured motion is a ghost that can be switched off") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot({.draws = true});
    robot.run([&](ImGuiTestContext& hands) {
        const gui::Actions actions;
        test::open(robot, "spring_cage.json");
        CHECK_FALSE(actions.run("measured_motion", robot.work()));  // there is nothing measured
        CHECK(robot.work().looks.show_measured);
        open_rod(robot);
        robot.work().requests.focus_panel = "Identification";
        show_step(robot, 25);
        robot.picture("measured_motion");
        constexpr int seen = 500;
        CHECK(red(robot, hands) > seen);
        REQUIRE(actions.run("measured_motion", robot.work()));
        robot.frames(3);
        robot.picture("measured_motion_off");
        CHECK(red(robot, hands) == 0);
        REQUIRE(actions.run("measured_motion", robot.work()));
        robot.frames(3);
        CHECK(red(robot, hands) > seen);
        // Before and after the record.
        for (const std::int64_t step : {0, 9, 41, 60}) {
            show_step(robot, step);
            CHECK(red(robot, hands) == 0);
        }
        for (const std::int64_t step : {10, 40}) {
            show_step(robot, step);
            CHECK(red(robot, hands) > seen);
        }
        CHECK(robot.messages().empty());
    });
}
