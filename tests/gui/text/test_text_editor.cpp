// The text of a scene as it is typed: checked beside the window, completed, and in step with what is
// selected.
#include <doctest/doctest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <string>

#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/scene_text.hpp"
#include "app/gui/work/state/settings.hpp"
#include "tests/gui/robot.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using test::open;
using test::Robot;

namespace {

ImGuiWindow* text_window() { return ImGui::FindWindowByName("###Scene file"); }
bool list_is_open() {
    const ImGuiWindow* window = ImGui::FindWindowByName("##completion");
    return window != nullptr && window->Active;
}

// The text beside the view, with the keyboard in it.
void show_text(Robot& robot, ImGuiTestContext& hands) {
    open(robot, "spring_cage.json");
    hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_J);
    robot.frames(5);
    ImGuiWindow* window = text_window();
    REQUIRE(window != nullptr);
    hands.MouseMoveToPos(
        {window->Pos.x + window->Size.x * 0.5F, window->Pos.y + window->Size.y * 0.5F});
    hands.MouseClick();
    robot.frames(2);
}

// The cursor at the end of the line of these words of the scene's text.
void go_behind(Robot& robot, ImGuiTestContext& hands, const std::string& words) {
    const std::string& text = robot.work().scene.editor().text();
    const std::size_t at = text.find(words);
    REQUIRE_MESSAGE(at != std::string::npos, words);
    const auto line =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Home);
    if (line > 0) hands.KeyPress(ImGuiKey_DownArrow, static_cast<int>(line));
    hands.KeyPress(ImGuiKey_End);
    robot.frames(2);
}

void apply(Robot& robot, ImGuiTestContext& hands) {
    hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
    robot.frames(3);
}

}  // namespace

TEST_CASE("gui text: all that is wrong is shown while it is typed, and the scene runs on") {
    Robot robot({.width = 1600, .height = 900});
    robot.run([&](ImGuiTestContext& hands) {
        show_text(robot, hands);
        const auto before = robot.work().scene.editor().document();
        go_behind(robot, hands, "\"damping\": 10,");
        hands.KeyPress(ImGuiKey_Backspace, 3);
        hands.KeyChars("-1,");
        go_behind(robot, hands, "\"stiffness\": 100,");
        hands.KeyPress(ImGuiKey_Backspace, 4);
        hands.KeyChars("-2,");
        go_behind(robot, hands, "\"gravity\"");
        hands.KeyPress(ImGuiKey_Enter);
        hands.KeyChars("\"color\": 1,");
        REQUIRE(robot.wait([&] { return hands.ItemExists("//###Scene file/**/$$2/##fault"); }));
        robot.frames(3);
        CHECK_FALSE(hands.ItemExists("//###Scene file/**/$$3/##fault"));
        CHECK(robot.work().text.fault.find("unknown key 'color'") != std::string::npos);
        robot.picture("text_faults");
        // The scene is as it was and has no error.
        CHECK(robot.work().scene.editor().document() == before);
        CHECK_FALSE(robot.now().reports.error);
        CHECK(robot.work().text.changed);
        // A click goes to the fault: what is typed there mends it.
        hands.ItemClick("//###Scene file/**/$$2/##fault");
        robot.frames(2);
        hands.KeyPress(ImGuiKey_Delete);  // the minus of -1
        REQUIRE(robot.wait([&] { return !hands.ItemExists("//###Scene file/**/$$2/##fault"); }));
        hands.ItemClick("//###Scene file/**/$$1/##fault");
        robot.frames(2);
        hands.KeyPress(ImGuiKey_Delete);
        REQUIRE(robot.wait([&] { return !hands.ItemExists("//###Scene file/**/$$1/##fault"); }));
        hands.ItemClick("//###Scene file/**/$$0/##fault");
        robot.frames(2);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_K);  // takes the line out
        REQUIRE(robot.wait([&] { return robot.work().text.fault.empty(); }));
        apply(robot, hands);
        CHECK(robot.work().scene.document().at("/forces/0/damping").integer() == 1);
        CHECK(robot.work().scene.document().at("/forces/0/stiffness").integer() == 2);
        // What was typed is undone in the text, without a check of what is the scene's already.
        go_behind(robot, hands, "\"damping\": 1,");
        hands.KeyPress(ImGuiKey_Backspace, 2);
        hands.KeyChars("x,");
        REQUIRE(robot.wait([&] { return !robot.work().text.fault.empty(); }));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z, 4);
        REQUIRE(robot.wait([&] { return robot.work().text.fault.empty(); }));
        robot.frames(2);
        CHECK_FALSE(robot.work().text.changed);
    });
}

