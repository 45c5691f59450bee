// Squares at what is selected are dragged in the picture: sizes change, and how many points there are.
#include <doctest/doctest.h>

#include <cmath>

#include "app/gui/looking/slicing.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/view/looks.hpp"
#include "app/session/making/sizes.hpp"
#include "tests/gui/robot.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using test::at;
using test::Robot;
using test::runs_what_is_edited;

namespace {

// Drags the handle that far over the screen, in pixels, and gives the meters along it.
double drag(Robot& robot, ImGuiTestContext& hands, const session::SizeHandle& handle, ImVec2 by,
            const char* picture, bool escape = false) {
    const gui::Topics& work = robot.work();
    render::Slice line;
    line.normal = handle.along;
    const double meters = gui::moved_along(line, handle.at, work.looks.view.camera,
                                           work.looks.view.width, work.looks.view.height,
                                           {static_cast<double>(by.x), static_cast<double>(by.y)});
    const ImVec2 from = test::on_screen(robot, hands, handle.at);
    hands.MouseMoveToPos(from);
    robot.frames(2);
    hands.MouseDown(ImGuiMouseButton_Left);
    hands.MouseMoveToPos({from.x + by.x, from.y + by.y});
    robot.frames(3);
    robot.picture(picture);
    if (escape) hands.KeyPress(ImGuiKey_Escape);
    hands.MouseUp(ImGuiMouseButton_Left);
    robot.frames(3);
    return meters;
}

}  // namespace

TEST_CASE("gui sizing: a square is dragged, one step of undo, Escape takes it back") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        test::open(robot, "cloth_over_ball.json");
        test::stop_at(robot, 0);
        gui::Topics& work = robot.work();
        test::select(robot, "/bodies/0");
        const auto handles = [&](const char* pointer) {
            return session::size_handles(work.scene.document(), work.scene.registry(), pointer);
        };
        const render::Camera camera = work.looks.view.camera;
        const std::int64_t cells = at(robot, "/bodies/0/mesh/grid/cells/0")->integer();
        work.looks.tool = gui::Tool::move;
        robot.frames(4);
        robot.picture("sizing");
        const session::SizeHandle warp = handles("/bodies/0").front();
        const double before = document::number_of(*at(robot, "/bodies/0/mesh/grid/warp/0"));
        const double by = drag(robot, hands, warp, {60, 20}, "sizing_drag");
        CHECK(std::abs(by) > 0.01);
        CHECK(document::number_of(*at(robot, "/bodies/0/mesh/grid/warp/0")) ==
              doctest::Approx(before + by).epsilon(0.02));
        CHECK(work.looks.view.camera == camera);  // the drag is the square's
        CHECK(at(robot, "/bodies/0/mesh/grid/cells/0")->integer() == cells);
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
        CHECK(work.scene.editor().undo_name() == "Size of cloth");
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        robot.frames(3);
        CHECK(document::number_of(*at(robot, "/bodies/0/mesh/grid/warp/0")) == before);
        // Taken back while it is dragged.
        drag(robot, hands, warp, {60, 20}, "sizing_given_up", true);
        CHECK(document::number_of(*at(robot, "/bodies/0/mesh/grid/warp/0")) == before);
        // With Ctrl more cells.
        hands.KeyDown(ImGuiMod_Ctrl);
        drag(robot, hands, warp, {60, 20}, "sizing_cells");
        hands.KeyUp(ImGuiMod_Ctrl);
        CHECK(at(robot, "/bodies/0/mesh/grid/cells/0")->integer() != cells);
        CHECK(runs_what_is_edited(robot));
        CHECK_FALSE(robot.now().reports.error);
    });
}
