// The gallery after the README's first command: every card opens its scene, which then plays. The
// library that reads robots is the one that app/run has put into the cache's folder; without it a
// card of a robot says how to get it.
//
// A process looks for that library once, and other tests name the one they want. So both cases run
// the tour below in a process of its own.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "app/gui/window/gallery.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/handover.hpp"
#include "engine/base/files.hpp"
#include "engine/robot/mujoco_library.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using test::Robot;
namespace fs = std::filesystem;

namespace {

// Runs the tour with these changes of the environment (the words of env).
bool tour_passes(const std::string& environment) {
    const std::string program = fs::read_symlink("/proc/self/exe").string();
    const std::string command = "env " + environment + " '" + program +
                                "' --no-skip --test-case='probe of the gallery' </dev/null";
    return std::system(command.c_str()) == 0;
}

bool has_robot(const fs::path& scene) {
    return read_file(scene).find("\"articulated\"") != std::string::npos;
}

// Clicks on a card; those below the window's edge are reached with the wheel.
void click_card(Robot& robot, ImGuiTestContext& hands, const std::string& name) {
    const std::string card = "//##dock/**/" + name;
    hands.MouseMoveToPos({640, 500});
    const auto shown = [&] {
        return hands.ItemInfo(card.c_str(), ImGuiTestOpFlags_NoError).ID != 0;
    };
    for (int turns = 0; turns < 100 && !shown(); ++turns) {
        hands.MouseWheelY(-2);
        robot.frames(2);
    }
    hands.ItemClick(card.c_str());
}

void open_and_play(Robot& robot) {
    const std::string title = robot.work().scene.title();
    CAPTURE(title);
    // It plays by itself; a frame after the first is in the picture.
    CHECK(robot.wait([&] { return robot.now().run.steps_computed > 0; }, 300));
    if (!robot.now().run.playing) robot.work().running.play(true);
    CHECK(robot.wait(
        [&] {
            const render::Frame* const frame = robot.app().picture().frame();
            return frame != nullptr && frame->step > 0;
        },
        300));
    CHECK(robot.now().reports.error == nullptr);
    for (const gui::Notice& notice : robot.work().messages.notices())
        CHECK_MESSAGE(notice.kind != gui::Notice::Kind::error, notice.text);
}

}  // namespace

// Run by the cases below only. HINDCAST_PROBE=robots: the cards of robots alone.
TEST_CASE("probe of the gallery" * doctest::skip()) {
    const char* const probe = std::getenv("HINDCAST_PROBE");
    REQUIRE(probe != nullptr);
    const bool robots_alone = std::string(probe) == "robots",
               has_library = robot::mujoco_library().info().available;
    CHECK(has_library != robots_alone);
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        for (const gui::SceneGroup& group : gui::scene_groups(robot.gallery()))
            for (const fs::path& scene : group.scenes) {
                if (robots_alone && !has_robot(scene)) continue;
                CAPTURE(scene.string());
                robot.work().requests.show_gallery = true;
                robot.frames(4);
                click_card(robot, hands, gui::read_card(scene).name);
                if (has_library || !has_robot(scene)) {
                    REQUIRE(robot.wait(
                        [&] {
                            return robot.work().running.has_run() &&
                                   !robot.work().handover.is_opening() &&
                                   robot.work().scene.editor().file() == scene;
                        },
                        300));
                    open_and_play(robot);
                    continue;
                }
                REQUIRE(robot.wait([&] { return robot.work().messages.question().has_value(); }));
                const std::string detail = robot.work().messages.question()->detail;
                CHECK_MESSAGE(detail.find("app/run fetches MuJoCo's library; or pip install") !=
                                  std::string::npos,
                              detail);
                robot.frames(4);
                robot.picture("gallery_without_mujoco");
                hands.KeyPress(ImGuiKey_Escape);
                CHECK(robot.wait([&] { return !robot.work().messages.question(); }));
            }
    });
}

TEST_CASE("gallery: every card opens its scene and plays it, robots with what app/run fetches") {
    // Looked for as in a process without HINDCAST_MUJOCO.
    if (const robot::MujocoLibrary found; !found.info().available)
        HINDCAST_SKIP(found.info().problem);
    CHECK(tour_passes("-u HINDCAST_MUJOCO HINDCAST_PROBE=all"));
}

TEST_CASE("gallery: without MuJoCo's library the cards of robots say how to get it") {
    CHECK(tour_passes("HINDCAST_MUJOCO=/nowhere/libmujoco.so HINDCAST_PROBE=robots"));
}
