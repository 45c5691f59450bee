// The tools at the bottom say what is true of the scene that is open, and of nothing else.
#include <imgui_internal.h>

#include <cmath>

#include "app/gui/window/window.hpp"
#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/scene_text.hpp"
#include "engine/base/files.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/environment.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

void press_panel(Robot& robot, const std::string& panel) {
    robot.work().requests.focus_panel = panel;
    robot.frames(4);
}

// The number field of a panel takes what is typed.
void type(ImGuiTestContext& hands, const std::string& item, const std::string& text) {
    hands.ItemDoubleClick(item.c_str());
    hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
    hands.KeyCharsReplaceEnter(text.c_str());
}

constexpr const char* diverging = R"({
    "format": 1, "name": "diverging", "time": { "step": "1/30", "steps": 100 },
    "bodies": [{ "type": "particles", "name": "a", "positions": [[0, 0, 0], [1.5, 0, 0]],
                 "fixed": [0] }],
    "forces": [{ "type": "springs", "name": "s", "connect": [["a", 0, "a", 1]],
                 "stiffness": 1e6, "rest_length": 1 }],
    "objective": [{ "type": "point_target", "name": "there", "of": "a", "points": [1],
                    "target": [0, 0, -1] }],
    "parameters": [{ "path": "s.stiffness" }],
    "optimizer": { "type": "adam", "rate": 0.1, "iterations": 20 }
})";

}  // namespace

TEST_CASE("gui: measuring launches leaves what is shown the iteration that it is") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        optimize(robot, hands);
        REQUIRE(robot.now().optimization.shown_iteration == 30);
        const double loss = robot.now().run.loss;
        press_panel(robot, "Launches");
        hands.ItemClick("//###Launches/Measure");
        const auto has = [&](Direction direction) {
            return std::ranges::any_of(robot.now().tools.launches,
                                       [&](const session::LaunchInfo& l) {
                                           return l.direction == direction && l.runs > 0;
                                       });
        };
        // It ran once more, forwards and backwards.
        CHECK(robot.wait([&] { return has(Direction::forward) && has(Direction::adjoint); }));
        CHECK(robot.wait([&] { return robot.now().reports.activity == session::Activity::idle; }));
        CHECK(robot.now().optimization.shown_iteration == 30);
        CHECK(robot.now().run.loss == loss);
        CHECK(robot.now().values.gradient != nullptr);
        robot.picture("measured");
    });
}

TEST_CASE("gui: a scan of the loss ends with the scene that it is of") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open(robot, "wave_image.json");  // a run takes long enough to be left in the middle
        const std::string name = robot.now().values.parameters.at(0).names.at(0);
        robot.work().running.send(session::Scan{{name, ""}, {0, 0}, 501});
        REQUIRE(robot.wait([&] { return robot.now().tools.landscape != nullptr; }));
        CHECK_FALSE(robot.now().tools.landscape->done);
        open(robot, "spring_cage.json");
        CHECK(robot.now().tools.landscape == nullptr);
        CHECK_FALSE(robot.wait([&] { return robot.now().tools.landscape != nullptr; }, 3));
    });
}

TEST_CASE("gui: the width of a landscape is of its parameter alone") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "soft_beam.json");
        press_panel(robot, "Landscape");
        type(hands, "//###Landscape/##width", "20000");
        hands.ItemClick("//###Landscape/**/Compute");
        REQUIRE(robot.wait(
            [&] { return robot.now().tools.landscape && robot.now().tools.landscape->done; }));
        const auto wide = [&] {
            return robot.now().tools.landscape->range[0][1] -
                   robot.now().tools.landscape->range[0][0];
        };
        CHECK(wide() == doctest::Approx(20000));
        robot.picture("landscape_curve");
        // Another scene's parameter is in other units: 20000 rad or m/s would be nonsense.
        open(robot, "thrown_ball.json");
        press_panel(robot, "Landscape");
        hands.ItemClick("//###Landscape/**/Compute");
        REQUIRE(robot.wait(
            [&] { return robot.now().tools.landscape && robot.now().tools.landscape->done; }));
        CHECK(wide() < 100);
    });
}

