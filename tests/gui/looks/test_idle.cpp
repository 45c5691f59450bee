// A window that nobody touches draws nothing, whatever it shows and wherever the mouse rests. Time is
// the window's own here: it goes by without waiting, as App::run lets it.
#include <GLFW/glfw3.h>
#include <doctest/doctest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using gui::FrameReason;
using test::Robot;

namespace {

constexpr double minute = 60;

struct Rest {
    bool comes = false;  // nothing was drawn for a minute
    int frames = 0;      // before that
    std::string reasons;
};

// Until nothing was drawn for so many seconds of the window's time. The simulation's thread has its
// own: it may still bring something, for which there are looks enough.
Rest rest(Robot& robot, double seconds = minute) {
    gui::App& app = robot.app();
    Rest result;
    double still = 0;
    constexpr int most_frames = 600;  // of a window that does not come to rest
    for (int look = 0; look < 20'000 && still < seconds && result.frames < most_frames; ++look) {
        if (app.wants_frame()) {
            app.frame();
            ++result.frames;
            still = 0;
            continue;
        }
        const double step = std::min(gui::frame_wishes().left(), gui::App::idle_seconds);
        app.pass(step);
        still += step;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    result.comes = still >= seconds;
    result.reasons = gui::frame_wishes().reasons();
    return result;
}

// It comes to rest, and stays there.
void check_rests(Robot& robot, const std::string& state, int most_frames) {
    const Rest first = rest(robot);
    CAPTURE(state);
    CAPTURE(first.reasons);
    CHECK(first.comes);
    CHECK(first.frames <= most_frames);
    const Rest again = rest(robot);
    CHECK(again.comes);
    CHECK(again.frames == 0);
}

constexpr int of_opening = 400;  // frames, until a scene that was opened is at rest
constexpr int of_an_event = 16;  // frames that one event may cost: it settles, a tooltip comes

void open_and_stop(Robot& robot, std::int64_t step = 10) {
    robot.run([&](ImGuiTestContext&) {
        test::open(robot, "spring_cage.json");
        test::stop_at(robot, step);
    });
    check_rests(robot, "a scene that was stopped", of_opening);
}

// The simulation shows another step, and has written its picture.
void seek(Robot& robot, std::int64_t step) {
    robot.work().running.send(session::Seek{step});
    const auto shown = robot.app().session()->wait(
        [&](const session::Snapshot& s) { return s.run.step == step && !s.view.frame_waits; }, 60);
    REQUIRE(shown->run.step == step);
}

ImVec2 middle_of(Robot& robot, const char* item) {
    ImVec2 place;
    robot.run([&](ImGuiTestContext& hands) {
        const ImGuiTestItemInfo info = hands.ItemInfo(item);
        REQUIRE(info.ID != 0);
        place = info.RectClipped.GetCenter();
    });
    rest(robot);
    return place;
}

constexpr ImVec2 menu_view{162, 12};  // of the menu bar

void move_to(ImVec2 place) { ImGui::GetIO().AddMousePosEvent(place.x, place.y); }

bool tooltip_is_shown() {
    return std::ranges::any_of(GImGui->Windows, [](const ImGuiWindow* window) {
        return (window->Flags & ImGuiWindowFlags_Tooltip) != 0 && window->Active && !window->Hidden;
    });
}

// The window without its bottom line, which says how long frames take.
std::vector<std::uint8_t> screen(Robot& robot) {
    const render::Image image = robot.app().screenshot();
    return {image.pixels.begin(),
            image.pixels.begin() + static_cast<std::ptrdiff_t>(4 * image.width) *
                                       (static_cast<std::ptrdiff_t>(image.height) - 30)};
}

}  // namespace

TEST_CASE("gui idle: the gallery, with the tour open") {
    Robot robot({.tour = true, .draws = true});
    check_rests(robot, "the gallery", 40);
    CHECK(robot.work().requests.show_tour);
    ImGui::GetIO().AddMousePosEvent(640, 500);
    ImGui::GetIO().AddMouseWheelEvent(0, -3);
    check_rests(robot, "scrolled, and the mouse on a card", 90);
    ImGui::GetIO().AddMousePosEvent(2, 790);
    check_rests(robot, "the mouse in a corner", of_an_event);
}

TEST_CASE(
    "gui idle: a card of the gallery moves where the mouse comes to it, and stands still again") {
    Robot robot({.draws = true});
    robot.run([&](ImGuiTestContext&) { robot.frames(5); });
    move_to(middle_of(robot, "//**/drape"));
    const Rest moved = rest(robot);
    CAPTURE(moved.reasons);
    CHECK(moved.comes);
    // Each picture of the strip is drawn once, not sixty times a second.
    const int pictures = gui::strip_columns * gui::strip_rows * gui::strip_rounds;
    CHECK(moved.frames >= pictures);
    CHECK(moved.frames <= pictures + of_an_event);
    CHECK(tooltip_is_shown());
    // Another one, and the first again.
    move_to(middle_of(robot, "//**/gripper"));
    CHECK(rest(robot).frames >= pictures);
    move_to(middle_of(robot, "//**/drape"));
    CHECK(rest(robot).frames >= pictures);
}

TEST_CASE("gui idle: a field that waits for text, and what was typed into it") {
    Robot robot({.draws = true});
    robot.run([&](ImGuiTestContext& hands) {
        robot.frames(5);
        hands.ItemClick("//##dock/**/##search");
    });
    ImGui::GetIO().AddInputCharacter('c');
    check_rests(robot, "the gallery's search", 90);
    CHECK(ImGui::GetIO().WantTextInput);
}

TEST_CASE("gui idle: a paused scene, wherever the mouse rests") {
    Robot robot({.draws = true});
    open_and_stop(robot);
    for (const char* item : {"//###View/picture", "//##timeline/**/time slider",
                             "//###Optimizer/Live", "//###Scene/###Add"}) {
        move_to(middle_of(robot, item));
        check_rests(robot, item, of_an_event);
        CHECK(tooltip_is_shown());
    }
    for (const ImVec2 place : {ImVec2{486, 41}, menu_view}) {  // the button that optimizes
        move_to(place);
        check_rests(robot, "a button, a menu", of_an_event);
    }
    // What is drawn at rest is the newest.
    seek(robot, 20);
    check_rests(robot, "another step", of_an_event);
    CHECK(robot.app().picture().frame()->step == 20);
}

TEST_CASE("gui idle: a paused scene with the best picture") {
    Robot robot({.draws = true});
    robot.work().settings.samples = 4;
    robot.work().settings.shadows = robot.work().settings.ambient_occlusion = true;
    robot.work().settings.save();
    open_and_stop(robot);
    move_to(middle_of(robot, "//###View/picture"));
    const auto drawn = robot.app().picture().renderer().counters().frames;
    check_rests(robot, "the best picture", of_an_event);
    CHECK(robot.app().picture().renderer().counters().frames == drawn);
}

TEST_CASE("gui idle: a scene that has come to its end, and an optimization that has") {
    Robot robot({.draws = true});
    robot.run([&](ImGuiTestContext& hands) {
        test::open(robot, "spring_cage.json");
        robot.work().running.send(session::Repeat{false});
        REQUIRE(robot.wait([&] { return !robot.now().run.playing && robot.now().run.step == 30; }));
        test::optimize(robot, hands);
    });
    check_rests(robot, "all has ended", of_opening);
}

TEST_CASE("gui idle: a newer picture that cannot be seen is not waited for") {
    Robot robot({.draws = true});
    open_and_stop(robot);
    robot.work().requests.focus_panel = "Scene file";
    robot.run([&](ImGuiTestContext&) { robot.frames(5); });
    check_rests(robot, "the text in front of the picture", of_opening);
    seek(robot, 20);
    check_rests(robot, "another step", of_an_event);
    robot.work().requests.show_gallery = true;
    seek(robot, 25);
    robot.run([&](ImGuiTestContext&) { robot.frames(5); });
    check_rests(robot, "the gallery before the scene", of_opening);
}

TEST_CASE("gui idle: behind the gallery time stands still, and goes on when the scene is seen") {
    Robot robot({.draws = true});
    robot.run([&](ImGuiTestContext&) {
        test::open(robot, "spring_cage.json");
        REQUIRE(robot.wait([&] { return robot.now().run.playing; }));
    });
    robot.work().requests.show_gallery = true;
    check_rests(robot, "the gallery before a scene that plays", of_opening);
    CHECK_FALSE(robot.now().run.playing);
    robot.work().requests.show_gallery = false;
    robot.run([&](ImGuiTestContext&) {
        CHECK(robot.wait([&] { return robot.now().run.playing; }));
        const std::int64_t step = robot.now().run.step;
        CHECK(robot.wait([&] { return robot.now().run.step != step; }));
    });
}

TEST_CASE("gui idle: messages go by themselves, stay under the mouse, and cost a few frames") {
    Robot robot({.draws = true});
    open_and_stop(robot);
    robot.work().messages.tell("Something happened");
    robot.run([&](ImGuiTestContext&) { robot.frames(2); });
    REQUIRE(robot.work().messages.notices().size() == 1);
    check_rests(robot, "a message", 2 * of_an_event);
    CHECK(robot.work().messages.notices().empty());

    robot.work().messages.tell("Something else");
    move_to({1150, 690});  // it is in the lower right corner
    robot.run([&](ImGuiTestContext&) { robot.frames(2); });
    const ImGuiWindow* const message = ImGui::FindWindowByName("##notice0");
    REQUIRE(message != nullptr);
    move_to(
        ImRect(message->Pos, {message->Pos.x + message->Size.x, message->Pos.y + message->Size.y})
            .GetCenter());
    check_rests(robot, "a message under the mouse", 2 * of_an_event);
    CHECK(robot.work().messages.notices().size() == 1);
    move_to({300, 300});
    check_rests(robot, "the mouse has left it", 3 * of_an_event);
    CHECK(robot.work().messages.notices().empty());
}

TEST_CASE("gui idle: unsaved edits are kept though nothing is drawn") {
    Robot robot({.draws = true});
    open_and_stop(robot);
    REQUIRE(robot.work().scene.set("/gravity/2", document::Node(-3.0), "Gravity"));
    check_rests(robot, "an edit", of_opening);
    CHECK(robot.work().scene.editor().unsaved());
    bool kept = false;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(robot.folder() / "state"))
        kept |= entry.path().string().find("autosave") != std::string::npos;
    CHECK(kept);
}

