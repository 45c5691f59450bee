// Robots in the window: sliders of actuators and joints, names in the inspector, contact forces as
// arrows, a hand that pulls on a body.
#include <doctest/doctest.h>

#include <imgui_internal.h>

#include <cmath>
#include <fstream>

#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/mujoco.hpp"

using namespace hindcast;
using test::at;
using test::Robot;
using test::runs_what_is_edited;

namespace {

// An arm on a stand, and a box on the floor.
const char* const model = R"(<mujoco>
  <worldbody>
    <geom type="plane" size="3 3 1"/>
    <body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0" damping="1"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.05" mass="1"/>
      <body name="lower" pos="0.4 0 0">
        <joint name="elbow" axis="0 1 0" range="-90 120" damping="0.5"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04" mass="0.5"/></body></body>
    <body name="box" pos="0.2 0.6 0.1"><freejoint name="loose"/>
      <geom type="box" size="0.1 0.1 0.1" mass="2"/></body>
  </worldbody>
  <actuator><motor name="lift" joint="shoulder" ctrlrange="-20 20"/><motor joint="elbow"/></actuator>
</mujoco>)";

void open_arm(Robot& robot, const std::string& keys = "") {
    std::ofstream(robot.folder() / "arm.xml") << model;
    std::ofstream(robot.folder() / "arm.json")
        << R"({"format": 1, "name": "arm", "time": {"step": 0.01, "steps": 60},
            "bodies": [{"type": "articulated", "name": "arm", "model": "arm.xml")" +
               keys + R"(}],
            "view": {"camera": {"eye": [0.3, -3, 1.4], "target": [0.3, 0, 0.6]}}})";
    robot.work().opening.open(robot.folder() / "arm.json");
    REQUIRE(test::opened(robot));
    test::stop_at(robot, 0);
}

void show_panel(Robot& robot, const char* name) {
    robot.work().requests.focus_panel = name;
    robot.frames(4);
}

// The slider of an element in the group of a quantity.
ImGuiID slider(const char* path, int element) {
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
        if (std::string(window->Name).find("###Sliders") != std::string::npos) {
            const ImGuiID group = ImHashStr(path, 0, window->ID);
            return ImHashStr("##value", 0, ImHashData(&element, sizeof element, group));
        }
    throw Error("there are no sliders");
}

void press_at(ImGuiTestContext& hands, ImGuiID item, float part) {
    const ImRect rect = hands.ItemInfo(item).RectFull;
    hands.MouseMoveToPos({rect.Min.x + part * rect.GetWidth(), rect.GetCenter().y});
    hands.MouseClick();
}

double qpos_at_start(Robot& robot, std::size_t element) {
    for (const session::QuantityInfo& q : robot.now().values.quantities)
        if (q.path == "arm.qpos") return q.values[element];
    return NAN;
}

}  // namespace

TEST_CASE("gui robots: sliders move joints and controls, and undo takes them back") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_arm(robot);
        show_panel(robot, "Sliders");
        robot.picture("robot_sliders");
        CHECK(at(robot, "/bodies/0/qpos") == nullptr);
        const std::int64_t build = robot.now().scene.build;
        press_at(hands, slider("arm.qpos", 1), 0.75F);
        const document::Node* const elbow = at(robot, "/bodies/0/qpos/elbow");
        REQUIRE(elbow != nullptr);
        // A quarter from the end of -90 to 120 degrees.
        const double there = (-90 + 0.75 * 210) * std::acos(-1.0) / 180;
        CHECK(std::fabs(elbow->real() - there) < 0.1);
        CHECK(at(robot, "/bodies/0/qpos")->size() == 1);  // nothing else is written
        CHECK(robot.work().scene.editor().undo_name() == "Move elbow");
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        CHECK(qpos_at_start(robot, 1) == at(robot, "/bodies/0/qpos/elbow")->real());
        CHECK(robot.now().scene.build == build);  // it runs on, with another number
        press_at(hands, slider("arm.qpos", 1), 0.25F);
        CHECK(at(robot, "/bodies/0/qpos/elbow")->real() < 0);
        press_at(hands, slider("arm.ctrl", 0), 0.6F);
        REQUIRE(at(robot, "/bodies/0/ctrl/lift") != nullptr);
        CHECK(std::fabs(at(robot, "/bodies/0/ctrl/lift")->real() - 4) < 1);
        CHECK(runs_what_is_edited(robot));
        // The second motor has no name: where it is moved, all are written.
        press_at(hands, slider("arm.ctrl", 1), 0.75F);
        const document::Node* const controls = at(robot, "/bodies/0/ctrl");
        REQUIRE(controls->is_array());
        CHECK(std::fabs(document::number_of(controls->item(0)) - 4) < 1);
        CHECK(std::fabs(document::number_of(controls->item(1)) - 0.5) < 0.1);
        CHECK(runs_what_is_edited(robot));
        robot.picture("robot_sliders_moved");
        for (int k = 0; k < 4; ++k) hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(at(robot, "/bodies/0/qpos") == nullptr);
        CHECK(at(robot, "/bodies/0/ctrl") == nullptr);
        CHECK(runs_what_is_edited(robot));
        CHECK(qpos_at_start(robot, 1) == 0);
    });
}

