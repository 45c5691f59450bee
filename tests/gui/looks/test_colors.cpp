// Colors in the window: their range over the run, what is chosen in the legend, and what of it is
// kept with the scene.
#include <doctest/doctest.h>

#include <cmath>

#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/topics.hpp"
#include "app/gui/work/view/looks.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using test::open;
using test::Robot;
using Range = session::ColorLook::Range;

TEST_CASE("gui: colors have the range of the whole run, at each of its moments") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open(robot, "free_flight.json");
        gui::Topics& work = robot.work();
        REQUIRE(robot.wait([&] { return work.looks.colors.is_settled(robot.now().view); }));
        // sqrt(9 + (4 - 0.0981 k)^2) after k of 100 steps.
        const double low = std::hypot(3, 4 - 0.0981 * 41), high = std::hypot(3, 4 - 9.81);
        for (const std::int64_t step : {0, 41, 100}) {
            test::stop_at(robot, step);
            REQUIRE(work.looks.view.range);
            CHECK((*work.looks.view.range)[0] == doctest::Approx(low).epsilon(1e-5));
            CHECK((*work.looks.view.range)[1] == doctest::Approx(high).epsilon(1e-5));
            CHECK(robot.app().picture().color_range()[1] == doctest::Approx(high).epsilon(1e-5));
        }
        CHECK(work.looks.colors.words(robot.now().view) == "of the whole run");
        robot.picture("colors_of_the_run");
    });
}

TEST_CASE("gui: map, range and scale are chosen at the legend, and kept with the scene") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "free_flight.json");
        test::stop_at(robot, 40);
        gui::Topics& work = robot.work();
        REQUIRE(robot.wait([&] { return work.looks.colors.is_settled(robot.now().view); }));
        const bool was_unsaved = work.scene.editor().unsaved();
        hands.ItemClick("//###View/color bar");
        robot.frames(2);
        hands.SetRef("//$FOCUSED");
        hands.ItemClick("magma");
        hands.ItemClick("logarithmic");
        hands.ItemClick("by hand");
        robot.frames(3);
        CHECK(work.looks.view.map == render::ColorMap::magma);
        CHECK(work.looks.view.log_colors);
        CHECK(work.looks.colors.range == Range::hand);
        CHECK(work.looks.colors.ends[0] == doctest::Approx(3.0).epsilon(1e-3));
        hands.ItemClick("each moment");
        robot.frames(3);
        CHECK_FALSE(work.looks.view.range);
        robot.picture("colors_popup");
        // Looking at it in other ways is no edit of the scene; keeping it is, and can be undone.
        CHECK(work.scene.editor().unsaved() == was_unsaved);
        const document::Document before = work.scene.document();
        hands.ItemClick("Keep with the scene");
        robot.frames(3);
        const document::Document& scene = work.scene.document();
        CHECK(scene.find("/view/color_map")->string() == "magma");
        CHECK(scene.find("/view/color_scale")->string() == "log");
        CHECK(scene.find("/view/color_range")->string() == "frame");
        CHECK(work.scene.editor().unsaved());
        CHECK(session::ColorLook::of(scene) == work.looks.colors);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        robot.frames(2);
        CHECK(work.scene.document() == before);
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Y);
        CHECK(work.saving.save());
        robot.frames(2);
        open(robot, "spring_cage.json");
        CHECK(work.looks.colors.range == Range::run);
        open(robot, "free_flight.json");
        CHECK(work.looks.colors.map == render::ColorMap::magma);
        CHECK(work.looks.view.log_colors);
    });
}