// What is on the screen when the window rests is what it would show if it went on drawing.
TEST_CASE("gui idle: nothing is left half drawn") {
    Robot robot({.draws = true});
    open_and_stop(robot);
    ImGuiIO& io = ImGui::GetIO();
    const auto draw = [&](int frames) {  // while something is held down
        while (frames-- > 0) robot.app().frame();
    };
    const auto press = [&](ImGuiKey key, bool control) {
        if (control) io.AddKeyEvent(ImGuiMod_Ctrl, true);
        io.AddKeyEvent(key, true);
        draw(2);
        io.AddKeyEvent(key, false);
        if (control) io.AddKeyEvent(ImGuiMod_Ctrl, false);
    };
    const auto check_whole = [&](const char* what) {
        CAPTURE(what);
        check_rests(robot, what, 60);
        const auto shown = screen(robot);
        for (int k = 0; k < 40; ++k) robot.app().frame();
        CHECK(screen(robot) == shown);
        rest(robot);
    };
    check_whole("at first");
    press(ImGuiKey_K, true);
    check_whole("the palette");
    press(ImGuiKey_Escape, false);
    check_whole("the palette is closed");
    press(ImGuiKey_O, true);
    check_whole("the dialog of files");
    press(ImGuiKey_Escape, false);
    check_whole("the dialog is closed");
    robot.work().messages.ask(
        {"A question", "with text", "", {{"Yes", "", [] {}}, {"No", "", [] {}}}});
    gui::frame_wishes().want(FrameReason::news);
    check_whole("a question");
    press(ImGuiKey_Escape, false);
    check_whole("the question is answered");
    const auto click = [&](ImVec2 place) {
        move_to(place);
        io.AddMouseButtonEvent(0, true);
        draw(2);
        io.AddMouseButtonEvent(0, false);
    };
    click(menu_view);
    check_whole("a menu");
    move_to({menu_view.x, menu_view.y + 30});
    check_whole("the mouse in it");
    press(ImGuiKey_Escape, false);
    robot.work().requests.focus_panel = "Scene file";
    gui::frame_wishes().want(FrameReason::news);
    check_whole("another panel in front");
    robot.app().resize(900, 700);
    gui::frame_wishes().want(FrameReason::screen);
    check_whole("a smaller window");
}