TEST_CASE("gui robots: a slider of what stands in a list, and sliders that have nothing") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_arm(robot, R"(, "ctrl": [1, 2])");
        show_panel(robot, "Sliders");
        press_at(hands, slider("arm.ctrl", 1), 0.5F);
        CHECK(std::fabs(at(robot, "/bodies/0/ctrl/1")->real()) < 0.1);
        CHECK(document::number_of(*at(robot, "/bodies/0/ctrl/0")) == 1);
        test::open(robot, "spring_cage.json");
        show_panel(robot, "Sliders");
        robot.picture("robot_no_sliders");
    });
}

TEST_CASE("gui robots: the inspector calls elements by their names") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_arm(robot, R"(, "body_mass": {"box": 3})");
        test::select(robot, "/bodies/0");
        show_panel(robot, "Inspector");
        const auto info =
            std::ranges::find(robot.now().values.quantities, std::string("arm.body_mass"),
                              &session::QuantityInfo::path);
        REQUIRE(info != robot.now().values.quantities.end());
        CHECK(info->values == std::vector<double>{0, 1, 0.5, 3});
        for (const char* const list : {"body_mass", "qpos"})
            hands.ItemClick(
                (std::string("//###Inspector/") + list + "/arm." + list + "/###list").c_str());
        robot.frames(2);
        robot.picture("robot_inspector");
    });
}

TEST_CASE("gui robots: contact forces and axes of joints are arrows") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open_arm(robot);
        for (const char* const arrows : {"contact force between bodies", "joint axis"}) {
            REQUIRE(std::ranges::find(robot.now().view.arrows, std::string(arrows),
                                      &session::ShownField::name) != robot.now().view.arrows.end());
            robot.work().looks.arrows = arrows;
            robot.work().looks.send_frame_contents();
            test::stop_at(robot, 40);
            REQUIRE(robot.wait([&] {
                return robot.now().view.contents.arrows == arrows && !robot.now().view.frame_waits;
            }));
            robot.frames(6);
            robot.picture(std::string("robot_arrows_") + (arrows[0] == 'c' ? "contact" : "joint"));
        }
    });
}

TEST_CASE("gui robots: Ctrl and the mouse pull on a body") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open_arm(robot);
        robot.work().running.send(session::SetSpeed{0.3});
        const ImVec2 lower = test::on_screen(robot, hands, {0.55, 0, 1});
        hands.MouseMoveToPos(lower);
        hands.KeyDown(ImGuiMod_Ctrl);
        hands.MouseDown(ImGuiMouseButton_Left);
        REQUIRE(robot.wait(
            [&] { return robot.now().pulls.current && robot.now().pulls.current->live; }));
        hands.MouseMoveToPos({lower.x - 40, lower.y - 120});
        REQUIRE(robot.wait([&] { return robot.now().run.step >= 25; }));
        robot.picture("robot_pulling");
        hands.MouseUp(ImGuiMouseButton_Left);
        hands.KeyUp(ImGuiMod_Ctrl);
        REQUIRE(robot.wait([&] { return at(robot, "/forces") != nullptr; }));
        CHECK(at(robot, "/forces/0/type")->string() == "pull");
        CHECK(at(robot, "/forces/0/of")->string() == "arm");
        CHECK(at(robot, "/forces/0/point")->integer() == 1);  // the center of mass of "lower"
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        robot.frames(4);
        robot.picture("robot_pulled");
    });
}
