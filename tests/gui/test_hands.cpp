// What hands do to the scene: pull, rename, drop, lock, sweep; and the tour that greets them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include <imgui_internal.h>

#include "app/gui/window/window.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using test::at;
using test::open;
using test::Robot;
using test::runs_what_is_edited;

namespace {

// The row of an object in the scene tree.
ImGuiID row_of(const std::string& section, const std::string& pointer) {
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (std::string(window->Name).find("###Scene/tree_") != std::string::npos)
            return ImHashStr(
                "object", 0,
                ImHashStr(pointer.c_str(), 0, ImHashStr(section.c_str(), 0, window->ID)));
    throw Error("there is no scene tree");
}

void pull_the_ball(Robot& robot) {
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        robot.work().running.send(session::SetSpeed{0.1});
        test::stop_at(robot, 0);
        const render::Camera camera = robot.work().looks.view.camera;
        const ImVec2 ball = test::on_screen(robot, hands, {0, 0, 0});
        hands.MouseMoveToPos(ball);
        hands.KeyDown(ImGuiMod_Ctrl);
        hands.MouseDown(ImGuiMouseButton_Left);
        REQUIRE(robot.wait(
            [&] { return robot.now().pulls.current && robot.now().pulls.current->live; }));
        hands.MouseMoveToPos({ball.x + 150, ball.y - 70});
        REQUIRE(robot.wait([&] { return robot.now().run.step >= 8; }));
        robot.picture("pulling");
        REQUIRE(robot.now().pulls.current);
        const session::MousePullInfo hand = *robot.now().pulls.current;
        // The hand is under the mouse.
        const ImVec2 seen = test::on_screen(robot, hands, hand.place);
        CHECK(std::abs(seen.x - ball.x - 150) < 8);
        CHECK(std::abs(seen.y - ball.y + 70) < 8);
        CHECK(robot.work().looks.view.camera == camera);
        CHECK_FALSE(robot.work().scene.editor().unsaved());
        hands.MouseUp(ImGuiMouseButton_Left);
        hands.KeyUp(ImGuiMod_Ctrl);
        REQUIRE(robot.wait([&] { return at(robot, "/forces")->size() == 2; }));
        CHECK(robot.work().scene.editor().undo_name() == "Pull ball point 0");
        CHECK(at(robot, "/forces/1/type")->string() == "pull");
        CHECK(at(robot, "/forces/1/start_step")->integer() == 0);
        CHECK(at(robot, "/forces/1/places")->size() >= 8);
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        CHECK(robot.now().run.steps_computed == robot.now().run.steps);
        CHECK_FALSE(robot.now().run.playing);
        robot.frames(5);
        robot.picture("pulled");

        // It is one step of undo.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(at(robot, "/forces")->size() == 1);
        CHECK_FALSE(robot.work().scene.editor().unsaved());
        CHECK(runs_what_is_edited(robot));

        // Escape lets go without a trace.
        test::stop_at(robot, 0);
        hands.MouseMoveToPos(ball);
        hands.KeyDown(ImGuiMod_Ctrl);
        hands.MouseDown(ImGuiMouseButton_Left);
        REQUIRE(robot.wait([&] { return robot.now().pulls.current && robot.now().run.step >= 3; }));
        hands.KeyPress(ImGuiKey_Escape);
        CHECK(robot.wait([&] { return !robot.now().pulls.current; }));
        hands.MouseUp(ImGuiMouseButton_Left);
        hands.KeyUp(ImGuiMod_Ctrl);
        robot.frames(5);
        CHECK_FALSE(robot.work().scene.editor().unsaved());
        CHECK(robot.work().looks.view.camera == camera);
    });
}

}  // namespace

TEST_CASE("gui: Ctrl and the mouse pull on the ball") {
    Robot robot;
    pull_the_ball(robot);
}

TEST_CASE("gui: Ctrl and the mouse pull on the ball in a real window; a file is dropped on it") {
    if (!gui::Window::display_exists()) HINDCAST_SKIP("no display; run under xvfb-run");
    Robot robot({.window = true});
    pull_the_ball(robot);
    robot.run([&](ImGuiTestContext&) {
        robot.window().on_drop({robot.scenes() / "thrown_ball.json", robot.scenes() / "flag.json"});
        CHECK(robot.wait([&] { return robot.work().scene.title() == "thrown ball"; }));
        REQUIRE(test::opened(robot));
        CHECK(robot.work().scene.editor().file() == robot.scenes() / "thrown_ball.json");
        // With unsaved changes there is a question first.
        REQUIRE(
            robot.work().scene.set("/gravity", document::Node::array({0.0, 0.0, -3.0}), "Gravity"));
        robot.window().on_drop({robot.scenes() / "free_flight.json"});
        CHECK(robot.wait([&] { return robot.work().messages.question().has_value(); }));
        robot.frames(2);
        CHECK(robot.work().scene.title() == "thrown ball");
    });
}

TEST_CASE("gui: arrows of the loss by forces, linear and by the logarithm") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "flag.json");
        robot.work().running.play(false);
        hands.ItemClick("//###View/##arrows");
        robot.frames(2);
        hands.ItemClick("//$FOCUSED/force gradient");
        CHECK(robot.work().looks.arrows == "force gradient");
        robot.work().running.send(session::Seek{20});
        CHECK(robot.wait([&] {
            return robot.now().values.gradient &&
                   robot.now().reports.activity == session::Activity::idle &&
                   robot.now().run.step > 0;
        }));
        robot.work().looks.fit_arrows = false;
        robot.work().looks.view.arrow_scale = 5;
        robot.frames(6);
        robot.picture("arrows_linear");
        hands.ItemClick("//###View/log");
        CHECK(robot.work().looks.view.arrow_log);
        robot.work().looks.fit_arrows = false;
        robot.work().looks.view.arrow_scale = 0.3;
        robot.frames(6);
        robot.picture("arrows_log");
    });
}