TEST_CASE("gui: the ball of a new scene stays in the picture until it ends") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        robot.work().opening.make_new();
        REQUIRE(opened(robot));
        robot.frames(4);
        for (const std::int64_t step : {0, 15, 30, 45, 60}) {
            stop_at(robot, step);
            const double t = static_cast<double>(step) / 60;
            // Semi-implicit Euler at rest at (0, 0, 1), thrown with (1, 0, 5) m/s.
            const render::Vec3 ball{t, 0, 1 + 5 * t - 9.81 * t * (t + 1.0 / 60) / 2};
            const ImVec2 at = on_screen(robot, hands, ball);
            const ImRect view = hands.ItemInfo("//###View/picture").RectFull;
            CAPTURE(step);
            CHECK(view.Contains(at));
        }
        robot.picture("new_scene");
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

TEST_CASE("gui: Escape closes the export window, but not the text that is typed into it") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_E);
        robot.frames(4);
        REQUIRE(robot.work().requests.show_export);
        hands.ItemClick("//Export/##folder");
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(2);
        CHECK(robot.work().requests.show_export);
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(2);
        CHECK_FALSE(robot.work().requests.show_export);
    });
}

TEST_CASE("gui: a run that diverges has no numbers of its objective, and says why once, uncut") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        const std::filesystem::path file = robot.folder() / "diverging.json";
        write_file_atomically(file, diverging);
        robot.work().opening.open(file);
        REQUIRE(robot.wait([&] { return robot.now().reports.error != nullptr; }));
        robot.frames(6);
        robot.picture("diverged");
        REQUIRE(robot.now().run.terms.size() == 1);
        CHECK(std::isnan(robot.now().run.terms.front().value));
        const auto& notices = robot.work().messages.notices();
        const auto told = std::ranges::find_if(notices, [](const gui::Notice& n) {
            return n.text.find("the loss is nan") != std::string::npos;
        });
        REQUIRE(told != notices.end());
        CHECK(told->detail == "make the time step smaller, or the forces softer");
        // The message in the bottom line ends before the times on the right.
        const ImGuiWindow* const line = ImGui::FindWindowByName("##status");
        REQUIRE(line != nullptr);
        CHECK(line->ContentSize.x <= line->Size.x);
        // The first iteration has changed nothing yet: its rate is not to blame.
        robot.work().running.optimize(session::Optimize::What::start);
        REQUIRE(robot.wait([&] { return !robot.now().optimization.stop_reason.empty(); }));
        REQUIRE(robot.now().reports.error);
        CHECK(robot.now().reports.error->what_to_do() ==
              "make the time step smaller, or the forces softer");
    });
}

TEST_CASE(
    "gui: beside a text that is put right stands its own fault, not that of the scene that runs") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const std::filesystem::path runs = robot.folder() / "diverging.json",
                                    wrong = robot.folder() / "wrong.json";
        write_file_atomically(runs, diverging);
        write_file_atomically(wrong, "{ \"format\": 1,\n  \"time\": }\n");
        robot.work().opening.open(runs);
        REQUIRE(robot.wait([&] { return robot.now().reports.error != nullptr; }));
        press_panel(robot, "Scene file");
        CHECK(robot.work().text.fault.find("the loss is nan") != std::string::npos);
        robot.work().opening.open(wrong);
        robot.frames(3);
        REQUIRE(robot.work().messages.question());
        hands.KeyPress(ImGuiKey_Enter);  // Show in the file
        robot.frames(6);
        CHECK(robot.work().text.fault.find("wrong.json:2") != std::string::npos);
        // The scene fails once more, and that is still not of this text.
        robot.work().running.send(session::Reset{});
        robot.work().running.optimize(session::Optimize::What::start);
        REQUIRE(robot.wait([&] { return !robot.now().optimization.stop_reason.empty(); }));
        robot.frames(6);
        CHECK(robot.work().text.fault.find("wrong.json:2") != std::string::npos);
        robot.picture("wrong_beside_diverged");
    });
}
