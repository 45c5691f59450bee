// The scene's text in the window: typed into, applied by Ctrl+Enter, undone, and what is wrong in
// it shown at its place.
#include <doctest/doctest.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/scene_text.hpp"
#include "app/gui/work/values/handover.hpp"
#include "engine/base/files.hpp"
#include "tests/gui/robot.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using test::open;
using test::Robot;
using test::said;

namespace {

ImGuiWindow* text_window() { return ImGui::FindWindowByName("###Scene file"); }

bool is_seen(const ImGuiWindow* window) { return window->DockTabIsVisible; }

void click_into_text(ImGuiTestContext& hands) {
    const ImGuiWindow* window = text_window();
    REQUIRE(window != nullptr);
    hands.MouseMoveToPos(
        {window->Pos.x + window->Size.x * 0.5F, window->Pos.y + window->Size.y * 0.5F});
    hands.MouseClick();
}

// The cursor behind these words, at the end of their line.
void go_behind(ImGuiTestContext& hands, const std::string& text, const std::string& words) {
    const std::size_t at = text.find(words);
    REQUIRE(at != std::string::npos);
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Home);
    if (line > 0) hands.KeyPress(ImGuiKey_DownArrow, static_cast<int>(line));
    hands.KeyPress(ImGuiKey_End);
}

}  // namespace

TEST_CASE("gui text: beside the view and back") {
    Robot robot({.width = 1600, .height = 900});
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        const ImGuiWindow* view = ImGui::FindWindowByName("###View");
        REQUIRE(view != nullptr);
        CHECK(is_seen(view));
        CHECK_FALSE(is_seen(text_window()));
        const float wide = view->Size.x;
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_J);
        robot.frames(5);
        CHECK(is_seen(view));
        CHECK(is_seen(text_window()));
        CHECK(text_window()->Pos.x >= view->Pos.x + view->Size.x);
        CHECK(view->Size.x < 0.6F * wide);
        CHECK(view->Size.x > 0.4F * wide);
        robot.picture("text_beside");
        // A new layout has it beside as well.
        robot.work().requests.reset_layout = true;
        robot.frames(5);
        CHECK(is_seen(text_window()));
        CHECK(is_seen(view));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_J);
        robot.frames(5);
        CHECK(view->Size.x == wide);
        CHECK(text_window()->DockId == view->DockId);
        robot.picture("text_behind");
    });
}

TEST_CASE("gui text: typed into, applied by Ctrl+Enter, undone") {
    Robot robot({.width = 1600, .height = 900});
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        const std::string before = read_file(robot.scenes() / "spring_cage.json");
        REQUIRE(robot.work().scene.editor().text() == before);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_J);
        robot.frames(5);
        click_into_text(hands);
        go_behind(hands, before, "\"damping\": 10,");
        hands.KeyPress(ImGuiKey_Backspace, 3);
        hands.KeyChars("25,  // typed");
        robot.frames(2);
        CHECK(robot.work().scene.document().at("/forces/0/damping").integer() == 10);  // not yet
        robot.picture("text_typed");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        robot.frames(3);
        CHECK(said(robot, "Applied"));
        CHECK(robot.work().scene.document().at("/forces/0/damping").integer() == 25);
        // No line more, no line less, and the comment is part of it.
        std::string wanted = before;
        wanted.replace(wanted.find("\"damping\": 10,"), 14, "\"damping\": 25,  // typed");
        CHECK(robot.work().scene.editor().text() == wanted);
        // Applied once more, and with the keys held down: the same text.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        hands.KeyDown(ImGuiMod_Ctrl);
        hands.KeyDown(ImGuiKey_Enter);
        robot.frames(60);  // a second: keys repeat
        hands.KeyUp(ImGuiKey_Enter);
        hands.KeyUp(ImGuiMod_Ctrl);
        robot.frames(2);
        CHECK(robot.work().scene.editor().text() == wanted);
        CHECK(robot.work().scene.editor().undo_names().size() == 1);
        CHECK(robot.wait([&] {
            return robot.now().handover.revision == robot.now().handover.applied_revision;
        }));
        CHECK_FALSE(robot.now().reports.error);
        // Saved as it was typed.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
        CHECK(read_file(robot.scenes() / "spring_cage.json") == wanted);
        // Undone in the window: scene and text.
        hands.ItemClick((std::string("//##toolbar/") + gui::icon::undo + "##undo").c_str());
        robot.frames(3);
        CHECK(robot.work().scene.document().at("/forces/0/damping").integer() == 10);
        CHECK(robot.work().scene.editor().text() == before);
        robot.picture("text_undone");
    });
}

