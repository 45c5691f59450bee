// The inspector's numbers, by mouse and keyboard.
#include <doctest/doctest.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/work/files/opening.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"
#include "engine/base/files.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::at;
using test::open;
using test::Robot;
using test::runs_what_is_edited;
using test::select;
using test::stop_at;

TEST_CASE("gui inspector: a vector that is not written is written by its first edit") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        stop_at(robot, 0);
        select(robot, "/bodies/0");
        REQUIRE(at(robot, "/bodies/0/velocity") == nullptr);
        robot.picture("unwritten");
        hands.ItemClick("//###Inspector/**/ball.velocity/$$2/##value");
        robot.frames(2);
        hands.KeyCharsReplaceEnter("150 cm/s");
        robot.frames(2);
        REQUIRE(at(robot, "/bodies/0/velocity") != nullptr);
        CHECK(document::to_line(*at(robot, "/bodies/0/velocity")) == "[0.0, 0.0, 1.5]");
        CHECK(robot.work().scene.editor().undo_name() == "Change ball.velocity");
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        const auto velocity = [&] {
            const auto& all = robot.now().values.quantities;
            return std::ranges::find(all, "ball.velocity", &session::QuantityInfo::path)->values;
        };
        CHECK(robot.wait([&] { return velocity() == std::vector<double>{0, 0, 1.5}; }));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(at(robot, "/bodies/0/velocity") == nullptr);
        CHECK(robot.wait([&] { return velocity() == std::vector<double>{0, 0, 0}; }));
        // A drag is one step of undo, also if its first movement writes the vector.
        hands.MouseMove("//###Inspector/**/ball.velocity/$$0/##value");
        hands.MouseDragWithDelta({40, 0});
        robot.frames(3);
        REQUIRE(at(robot, "/bodies/0/velocity") != nullptr);
        CHECK(at(robot, "/bodies/0/velocity/0")->real() > 0);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(at(robot, "/bodies/0/velocity") == nullptr);
        CHECK_FALSE(robot.work().scene.editor().unsaved());
    });
}

// The window goes on while the simulation is busy: what is shown must not depend on its answers.
TEST_CASE("gui inspector: a drag that the simulation answers late goes where the mouse goes") {
    session::Session session(test::all_modules(), {});
    auto shown = session.snapshot();
    bool answers = true;
    Robot::Options options;
    options.link =
        gui::SessionLink{[&](session::Command command) { session.send(std::move(command)); },
                         [&] { return answers ? shown = session.snapshot() : shown; }};
    Robot robot(options);
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        stop_at(robot, 0);
        select(robot, "/bodies/0");
        robot.frames(3);
        answers = false;
        hands.MouseMove("//###Inspector/**/ball.velocity/$$0/##value");
        hands.MouseDown();
        const ImVec2 from = ImGui::GetMousePos();
        double last = 0;
        for (int k = 1; k <= 5; ++k) {
            hands.MouseMoveToPos({from.x + 10 * static_cast<float>(k), from.y});
            robot.frames(2);
            REQUIRE(at(robot, "/bodies/0/velocity") != nullptr);
            const double x = at(robot, "/bodies/0/velocity/0")->real();
            CHECK(x > last);  // it would start from what the simulation knows
            last = x;
        }
        hands.MouseUp();
        robot.frames(3);
        CHECK(at(robot, "/bodies/0/velocity/0")->real() == last);
        // It ended as a drag: no text is typed, and the next one is a step of its own.
        CHECK_FALSE(ImGui::GetIO().WantTextInput);
        hands.MouseMove("//###Inspector/**/ball.velocity/$$0/##value");
        hands.MouseDragWithDelta({20, 0});
        robot.frames(3);
        CHECK(at(robot, "/bodies/0/velocity/0")->real() > last);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(at(robot, "/bodies/0/velocity/0")->real() == last);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(at(robot, "/bodies/0/velocity") == nullptr);
        CHECK_FALSE(robot.work().scene.editor().unsaved());
        answers = true;
        CHECK(runs_what_is_edited(robot));
    });
}

TEST_CASE("gui inspector: what an iteration has found is shown, then what an edit says") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "soft_beam.json");
        stop_at(robot, 0);
        select(robot, "/bodies/0");
        // A click opens the number to be typed.
        const auto shown = [&] {
            hands.ItemClick("//###Inspector/**/beam.young_modulus/##value");
            robot.frames(2);
            ImGuiInputTextState* const text = ImGui::GetInputTextState(GImGui->ActiveId);
            REQUIRE(text != nullptr);
            const double number = std::stod(text->GetText());
            hands.KeyPress(ImGuiKey_Escape);
            robot.frames(1);
            return number;
        };
        const auto modulus = [&] {
            const auto& all = robot.now().values.quantities;
            return std::ranges::find(all, "beam.young_modulus", &session::QuantityInfo::path)
                ->values.at(0);
        };
        CHECK(shown() == 200000);
        robot.work().running.optimize(session::Optimize::What::start);
        REQUIRE(robot.wait([&] {
            return test::last_iteration(robot) > 0 && !robot.work().running.is_optimizing();
        }));
        robot.frames(3);
        CHECK(modulus() < 190000);
        CHECK(shown() == modulus());
        robot.work().scene.set("/bodies/0/young_modulus", document::Node(150000.0), "Softer");
        CHECK(shown() == 150000);
        CHECK(runs_what_is_edited(robot));
        CHECK(shown() == 150000);
    });
}

TEST_CASE("gui inspector: what is generated is written as numbers, and can then be moved") {
    const test::TemporaryFolder folder;
    write_file_atomically(folder / "tet.json", R"({"format": 1,
        "time": {"step": 0.001, "steps": 10}, "gravity": [0, 0, 0],
        "bodies": [{"type": "solid", "name": "tet", "mu": 60, "lambda": 90, "density": 1,
                    "mesh": {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                             "tetrahedra": [[0, 1, 2, 3]]},
                    "positions": {"formula": ["-y", "x", "z + 0.25"]}}]})");
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        robot.work().opening.open(folder / "tet.json");
        REQUIRE(test::opened(robot));
        stop_at(robot, 0);
        select(robot, "/bodies/0");
        robot.work().looks.tool = gui::Tool::move;
        robot.frames(3);
        CHECK(robot.work().looks.tool_problem.find("\"Write as numbers\"") != std::string::npos);
        robot.picture("generated_positions");
        const std::string lock =
            std::string("//###Inspector/**/tet.positions/") + gui::icon::unlock + "##lock";
        const ImRect box = hands.ItemInfo(lock.c_str()).RectFull;
        hands.MouseMoveToPos({box.Max.x + 24, box.GetCenter().y});
        hands.MouseClick(ImGuiMouseButton_Right);
        robot.frames(2);
        robot.picture("write_as_numbers");
        hands.ItemClick("//$FOCUSED/Write as numbers");
        robot.frames(2);
        CHECK(document::to_line(*at(robot, "/bodies/0/positions")) ==
              "[[-0.0, 0.0, 0.25], [-0.0, 1.0, 0.25], [-1.0, 0.0, 0.25], [-0.0, 0.0, 1.25]]");
        CHECK(robot.work().scene.editor().undo_name() == "Write tet.positions as numbers");
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        CHECK(robot.work().looks.tool_problem.empty());
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(at(robot, "/bodies/0/positions/formula") != nullptr);
    });
}
