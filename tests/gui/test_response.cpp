// From the user's hand to the picture.
#include <doctest/doctest.h>
#include <imgui.h>

#include <chrono>
#include <thread>

#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"
#include "tests/gui/robot.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using test::Robot;

TEST_CASE("gui: what the mouse does is seen within two frames, while the scene optimizes") {
    Robot robot({.draws = true});
    robot.run([&](ImGuiTestContext&) {
        robot.work().opening.open(robot.scenes() / "hanging_net.json");
        CHECK(robot.wait([&] { return robot.work().running.has_run(); }));
        robot.frames(10);
    });
    robot.work().running.optimize(session::Optimize::What::start);
    ImGuiIO& io = ImGui::GetIO();
    io.AddMousePosEvent(640, 330);
    for (int k = 0; k < 5; ++k) robot.app().frame();
    const auto eye = [&] { return robot.work().looks.view.camera.eye; };
    // The camera of the frame that was drawn, and so the picture, is the one that the wheel moved.
    for (int turn = 0; turn < 3; ++turn) {
        const auto before = eye();
        io.AddMouseWheelEvent(0, 1);
        robot.app().frame();
        robot.app().frame();
        CHECK(eye() != before);
    }
    const auto before = eye();
    io.AddMouseButtonEvent(0, true);
    robot.app().frame();
    io.AddMousePosEvent(680, 350);
    robot.app().frame();
    robot.app().frame();
    CHECK(eye() != before);
    const render::Image turned = robot.app().screenshot();
    io.AddMousePosEvent(560, 330);
    robot.app().frame();
    robot.app().frame();
    CHECK(robot.app().screenshot().pixels != turned.pixels);
    io.AddMouseButtonEvent(0, false);
    robot.app().frame();
}

TEST_CASE("gui: a field that waits for text does not keep the window awake") {
    Robot robot({.draws = true});
    robot.run([&](ImGuiTestContext&) {
        test::open(robot, "spring_cage.json");
        test::stop_at(robot, 10);
    });
    robot.work().requests.show_open = true;
    for (int k = 0; k < 5; ++k) robot.app().frame();
    REQUIRE(ImGui::GetIO().WantTextInput);
    // As App::run does it, until what had happened has settled.
    bool sleeps = false;
    for (int k = 0; k < 2400 && !sleeps; ++k) {
        sleeps = !robot.app().wants_frame();
        if (!sleeps) robot.app().frame();
        std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    CHECK(sleeps);
    CHECK(ImGui::GetIO().WantTextInput);
    // What is typed is drawn.
    ImGui::GetIO().AddInputCharacter('x');
    CHECK(robot.app().wants_frame());
}
