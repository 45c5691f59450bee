// A window that stays open all day: what is drawn, played, optimized, opened and exported leaves no
// memory behind, and where nothing changes nothing is drawn.
#include <doctest/doctest.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/process_memory.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/measured.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/handover.hpp"
#include "tests/gui/robot.hpp"
#include "tests/support/memory/memory_in_use.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using test::Robot;

namespace {

constexpr std::int64_t MiB = std::int64_t{1} << 20;

void open(Robot& robot, const char* scene) {
    robot.run([&](ImGuiTestContext&) {
        robot.work().opening.open(robot.scenes() / scene);
        REQUIRE(robot.wait(
            [&] { return robot.work().running.has_run() && !robot.work().handover.is_opening(); }));
        robot.frames(10);
    });
}

// Drags the picture with the middle button: the camera moves with each frame.
void play_and_pan(Robot& robot, int frames) {
    ImGuiIO& io = ImGui::GetIO();
    const ImVec2 middle{io.DisplaySize.x * 0.47F, io.DisplaySize.y * 0.35F};  // of the view
    io.AddMousePosEvent(middle.x, middle.y);
    robot.app().frame();
    io.AddMouseButtonEvent(2, true);
    for (int k = 1; k <= frames; ++k) {
        const float turns = static_cast<float>(k) / 60;  // to and fro, and back where it began
        io.AddMousePosEvent(middle.x + 60 * std::sin(6.2831853F * turns), middle.y);
        robot.app().frame();
    }
    io.AddMouseButtonEvent(2, false);
    robot.app().frame();
}

}  // namespace

TEST_CASE("gui: a minute of playing and panning keeps no memory") {
    Robot robot({.draws = true,
                 .width = 720,
                 .height = 520});  // what is kept of a picture depends on no size
    open(robot, "spring_cage.json");
    play_and_pan(robot, 120);
    const auto pictures = [&] { return robot.app().picture().renderer().counters().frames; };
    const auto drawn = pictures();
    const std::int64_t before = test::memory_in_use();
    // 60 seconds at 60 pictures a second. Where memory is kept, the test ends before it has all.
    for (int second = 0; second < 60; ++second) {
        play_and_pan(robot, 60);
        REQUIRE(test::memory_in_use() - before < 40 * MiB);
    }
    CHECK(robot.now().run.playing);
    CHECK(pictures() - drawn > 60 * 40);  // not where the hand turns back
}

TEST_CASE("gui: the memory that is shown is what the process has") {
    const auto resident = [] {
        std::int64_t kib = 0;
        std::ifstream status("/proc/self/status");
        for (std::string key; status >> key && key != "VmRSS:";) {
        }
        status >> kib;
        REQUIRE(kib > 0);
        return kib * 1024;
    };
    Robot robot({.draws = true});
    robot.run([&](ImGuiTestContext&) { robot.frames(1); });
    const std::int64_t before = resident();
    // It is measured anew between these two looks.
    robot.run([&](ImGuiTestContext&) {
        const auto first = robot.work().measured.resident_bytes;
        robot.wait([&] { return robot.work().measured.resident_bytes != first; });
    });
    const std::int64_t after = resident();
    const gui::Measured& measured = robot.work().measured;
    CHECK(measured.resident_bytes > std::min(before, after) - 32 * MiB);
    CHECK(measured.resident_bytes < std::max(before, after) + 32 * MiB);
    CHECK(measured.most_bytes > measured.resident_bytes);
}

TEST_CASE("gui: the most memory there is: the machine's, or that of a group around the process") {
    const test::TemporaryFolder root;
    namespace fs = std::filesystem;
    const auto write = [&](const char* file, const std::string& text) {
        fs::create_directories((root.path() / file).parent_path());
        std::ofstream(root.path() / file) << text;
    };
    CHECK(gui::most_bytes(root.path()) == 0);
    write("proc/meminfo", "MemTotal:       16000 kB\nMemFree:         200 kB\n");
    CHECK(gui::most_bytes(root.path()) == 16000 * 1024);
    write("proc/self/cgroup", "1:cpu:/other\n0::/user/session\n");
    write("sys/fs/cgroup/user/session/memory.max", "max\n");
    CHECK(gui::most_bytes(root.path()) == 16000 * 1024);
    write("sys/fs/cgroup/user/memory.max", "4096000\n");
    CHECK(gui::most_bytes(root.path()) == 4096000);
    CHECK(gui::is_large(2048001, 4096000));
    CHECK_FALSE(gui::is_large(2047999, 4096000));
    CHECK_FALSE(gui::is_large(2047999, 0));
}

