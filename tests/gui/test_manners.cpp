// What a user may expect of any window: Tab and Escape, keys that mean one thing, examples that
// nobody writes over, messages that go when what they say is no longer so.
#include <doctest/doctest.h>

#include <imgui_internal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/process_log.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/found_values.hpp"
#include "app/gui/work/view/looks.hpp"
#include "engine/base/files.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using document::Document;
using document::Node;
using test::answers;
using test::open;
using test::opened;
using test::Robot;
using test::said;

namespace {

namespace fs = std::filesystem;

const ImGuiWindow* panel(const std::string& title) {
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (std::string(window->Name).ends_with("###" + title)) return window;
    throw Error("there is no panel " + title);
}

bool any_popup() { return ImGui::GetCurrentContext()->OpenPopupStack.Size > 0; }

bool logged(Robot& robot, const std::string& text) {
    return std::ranges::any_of(robot.work().messages.log->lines(),
                               [&](const session::LogLine& line) {
                                   return line.level == session::LogLine::Level::error &&
                                          line.text.find(text) != std::string::npos;
                               });
}

std::vector<std::string> contents(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& item : fs::recursive_directory_iterator(folder))
        names.push_back(item.path().string());
    std::ranges::sort(names);
    return names;
}

// The current folder, for a part of a test.
class Folder {
public:
    explicit Folder(const fs::path& folder) : before_(fs::current_path()) {
        fs::current_path(folder);
    }
    ~Folder() { fs::current_path(before_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

private:
    fs::path before_;
};

}  // namespace

TEST_CASE("gui: no key is bound to two commands, no two commands have one name") {
    const std::vector<gui::Action> all = gui::all_actions();
    for (const gui::Action& action : all) {
        INFO(action.id);
        if (action.key != 0) CHECK(std::ranges::count(all, action.key, &gui::Action::key) == 1);
        CHECK(std::ranges::count(all, action.id, &gui::Action::id) == 1);
    }
}

TEST_CASE("gui: Tab shows the picture alone, and brings every tab back as it was") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        test::stop_at(robot, 10);
        robot.work().requests.focus_panel = "Launches";
        robot.frames(4);
        REQUIRE(panel("Launches")->DockTabIsVisible);
        REQUIRE_FALSE(panel("Log")->DockTabIsVisible);
        std::vector<std::string> shown;
        const auto in_front = [] {
            std::vector<std::string> names;
            for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
                if (window->DockIsActive && window->DockTabIsVisible)
                    names.emplace_back(window->Name);
            std::ranges::sort(names);
            return names;
        };
        const std::vector<std::string> before = in_front();

        hands.KeyPress(ImGuiKey_Tab);
        robot.frames(4);
        robot.picture("panels_hidden");
        CHECK(robot.work().requests.hide_panels);
        // It is in front, since the mouse turns it, and as wide as the window.
        const render::Camera camera = robot.work().looks.view.camera;
        hands.MouseMoveToPos({200, 400});
        hands.MouseDragWithDelta({60, 20});
        robot.frames(2);
        CHECK_FALSE(robot.work().looks.view.camera == camera);
        CHECK(robot.work().looks.view.width == 1280);

        hands.KeyPress(ImGuiKey_Tab);
        robot.frames(6);
        CHECK_FALSE(robot.work().requests.hide_panels);
        CHECK(in_front() == before);
        robot.picture("panels_back");
        // The gallery and back are the same.
        robot.work().requests.show_gallery = true;
        robot.frames(4);
        robot.work().requests.show_gallery = false;
        robot.frames(6);
        CHECK(in_front() == before);
    });
}

TEST_CASE("gui: Escape closes menus, of all levels; what is open besides stays") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        hands.ItemClick("//###Scene/###Add");
        robot.frames(2);
        CHECK(any_popup());
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(2);
        CHECK_FALSE(any_popup());
        // A menu within a menu of the menu bar.
        hands.MenuClick("//##MainMenuBar/View");
        hands.MouseMove("//$FOCUSED/Panels");
        robot.frames(40);
        CHECK(ImGui::GetCurrentContext()->OpenPopupStack.Size >= 1);
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(2);
        CHECK_FALSE(any_popup());
        // The palette, in which text is typed.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_K);
        robot.frames(3);
        robot.picture("palette");
        CHECK(any_popup());
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(2);
        CHECK_FALSE(any_popup());
    });
}

