// The tools at the bottom say what is true of the scene that is open, and of nothing else.
#include <imgui_internal.h>

#include <cmath>

#include "app/gui/window.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/environment.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

void press_panel(Robot& robot, const std::string& panel) {
    robot.work().focus_panel = panel;
    robot.frames(4);
}

// The number field of a panel takes what is typed.
void type(ImGuiTestContext& hands, const std::string& item, const std::string& text) {
    hands.ItemDoubleClick(item.c_str());
    hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
    hands.KeyCharsReplaceEnter(text.c_str());
}

}  // namespace

TEST_CASE("gui: measuring launches leaves what is shown the iteration that it is") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        optimise(robot, hands);
        REQUIRE(robot.now().shown_iteration == 30);
        const double loss = robot.now().loss;
        press_panel(robot, "Launches");
        hands.ItemClick("//###Launches/Measure");
        const auto has = [&](Direction direction) {
            return std::ranges::any_of(robot.now().launches, [&](const session::LaunchInfo& l) {
                return l.direction == direction && l.runs > 0;
            });
        };
        // It ran once more, forwards and backwards.
        CHECK(robot.wait([&] { return has(Direction::forward) && has(Direction::adjoint); }));
        CHECK(robot.wait([&] { return robot.now().activity == session::Activity::idle; }));
        CHECK(robot.now().shown_iteration == 30);
        CHECK(robot.now().loss == loss);
        CHECK(robot.now().gradient != nullptr);
        robot.picture("measured");
    });
}

TEST_CASE("gui: a scan of the loss ends with the scene that it is of") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open(robot, "wave_image.json");  // a run takes long enough to be left in the middle
        const std::string name = robot.now().parameters.at(0).names.at(0);
        robot.work().send(session::Scan{{name, ""}, {0, 0}, 501});
        REQUIRE(robot.wait([&] { return robot.now().landscape != nullptr; }));
        CHECK_FALSE(robot.now().landscape->done);
        open(robot, "spring_cage.json");
        CHECK(robot.now().landscape == nullptr);
        CHECK_FALSE(robot.wait([&] { return robot.now().landscape != nullptr; }, 3));
    });
}

TEST_CASE("gui: the width of a landscape is of its parameter alone") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "soft_beam.json");
        press_panel(robot, "Landscape");
        type(hands, "//###Landscape/##width", "20000");
        hands.ItemClick("//###Landscape/**/Compute");
        REQUIRE(robot.wait([&] { return robot.now().landscape && robot.now().landscape->done; }));
        const auto wide = [&] {
            return robot.now().landscape->range[0][1] - robot.now().landscape->range[0][0];
        };
        CHECK(wide() == doctest::Approx(20000));
        robot.picture("landscape_curve");
        // Another scene's parameter is in other units: 20000 rad or m/s would be nonsense.
        open(robot, "thrown_ball.json");
        press_panel(robot, "Landscape");
        hands.ItemClick("//###Landscape/**/Compute");
        REQUIRE(robot.wait([&] { return robot.now().landscape && robot.now().landscape->done; }));
        CHECK(wide() < 100);
    });
}

TEST_CASE("gui: without X11 the window says that a Wayland session is not enough") {
    const Environment none("DISPLAY", ""), wayland("WAYLAND_DISPLAY", "wayland-0");
    try {
        gui::Window window(gui::WindowOptions{});
        FAIL("there is a window");
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find("needs X11") != std::string::npos);
        CHECK(text.find("Wayland") != std::string::npos);
        CHECK(text.find("Xwayland") != std::string::npos);
    }
}