TEST_CASE("gui text: keys and words are completed with the keyboard and the mouse") {
    Robot robot({.width = 1600, .height = 900});
    robot.run([&](ImGuiTestContext& hands) {
        show_text(robot, hands);
        go_behind(robot, hands, "\"damping\": 10,");
        hands.KeyPress(ImGuiKey_Enter);
        CHECK_FALSE(list_is_open());
        hands.KeyChars("\"");
        robot.frames(3);
        REQUIRE(list_is_open());
        robot.picture("text_completion");
        // Narrowed by typing; the arrows are the list's.
        hands.KeyChars("length");
        robot.frames(3);
        CHECK(hands.ItemExists("//##completion/**/##length_offset"));
        CHECK_FALSE(hands.ItemExists("//##completion/**/##acts"));
        hands.KeyPress(ImGuiKey_Enter);
        robot.frames(3);
        CHECK_FALSE(list_is_open());
        hands.KeyChars("0.25");  // over the value that is selected
        robot.frames(2);
        apply(robot, hands);
        REQUIRE(robot.work().scene.document().find("/forces/0/length_offset") != nullptr);
        CHECK(robot.work().scene.document().at("/forces/0/length_offset").real() == 0.25);
        // Escape leaves the list and nothing else; the text goes on.
        go_behind(robot, hands, "\"length_offset\"");
        hands.KeyPress(ImGuiKey_Enter);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Space);
        robot.frames(3);
        REQUIRE(list_is_open());
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(3);
        CHECK_FALSE(list_is_open());
        // A click, then a word of a choice with Tab, the second by the arrow.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Space);
        robot.frames(3);
        const ImRect row = hands.ItemInfo("//##completion/**/##acts").RectFull;
        hands.MouseMoveToPos(row.GetCenter());
        hands.MouseClick();
        robot.frames(3);
        CHECK_FALSE(list_is_open());
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Space);
        robot.frames(3);
        REQUIRE(list_is_open());
        robot.picture("text_choice");
        hands.KeyPress(ImGuiKey_DownArrow);
        hands.KeyPress(ImGuiKey_Tab);
        robot.frames(3);
        apply(robot, hands);
        REQUIRE(robot.work().scene.document().find("/forces/0/acts") != nullptr);
        CHECK(robot.work().scene.document().at("/forces/0/acts").string() == "pull");
        CHECK(test::runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        // The list is one of undo's steps.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        robot.frames(2);
        CHECK(robot.work().text.changed);
    });
}

TEST_CASE("gui text: from an entry to its place in the text, written or not, and back") {
    Robot robot({.width = 1600, .height = 900});
    robot.run([&](ImGuiTestContext& hands) {
        show_text(robot, hands);
        // What is selected elsewhere is gone to: typing there says where the cursor is.
        test::select(robot, "/objective/0");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Slash);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        robot.frames(3);
        CHECK(robot.work().scene.document().find("/objective") ==
              nullptr);  // its line is a comment
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Slash);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        robot.frames(3);
        CHECK(robot.work().scene.document().find("/objective/0") != nullptr);
        CHECK(test::runs_what_is_edited(robot));
        // The cursor selects what it is in.
        go_behind(robot, hands, "\"damping\": 10,");
        robot.frames(2);
        CHECK(robot.work().chosen.object.pointer == "/forces/0");
        go_behind(robot, hands, "\"time\"");
        CHECK(robot.work().chosen.object.pointer == "/time");
        go_behind(robot, hands, "\"name\": \"ball\"");
        CHECK(robot.work().chosen.object.pointer == "/bodies/0");
        go_behind(robot, hands, "\"description\"");  // no row of the tree: as it was
        CHECK(robot.work().chosen.object.pointer == "/bodies/0");
        robot.picture("text_selects");

        // As the menu of a field does it (test_editing.cpp), twice: each time to the field.
        const auto show = [&](const char* object, const char* key) {
            robot.work().chosen.select({object, -1, key});
            robot.work().requests.focus_panel = "Scene file";
        };
        for (int k = 0; k < 2; ++k) {
            go_behind(robot, hands, "\"time\"");
            test::select(robot, "/forces/0");
            show("/forces/0", "connect");
            robot.frames(5);
            CHECK(robot.work().chosen.object.pointer == "/forces/0");
            hands.KeyPress(ImGuiKey_Home, 2);
            hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Slash);
            robot.frames(2);
            CHECK(robot.work().text.changed);
            hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
            robot.frames(2);
            CHECK_FALSE(robot.work().text.changed);
        }
        // It is there, before that key, that something is typed.
        show("/forces/0", "connect");
        robot.frames(5);
        hands.KeyChars("\"length_offset\": 0.5, ");
        robot.frames(2);
        apply(robot, hands);
        const document::Node& cage = robot.work().scene.document().at("/forces/0");
        REQUIRE(cage.find("length_offset") != nullptr);
        CHECK(cage.find_index("length_offset") + 1 == cage.find_index("connect"));
        // A key that is not written: it is offered, and written with its default.
        test::select(robot, "/bodies/0");
        CHECK(robot.work().scene.document().find("/bodies/0/fixed") == nullptr);
        show("/bodies/0", "fixed");
        robot.frames(5);
        robot.picture("text_offer");
        hands.ItemClick("//###Scene file/###Write it");
        robot.frames(3);
        apply(robot, hands);
        const document::Node* const fixed = robot.work().scene.document().find("/bodies/0/fixed");
        REQUIRE(fixed != nullptr);
        CHECK_FALSE(fixed->boolean());
        CHECK(test::runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
    });
}