TEST_CASE("gui: bundled scenes are examples: nothing asks to write over them, and nothing does") {
    Robot robot;
    const std::vector<std::string> before = contents(robot.gallery());
    const std::string text = read_file(robot.gallery() / "spring_cage.json");
    const fs::path here = robot.folder() / "here";
    fs::create_directories(here);
    const Folder folder(here);
    robot.run([&](ImGuiTestContext& hands) {
        robot.work().opening.open(robot.gallery() / "spring_cage.json");
        REQUIRE(opened(robot));
        CHECK(robot.work().scene.is_example());
        // Values that were found are asked about; they go to a file of the user.
        test::optimize(robot, hands);
        REQUIRE(robot.work().values.has_unaccepted());
        robot.work().opening.open(robot.gallery() / "free_flight.json");
        robot.frames(3);
        REQUIRE(robot.work().messages.question());
        robot.picture("example_found_question");
        CHECK(answers(robot) ==
              std::vector<std::string>{"Accept and save as...", "Discard", "Cancel"});
        hands.KeyPress(ImGuiKey_Enter);  // Cancel: Enter loses nothing
        robot.frames(3);
        CHECK(robot.work().scene.title() == "spring cage");
        CHECK(robot.work().values.has_unaccepted());
        robot.work().opening.open(robot.gallery() / "free_flight.json");
        robot.frames(3);
        hands.ItemClick("//###question/Accept and save as...");
        REQUIRE(robot.wait([&] { return hands.ItemExists("//###files/##name"); }));
        robot.frames(3);
        hands.KeyPress(ImGuiKey_Enter);
        REQUIRE(robot.wait([&] { return robot.work().scene.title() == "free flight"; }));
        REQUIRE(opened(robot));
        CHECK(Document::load(here / "spring_cage.json").at("/forces/0/rest_length").is_array());
        CHECK_FALSE(robot.work().messages.question());

        // An edit is asked about, and goes to a file of the user.
        REQUIRE(robot.work().scene.set("/gravity", Node::array({0.0, 0.0, -3.0}), "Gravity"));
        robot.work().opening.open(robot.scenes() / "flag.json");
        robot.frames(3);
        REQUIRE(robot.work().messages.question());
        robot.picture("example_question");
        CHECK(answers(robot) == std::vector<std::string>{"Save as...", "Discard", "Cancel"});
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(3);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
        robot.frames(3);
        robot.picture("example_saved_as");
        hands.KeyPress(ImGuiKey_Enter);
        robot.frames(3);
        CHECK(robot.work().scene.editor().file() == here / "free_flight.json");
        CHECK_FALSE(robot.work().scene.is_example());
        CHECK(Document::load(here / "free_flight.json").at("/gravity/2").real() == -3);
        CHECK_FALSE(robot.work().saving.save_as(robot.gallery() / "mine.json"));

        // Pictures of an example go to the current folder, under names without spaces.
        robot.work().opening.open(robot.gallery() / "spring_cage.json");
        REQUIRE(robot.wait([&] { return robot.work().scene.title() == "spring cage"; }));
        REQUIRE(opened(robot));
        CHECK(robot.work().scene.heading() == "spring cage (spring_cage.json)");
        hands.KeyPress(ImGuiKey_F12);
        robot.frames(3);
        CHECK(fs::exists(here / "spring_cage_1.png"));
        CHECK(robot.work().scene.output_folder() == here);
    });
    CHECK(contents(robot.gallery()) == before);
    CHECK(read_file(robot.gallery() / "spring_cage.json") == text);
}

TEST_CASE("gui: names of scenes become names of files that a shell takes") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open(robot, "spring_cage.json");
        REQUIRE(robot.work().scene.set("/name", Node(std::string("../a b/c:d")), "Name"));
        CHECK(robot.work().scene.file_stem() == "_._a_b_c_d");
        REQUIRE(robot.work().scene.set("/name", Node(std::string("Br\u00fccke-2.1")), "Name"));
        CHECK(robot.work().scene.file_stem() == "Br\u00fccke-2.1");
    });
}

TEST_CASE("gui: values that were found are neither saved nor lost by Enter") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        const fs::path file = robot.scenes() / "spring_cage.json";
        const std::string text = read_file(file);
        open(robot, "spring_cage.json");
        test::optimize(robot, hands);
        robot.work().opening.open(robot.scenes() / "flag.json");
        robot.frames(3);
        REQUIRE(robot.work().messages.question());
        hands.KeyPress(ImGuiKey_Enter);
        robot.frames(3);
        CHECK_FALSE(robot.work().messages.question());
        CHECK(robot.work().scene.title() == "spring cage");
        CHECK(robot.work().values.has_unaccepted());
        CHECK(read_file(file) == text);
    });
}

