// Stresses and contact forces in the window.
#include <doctest/doctest.h>

#include "app/gui/places/labels.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/view/looks.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using test::open;
using test::Robot;

TEST_CASE("gui: stress is chosen as color and contact forces as arrows, at any moment") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "soft_beam.json");
        test::stop_at(robot, 200);
        hands.ItemClick("//###View/##color");
        robot.frames(2);
        hands.ItemClick("//$FOCUSED/von Mises stress");
        CHECK(robot.work().looks.colors.by == "von Mises stress");
        CHECK(gui::color_title(robot.now().view.colors, robot.work().looks.colors.by) ==
              "von Mises stress (Pa)");
        gui::Picture& picture = robot.app().picture();
        const auto most = [&] { return picture.color_range()[1]; };
        REQUIRE(robot.wait([&] { return !robot.now().view.frame_waits && most() > 1000; }));
        robot.frames(3);
        robot.picture("view_stress");
        const double later = most();
        // The range is that of the run, until that of each moment is asked for.
        test::stop_at(robot, 20);
        REQUIRE(robot.wait([&] { return !robot.now().view.frame_waits; }));
        robot.frames(3);
        CHECK(most() == later);
        robot.work().looks.colors.range = session::ColorLook::Range::frame;
        REQUIRE(robot.wait([&] { return most() < 0.5 * later; }));
        CHECK(most() > 0);

        open(robot, "net_over_ball.json");
        test::stop_at(robot, robot.now().run.steps);
        hands.ItemClick("//###View/##arrows");
        robot.frames(2);
        hands.ItemClick("//$FOCUSED/contact force");
        REQUIRE(robot.wait([&] {
            return picture.longest_arrow().arrows == "contact force" &&
                   picture.longest_arrow().length > 0;
        }));
        robot.frames(3);
        robot.picture("view_contact_forces");
    });
}
