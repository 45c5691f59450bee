// Colours in the window: their range over the run, what is chosen in the legend, and what of it is
// kept with the scene.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/gui/scripts.hpp"

using namespace hindcast;
using test::open;
using test::Robot;
using Range = session::ColourLook::Range;

TEST_CASE("gui: colours have the range of the whole run, at each of its moments") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open(robot, "free_flight.json");
        gui::Workspace& work = robot.work();
        REQUIRE(robot.wait([&] { return work.look.is_settled(robot.now()); }));
        // sqrt(9 + (4 - 0.0981 k)^2) after k of 100 steps.
        const double low = std::hypot(3, 4 - 0.0981 * 41), high = std::hypot(3, 4 - 9.81);
        for (const std::int64_t step : {0, 41, 100}) {
            test::stop_at(robot, step);
            REQUIRE(work.view.range);
            CHECK((*work.view.range)[0] == doctest::Approx(low).epsilon(1e-5));
            CHECK((*work.view.range)[1] == doctest::Approx(high).epsilon(1e-5));
            CHECK(robot.app().picture().colour_range()[1] == doctest::Approx(high).epsilon(1e-5));
        }
        CHECK(work.look.words(robot.now()) == "of the whole run");
        robot.picture("colours_of_the_run");
    });
}

TEST_CASE("gui: map, range and scale are chosen at the legend, and kept with the scene") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "free_flight.json");
        test::stop_at(robot, 40);
        gui::Workspace& work = robot.work();
        REQUIRE(robot.wait([&] { return work.look.is_settled(robot.now()); }));
        const bool was_unsaved = work.editor().unsaved();
        hands.ItemClick("//###View/colour bar");
        robot.frames(2);
        hands.SetRef("//$FOCUSED");
        hands.ItemClick("magma");
        hands.ItemClick("logarithmic");
        hands.ItemClick("by hand");
        robot.frames(3);
        CHECK(work.view.map == render::ColourMap::magma);
        CHECK(work.view.log_colours);
        CHECK(work.look.range == Range::hand);
        CHECK(work.look.ends[0] == doctest::Approx(3.0).epsilon(1e-3));
        hands.ItemClick("each moment");
        robot.frames(3);
        CHECK_FALSE(work.view.range);
        robot.picture("colours_popup");
        // Looking at it in other ways is no edit of the scene; keeping it is, and can be undone.
        CHECK(work.editor().unsaved() == was_unsaved);
        const document::Document before = work.document();
        hands.ItemClick("Keep with the scene");
        robot.frames(3);
        const document::Document& scene = work.document();
        CHECK(scene.find("/view/color_map")->string() == "magma");
        CHECK(scene.find("/view/color_scale")->string() == "log");
        CHECK(scene.find("/view/color_range")->string() == "frame");
        CHECK(work.editor().unsaved());
        CHECK(session::ColourLook::of(scene) == work.look);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        robot.frames(2);
        CHECK(work.document() == before);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Y);
        CHECK(work.save());
        robot.frames(2);
        open(robot, "spring_cage.json");
        CHECK(work.look.range == Range::run);
        open(robot, "free_flight.json");
        CHECK(work.look.map == render::ColourMap::magma);
        CHECK(work.view.log_colours);
    });
}