TEST_CASE("gui: the key of a command is no answer to a question that has just come") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        bool taken = false;
        robot.work().messages.ask(
            {"Unsaved changes were kept",
             "",
             "",
             {{"Open what was kept", "", [&] { taken = true; }}, {"Not now", "", [] {}}}});
        robot.frames(3);
        for (const ImGuiKey key : {ImGuiKey_O, ImGuiKey_N}) {
            hands.KeyPress(key);
            robot.frames(2);
            CHECK(robot.work().messages.question());
        }
        CHECK_FALSE(taken);
        hands.KeyPress(ImGuiKey_Enter);
        robot.frames(2);
        CHECK(taken);
    });
}

TEST_CASE("gui: a message of a broken file goes when the file is mended; the log keeps it") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open(robot, "spring_cage.json");
        const fs::path file = robot.scenes() / "spring_cage.json";
        const std::string right = read_file(file);
        write_file_atomically(file, "{ \"format\": 1, \"bodis\": [] }\n");
        REQUIRE(robot.wait([&] { return said(robot, "does not load"); }));
        CHECK(logged(robot, "the key 'time' is missing"));
        robot.work().requests.focus_panel = "Log";
        robot.frames(5);
        robot.picture("error_in_log");
        write_file_atomically(file, right);
        CHECK(robot.wait([&] { return said(robot, "was read again"); }));
        CHECK_FALSE(said(robot, "does not load"));

        // What the simulation refuses, until it does not.
        REQUIRE(robot.work().scene.set("/forces/0/stiffness", Node(-1.0), "Stiffness"));
        REQUIRE(robot.wait([&] { return robot.now().reports.error != nullptr; }));
        robot.frames(2);
        const auto errors = [&] {
            return std::ranges::count(robot.work().messages.notices(), gui::Notice::Kind::error,
                                      &gui::Notice::kind);
        };
        CHECK(errors() == 1);
        robot.work().scene.editor().undo();
        CHECK(robot.wait([&] { return robot.now().reports.error == nullptr; }));
        robot.frames(2);
        CHECK(errors() == 0);
    });
}

TEST_CASE("gui: messages lie behind questions and dialogs, in front of the panels") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        const ImVector<ImGuiWindow*>& windows = ImGui::GetCurrentContext()->Windows;
        const auto depth = [&](const std::string& name) {
            for (int k = 0; k < windows.Size; ++k)
                if (std::string(windows[k]->Name).ends_with(name) && windows[k]->Active) return k;
            throw Error("there is no window " + name);
        };
        robot.work().messages.tell("A message", gui::Notice::Kind::error);
        robot.frames(3);
        CHECK(depth("##notice0") > depth("###Inspector"));
        // Windows that are no popups.
        robot.work().requests.show_export = true;
        robot.frames(3);
        robot.picture("message_and_export");
        CHECK(depth("##notice0") < depth("Export"));
        CHECK(depth("##notice0") > depth("###Inspector"));
        robot.work().requests.show_export = false;
        robot.work().requests.show_help = true;
        robot.frames(3);
        CHECK(depth("##notice0") < depth("Keys and commands"));
        hands.MouseMoveToPos({20, 400});
        hands.MouseClick();  // a panel comes in front of other panels only
        robot.frames(3);
        CHECK(depth("##notice0") > depth("###Inspector"));
        robot.work().requests.show_help = false;
        robot.work().messages.ask({"A question", "", "", {{"Yes", "", [] {}}}});
        robot.frames(3);
        robot.picture("message_and_question");
        CHECK(depth("##notice0") < depth("###question"));
        CHECK(depth("##notice0") > depth("###Inspector"));
    });
}

TEST_CASE("gui: over the gallery, keys of time and of the optimization do nothing") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        test::stop_at(robot, 10);
        robot.work().requests.show_gallery = true;
        robot.frames(3);
        robot.picture("gallery_over_scene");
        for (const ImGuiKey key : {ImGuiKey_Space, ImGuiKey_Home, ImGuiKey_O}) hands.KeyPress(key);
        robot.frames(10);
        CHECK_FALSE(robot.now().run.playing);
        CHECK(robot.now().run.step == 10);
        CHECK(test::last_iteration(robot) == -1);
        CHECK_FALSE(robot.app().actions().run("optimize", robot.work()));
        robot.work().requests.show_gallery = false;
        robot.frames(3);
        hands.KeyPress(ImGuiKey_Home);
        CHECK(robot.wait([&] { return robot.now().run.step == 0; }));
    });
}