TEST_CASE("gui: nothing is drawn while time stands still and nobody touches the window") {
    if (!gui::Window::display_exists()) HINDCAST_SKIP("no display; run under xvfb-run");
    bool counts = false;
    int looks = 0, drawn = 0, drawn_before = 0, at_rest = 0;
    // The window looks for the wish to end with each frame, and a few times a second at rest.
    constexpr int enough = 8, most = 4000;
    Robot robot({.window = true, .interrupted = [&] {
                     if (!counts) return false;
                     if (at_rest >= enough) return true;  // the frame that ends it is drawn
                     ++looks;
                     at_rest = drawn == drawn_before ? at_rest + 1 : 0;
                     drawn_before = drawn;
                     return at_rest >= enough || looks >= most;
                 }});
    open(robot, "spring_cage.json");
    robot.work().running.play(false);
    robot.run(
        [&](ImGuiTestContext&) { REQUIRE(robot.wait([&] { return !robot.now().run.playing; })); });
    robot.app().after_show = [&] { ++drawn; };
    counts = true;
    robot.app().run();
    CHECK(at_rest == enough);
}

TEST_CASE("gui: opening, playing, optimizing, scrubbing, editing: nothing stays of it") {
    Robot robot({.validation = false, .draws = true});
    // Memory is asked about, not time: a busy machine may take long.
    constexpr double patience = 300;  // s
    const auto whole = [&] {
        return robot.wait(
            [&] {
                return robot.now().reports.activity == session::Activity::idle &&
                       !robot.work().handover.is_behind();
            },
            patience);
    };
    // What a user does with one scene after the other.
    const auto go_through = [&](const char* scene) {
        robot.run([&](ImGuiTestContext&) {
            robot.work().opening.open(robot.scenes() / scene);
            if (const auto asked = std::exchange(robot.work().messages.question(), std::nullopt))
                for (const gui::Question::Answer& answer : asked->answers)
                    if (answer.label == "Discard") answer.action();
            REQUIRE(robot.wait(
                [&] {
                    return robot.work().running.has_run() && !robot.work().handover.is_opening() &&
                           robot.work().scene.editor().file().filename() == scene;
                },
                patience));
            robot.frames(5);
            robot.work().running.optimize(session::Optimize::What::one);
            REQUIRE(robot.wait(
                [&] {
                    return robot.now().optimization.history &&
                           robot.now().optimization.history->size() > 1 &&
                           !robot.work().running.is_optimizing();
                },
                patience));
            robot.work().running.play(false);
            REQUIRE(whole());
            for (int k = 1; k <= 8; ++k) {
                robot.work().running.send(session::Seek{robot.now().run.steps * k / 8});
                robot.frames(2);
            }
            robot.work().running.send(session::ShowIteration{0});
            robot.frames(3);
            robot.work().running.send(session::ShowIteration{});
            robot.work().scene.edit([&](session::Editor& e) {
                e.set("/description", document::Node("another"), "Describe");
                e.undo();
            });
            robot.frames(3);
        });
    };
    // HINDCAST_FULL=1: 40 minutes (a part of tests/run --full has 45), with scenes of every kind.
    const bool full = test::full();
    std::vector<const char*> scenes = {"spring_cage.json", "thrown_ball.json", "soft_beam.json"};
    if (full)
        scenes.insert(scenes.end(), {"cloth_over_ball.json", "wave_image.json", "gripper.json",
                                     "mpm_launch.json", "stiffness_field.json"});
    const auto rounds = [&](int count) {
        for (int k = 0; k < count; ++k)
            for (const char* scene : scenes) go_through(scene);
    };
    rounds(2);
    const std::int64_t before = test::memory_in_use();
    std::deque<std::int64_t> latest;
    const auto begin = std::chrono::steady_clock::now();
    const auto end = begin + std::chrono::seconds(full ? 2400 : 0);
    for (int k = 0; k < 4 || std::chrono::steady_clock::now() < end; ++k) {
        rounds(1);
        // At a single moment another thread may be at work on what it gives back: what stays is in
        // each of the last three.
        latest.push_back(test::memory_in_use());
        if (latest.size() > 3) latest.pop_front();
        REQUIRE(*std::ranges::min_element(latest) - before < 10 * MiB);
    }
}

TEST_CASE("gui: exporting again and again keeps no memory") {
    Robot robot({.draws = true});
    open(robot, "spring_cage.json");
    int exported = 0;
    const auto export_pictures = [&](int count) {
        robot.run([&](ImGuiTestContext& hands) {
            for (int k = 0; k < count; ++k) {
                robot.work().messages.notices().clear();
                robot.work().requests.show_export = true;
                robot.frames(3);
                hands.SetRef("//Export");
                hands.ComboClick("##kind/PNG sequence");
                hands.ComboClick("##size/640 x 360");
                hands.SetRef("");
                const auto folder = robot.folder() / std::to_string(++exported);
                std::filesystem::create_directory(folder);
                hands.ItemInputValue("//Export/##folder", folder.c_str());
                hands.ItemClick("//Export/###Export");
                REQUIRE(robot.wait(
                    [&] {
                        return std::ranges::any_of(
                            robot.work().messages.notices(), [](const gui::Notice& notice) {
                                return notice.text.find("Exported") != std::string::npos;
                            });
                    },
                    300));
            }
        });
    };
    export_pictures(1);
    const std::int64_t before = test::memory_in_use();
    export_pictures(3);
    CHECK(test::memory_in_use() - before < 10 * MiB);
}