TEST_CASE("gui idle: a window that is not seen draws nothing, and its time stands still") {
    if (!gui::Window::display_exists()) HINDCAST_SKIP("no display; run under xvfb-run");
    Robot robot({.window = true});
    robot.run([&](ImGuiTestContext&) {
        test::open(robot, "spring_cage.json");
        REQUIRE(robot.wait([&] { return robot.now().run.playing; }));
    });
    int drawn = 0;
    const auto after = robot.app().after_show;
    robot.app().after_show = [&] { ++drawn; };
    auto* const window = static_cast<GLFWwindow*>(ImGui::GetMainViewport()->PlatformHandle);
    glfwHideWindow(window);
    REQUIRE_FALSE(robot.window().is_shown());
    for (int k = 0; k < 4; ++k) robot.app().frame();
    CHECK(drawn == 0);
    CHECK_FALSE(robot.now().run.playing);
    const std::int64_t step = robot.now().run.step;
    for (int k = 0; k < 4; ++k) robot.app().frame();
    CHECK(robot.now().run.step == step);
    CHECK(drawn == 0);
    glfwShowWindow(window);
    robot.app().after_show = after;
    robot.run([&](ImGuiTestContext&) {
        CHECK(robot.wait([&] { return robot.now().run.playing && robot.now().run.step != step; }));
    });
}
