// The live mode in the window: a target that is moved while the answer follows.
#include <doctest/doctest.h>

#include <cmath>

#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using test::open;
using test::Robot;

TEST_CASE(
    "gui live: it waits at the minimum, follows an edit, keeps to a rate, and takes the best") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "thrown_ball.json");
        robot.work().scene.set(
            "/optimizer",
            document::Document::parse(R"({"type": "lbfgs", "iterations": 40})", "text").root(),
            "Method");
        REQUIRE(test::runs_what_is_edited(robot));
        robot.work().requests.focus_panel = "Optimizer";
        robot.frames(3);
        hands.ItemClick("//###Optimizer/Live");
        REQUIRE(robot.wait([&] { return robot.now().optimization.live.on; }));
        hands.KeyPress(ImGuiKey_O);
        REQUIRE(robot.wait([&] { return robot.now().optimization.live_waits; }));
        CHECK(robot.work().running.is_optimizing());
        robot.frames(3);
        robot.picture("live_waits");
        const std::int64_t last = robot.now().optimization.history->back().iteration;
        const double loss = robot.now().optimization.history->back().loss;
        robot.work().scene.set("/objective/0/target/0", document::Node(0.4), "Move target");
        REQUIRE(robot.wait([&] {
            return robot.now().optimization.live_waits &&
                   robot.now().optimization.history->back().iteration > last + 1;
        }));
        const auto& history = *robot.now().optimization.history;
        CHECK(history.back().loss < 0.01 * history[static_cast<std::size_t>(last + 1)].loss);
        CHECK(history[static_cast<std::size_t>(last + 1)].loss > loss);

        const std::string best = std::to_string(robot.now().optimization.best_iteration);
        hands.ItemClick(("//###Optimizer/###Accept the best: " + best).c_str());
        CHECK(robot.wait(
            [&] { return robot.work().scene.editor().undo_name() == "Accept iteration " + best; }));
        hands.KeyPress(ImGuiKey_O);
        CHECK(robot.wait([&] { return !robot.work().running.is_optimizing(); }));
    });
}