TEST_CASE("gui text: what is wrong is refused, and can be put right") {
    Robot robot({.width = 1600, .height = 900});
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        const std::string before = robot.work().scene.editor().text();
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_J);
        robot.frames(5);
        click_into_text(hands);
        go_behind(hands, before, "\"damping\": 10,");
        hands.KeyPress(ImGuiKey_Backspace);  // the comma
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        robot.frames(3);
        CHECK_FALSE(said(robot, "Applied"));
        CHECK(robot.work().scene.editor().text() == before);
        robot.picture("text_wrong");
        go_behind(hands, before, "\"damping\": 10,");
        hands.KeyChars(",");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        robot.frames(3);
        CHECK_FALSE(robot.work().scene.editor().unsaved());
        // Read without error, but refused by the simulation: the one that runs goes on.
        go_behind(hands, before, "\"damping\": 10,");
        hands.KeyPress(ImGuiKey_Backspace, 3);
        hands.KeyChars("-1,");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        REQUIRE(robot.wait([&] { return robot.now().reports.error != nullptr; }));
        robot.frames(3);
        CHECK(robot.now().reports.error->json_pointer() == "/forces/0/damping");
        CHECK(robot.work().running.has_run());
        robot.picture("text_refused");
        go_behind(hands, before, "\"damping\": 10,");
        hands.KeyPress(ImGuiKey_Backspace, 3);
        hands.KeyChars("10,");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        CHECK(robot.wait([&] { return robot.now().reports.error == nullptr; }));
        robot.frames(3);
        CHECK(robot.work().scene.editor().text() == before);
        robot.picture("text_right_again");
    });
}

TEST_CASE("gui text: what is typed and not applied is neither lost unasked nor another scene's") {
    Robot robot({.width = 1600, .height = 900});
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        const std::string cage = robot.work().scene.editor().text();
        robot.work().requests.focus_panel = "Scene file";
        robot.frames(5);
        click_into_text(hands);
        go_behind(hands, cage, "\"damping\": 10,");
        hands.KeyChars("  ");
        robot.frames(2);
        REQUIRE(robot.work().text.changed);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
        CHECK(said(robot, "is not saved"));
        robot.work().opening.open(robot.scenes() / "thrown_ball.json");
        robot.frames(3);
        REQUIRE(robot.work().messages.question());
        CHECK(robot.work().messages.question()->text.find("not applied") != std::string::npos);
        robot.picture("text_asked");
        hands.KeyPress(ImGuiKey_Escape);  // as it is
        robot.frames(3);
        CHECK_FALSE(robot.work().handover.is_opening());
        CHECK(robot.work().text.changed);
        robot.work().opening.open(robot.scenes() / "thrown_ball.json");
        robot.frames(3);
        hands.KeyPress(ImGuiKey_D);  // Discard the text
        REQUIRE(robot.wait([&] { return robot.work().scene.title() == "thrown ball"; }));
        robot.frames(5);
        CHECK_FALSE(robot.work().text.changed);
        const std::string ball = robot.work().scene.editor().text();
        click_into_text(hands);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        robot.frames(3);
        CHECK(robot.work().scene.editor().text() == ball);
    });
}