TEST_CASE("gui: rename a body in the scene tree; what refers to it follows") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        test::stop_at(robot, 0);
        const document::Document before = robot.work().scene.document();
        hands.ItemDoubleClick(row_of("bodies", "/bodies/0"));
        robot.frames(2);
        robot.picture("renaming");
        hands.KeyCharsReplaceEnter("marble");
        robot.frames(2);
        CHECK(at(robot, "/bodies/0/name")->string() == "marble");
        for (int k = 0; k < 8; ++k)
            CHECK(at(robot, "/forces/0/connect")
                      ->item(static_cast<std::size_t>(k))
                      .item(0)
                      .string() == "marble");
        CHECK(at(robot, "/objective/0/of")->string() == "marble");
        CHECK(robot.work().scene.editor().undo_name() == "Rename ball to marble");
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        robot.picture("renamed");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(robot.work().scene.document() == before);
        // Names that are taken are refused, and say so.
        hands.ItemDoubleClick(row_of("bodies", "/bodies/0"));
        robot.frames(2);
        hands.KeyCharsReplaceEnter("anchors");
        robot.frames(2);
        CHECK(robot.work().scene.document() == before);
        CHECK_FALSE(robot.work().messages.notices().empty());
    });
}

TEST_CASE("gui: the tour of the first start has five steps, and does not come again") {
    Robot robot({.tour = true});
    robot.run([&](ImGuiTestContext& hands) {
        REQUIRE(robot.work().requests.show_tour);
        CHECK(robot.work().requests.tour_step == 0);
        robot.picture("tour_1");
        hands.ItemClick("//##dock/**/spring cage");  // what the first step asks for
        REQUIRE(test::opened(robot));
        CHECK(robot.wait([&] { return robot.work().requests.tour_step == 1; }));
        robot.picture("tour_2");
        hands.ItemClick("//Tour/Next");
        CHECK(robot.work().requests.tour_step == 2);
        robot.picture("tour_3");
        hands.KeyPress(ImGuiKey_O);
        CHECK(robot.wait([&] { return robot.work().requests.tour_step == 3; }));
        robot.picture("tour_4");
        hands.ItemClick("//Tour/Next");
        CHECK(robot.work().requests.tour_step == 4);
        robot.picture("tour_5");
        hands.ItemClick("//Tour/Done");
        robot.frames(2);
        CHECK_FALSE(robot.work().requests.show_tour);
        const document::Document kept =
            document::Document::load(robot.folder() / "state/settings.json");
        CHECK(kept.find("/tour_done")->boolean());
        // From the menu it can be had again, and left at once.
        const gui::Actions actions;
        CHECK(actions.run("tour", robot.work()));
        robot.frames(2);
        CHECK(robot.work().requests.show_tour);
        hands.ItemClick("//Tour/Leave the tour");
        robot.frames(2);
        CHECK_FALSE(robot.work().requests.show_tour);
    });
}

TEST_CASE("gui: a quantity is locked into the optimization, swept, and reset from its menu") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        test::stop_at(robot, 0);
        robot.work().chosen.select({"/forces/0", -1, ""});
        robot.frames(3);
        const auto lock = [](const char* symbol) {
            return std::string("//###Inspector/**/cage.damping/") + symbol + "##lock";
        };
        const std::string locked = lock(gui::icon::lock);
        hands.ItemClick(lock(gui::icon::unlock).c_str());
        REQUIRE(at(robot, "/parameters")->size() == 2);
        CHECK(at(robot, "/parameters/1/path")->string() == "cage.damping");
        CHECK(robot.work().scene.editor().undo_name() == "Optimize cage.damping");
        CHECK(runs_what_is_edited(robot));
        CHECK(robot.wait([&] {
            return std::ranges::any_of(robot.now().values.parameters,
                                       [](const auto& p) { return p.path == "cage.damping"; });
        }));
        robot.picture("locked");

        // The menu is that of the name beside the lock.
        const auto menu = [&](const std::string& beside) {
            const ImRect box = hands.ItemInfo(beside.c_str()).RectFull;
            hands.MouseMoveToPos({box.Max.x + 24, box.GetCenter().y});
            hands.MouseClick(ImGuiMouseButton_Right);
            robot.frames(2);
        };
        menu(locked);
        robot.picture("quantity_menu");
        hands.ItemClick("//$FOCUSED/Sweep it");
        CHECK(robot.wait(
            [&] { return robot.now().tools.landscape && robot.now().tools.landscape->done; }));
        CHECK(robot.now().tools.landscape->names[0] == "cage.damping");
        CHECK(robot.now().tools.landscape->losses.size() == 41);
        CHECK(std::ranges::all_of(robot.now().tools.landscape->losses,
                                  [](double loss) { return std::isfinite(loss); }));
        robot.frames(4);
        robot.picture("swept");

        // Out of the optimization, and back to what holds where nothing is written: no damping.
        hands.ItemClick(locked.c_str());
        CHECK(at(robot, "/parameters")->size() == 1);
        CHECK(runs_what_is_edited(robot));
        menu(lock(gui::icon::unlock));
        hands.ItemClick("//$FOCUSED/Reset to the default");
        robot.frames(2);
        CHECK(at(robot, "/forces/0/damping") == nullptr);
        CHECK(robot.work().scene.editor().undo_name() == "Reset cage.damping");
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(at(robot, "/forces/0/damping")->integer() == 10);
    });
}