TEST_CASE("gui: the open dialog takes another name after a wrong one, sorts, and remembers") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_O);
        robot.frames(3);
        hands.KeyCharsReplaceEnter("nothing.json");
        robot.frames(3);
        CHECK(ImGui::GetActiveID() == hands.ItemInfo("//###files/##name").ID);
        hands.KeyCharsReplace("flag.json");
        robot.frames(3);
        robot.picture("open_dialog_again");
        hands.KeyPress(ImGuiKey_Enter);
        CHECK(robot.wait([&] { return robot.work().scene.title() == "flag"; }));
        const Document kept = Document::load(robot.folder() / "state/settings.json");
        CHECK(kept.at("/folder").string() == robot.scenes().string());
    });
}

TEST_CASE("gui: in the open dialog what is typed goes on where it is wanted next") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_O);
        robot.frames(3);
        const auto typed_in = [&](const char* field) {
            return ImGui::GetActiveID() == hands.ItemInfo(field).ID;
        };
        // A folder that is not there is put right in its own field.
        hands.ItemClick("//###files/##folder");
        hands.KeyCharsReplaceEnter("/no/such/folder");
        robot.frames(3);
        CHECK(typed_in("//###files/##folder"));
        robot.picture("open_dialog_wrong_folder");
        // In the one that is there, a name is next.
        hands.KeyCharsReplaceEnter(robot.gallery().c_str());
        robot.frames(3);
        CHECK(typed_in("//###files/##name"));
        // A click chooses a scene, Enter opens it.
        hands.ItemClick("//###files/**/###free_flight.json");
        robot.frames(3);
        CHECK(typed_in("//###files/##name"));
        hands.KeyPress(ImGuiKey_Enter);
        CHECK(robot.wait([&] { return robot.work().scene.title() == "free flight"; }));
        CHECK(robot.work().scene.editor().file() == robot.gallery() / "free_flight.json");
        // A folder that was typed and not gone to is not that of the list.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_O);
        robot.frames(3);
        hands.ItemClick("//###files/##folder");
        hands.KeyCharsReplace("/no/such/folder");
        hands.ItemClick("//###files/##name");
        robot.frames(3);
        hands.KeyCharsReplaceEnter("flag.json");
        CHECK(robot.wait([&] { return robot.work().scene.title() == "flag"; }));
        CHECK(robot.work().scene.editor().file() == robot.gallery() / "flag.json");
    });
}

TEST_CASE("gui export: what lasts less than a second is slowed down as hindcast render does it") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        // 6 steps of 1/30 s: 0.2 s at 0.05x are 4 s, at 30 pictures a second 120 and the first.
        Document quick = Document::load(robot.scenes() / "spring_cage.json");
        quick.set("/time/steps", 6);
        quick.save(robot.scenes() / "quick.json");
        open(robot, "quick.json");
        robot.work().running.play(false);
        robot.work().requests.show_export = true;
        robot.frames(3);
        robot.picture("export_speed");
        hands.SetRef("//Export");
        hands.ComboClick("##size/640 x 360");
        hands.SetRef("");
        hands.ItemInputValue("//Export/##folder", robot.gallery().c_str());
        hands.ItemClick("//Export/###Export");
        CHECK(said(robot, "is not written to"));  // the folder of the examples
        hands.ItemInputValue("//Export/##folder", robot.folder().c_str());
        hands.ItemClick("//Export/###Export");
        REQUIRE(robot.wait([&] { return said(robot, "Exported"); }, 300));
        const fs::path frames = robot.folder() / "spring_cage_frames";
        CHECK(std::distance(fs::directory_iterator(frames), {}) == 121);
        // Twice as fast by hand.
        robot.work().messages.notices().clear();
        robot.work().requests.show_export = true;
        robot.frames(3);
        hands.ItemClick("//Export/##speed");
        robot.frames(2);
        hands.KeyCharsReplaceEnter("0.1");
        hands.ItemClick("//Export/###Export");
        robot.frames(3);
        hands.ItemClick("//###question/Replace");
        REQUIRE(robot.wait([&] { return said(robot, "Exported"); }, 300));
        CHECK(std::distance(fs::directory_iterator(frames), {}) == 61);
    });
}