TEST_CASE("gui text: words are found and replaced") {
    Robot robot({.width = 1600, .height = 900});
    robot.run([&](ImGuiTestContext& hands) {
        show_text(robot, hands);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Home);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_F);
        robot.frames(3);
        hands.KeyChars("ANCHORS");
        robot.frames(3);
        robot.picture("text_find");
        hands.KeyPress(ImGuiKey_Enter);
        robot.frames(3);
        hands.ItemClick("//###Scene file/find/##by");
        hands.KeyChars("posts");
        robot.frames(2);
        hands.ItemClick((std::string("//###Scene file/find/") + gui::icon::list + "##all").c_str());
        robot.frames(3);
        hands.ItemClick(
            (std::string("//###Scene file/find/") + gui::icon::close + "##close").c_str());
        robot.frames(3);
        CHECK_FALSE(hands.ItemExists("//###Scene file/find/##by"));
        apply(robot, hands);
        CHECK(robot.work().scene.document().at("/bodies/1/name").string() == "posts");
        for (int k = 0; k < 8; ++k)
            CHECK(robot.work()
                      .scene.document()
                      .at("/forces/0/connect/" + std::to_string(k) + "/2")
                      .string() == "posts");
        CHECK(test::runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        // One step of undo, with the keyboard in the text again.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        robot.frames(2);
        apply(robot, hands);
        CHECK(robot.work().scene.document().at("/bodies/1/name").string() == "anchors");
    });
}

TEST_CASE("gui text: every size and both themes") {
    for (const bool dark : {true, false})
        for (const auto& [width, height] : {std::pair{900, 600}, std::pair{1280, 800}}) {
            Robot robot({.width = width, .height = height});
            robot.run([&](ImGuiTestContext& hands) {
                robot.work().settings.dark = dark;
                robot.work().settings.changed = true;
                open(robot, "spring_cage.json");
                robot.work().requests.focus_panel = "Scene file";
                robot.frames(5);
                ImGuiWindow* window = text_window();
                hands.MouseMoveToPos(
                    {window->Pos.x + window->Size.x * 0.5F, window->Pos.y + window->Size.y * 0.4F});
                hands.MouseClick();
                go_behind(robot, hands, "\"stiffness\": 100,");
                hands.KeyPress(ImGuiKey_Backspace, 4);
                hands.KeyChars("-100,  // too soft");
                REQUIRE(robot.wait([&] { return !robot.work().text.fault.empty(); }));
                robot.frames(3);
                const std::string name =
                    (dark ? "text_dark_" : "text_light_") + std::to_string(width);
                // The fault at the mouse, over its line's number: a click has brought it to the
                // middle of the text.
                hands.ItemClick("//###Scene file/**/$$0/##fault");
                robot.frames(4);
                const ImGuiWindow* lines = nullptr;
                for (const ImGuiWindow* one : ImGui::GetCurrentContext()->Windows)
                    if (one->ParentWindow == window && one->ChildId == window->GetID("text"))
                        lines = one;
                REQUIRE(lines != nullptr);
                hands.MouseMoveToPos({lines->Pos.x + 18, lines->Pos.y + lines->Size.y * 0.5F});
                robot.frames(4);
                robot.picture(name + "_fault");
                hands.KeyPress(ImGuiKey_End);
                hands.KeyPress(ImGuiKey_Enter);
                hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Space);
                robot.frames(4);
                CHECK(list_is_open());
                robot.picture(name + "_list");
                hands.KeyPress(ImGuiKey_Escape);
                hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_F);
                robot.frames(4);
                hands.KeyChars("ball");
                robot.frames(4);
                robot.picture(name + "_find");
            });
        }
}
