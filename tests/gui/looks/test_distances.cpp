// The distance tool and the slice, with the mouse: what they measure against closed forms.
#include <doctest/doctest.h>

#include <cmath>

#include "app/gui/looking/measuring.hpp"
#include "app/gui/looking/slicing.hpp"
#include "app/gui/places/labels.hpp"
#include "app/gui/work/files/saving.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/topics.hpp"
#include "app/gui/work/view/looks.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using render::Vec3;
using test::open;
using test::Robot;
using test::stop_at;

namespace {

// Of the ball of free_flight.json after so many steps: semi-implicit, 0.01 s.
Vec3 flight(int k) { return {0.03 * k, 0, 1 + 0.04 * k - 9.81e-4 * k * (k + 1) / 2}; }

double length(const Vec3& a, const Vec3& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

void click_at(Robot& robot, ImGuiTestContext& hands, const Vec3& place) {
    hands.MouseMoveToPos(test::on_screen(robot, hands, place));
    hands.MouseClick(ImGuiMouseButton_Left);
    robot.frames(3);
}

std::vector<gui::PlacedDistance> placed(Robot& robot) {
    std::string problem;
    gui::Picture& picture = robot.app().picture();
    auto found = gui::distances_in(
        robot.work().looks.distances, *picture.stage(), *picture.frame(),
        [&](std::int64_t point) { return picture.point(point); }, problem);
    CHECK(problem.empty());
    return found;
}

}  // namespace

TEST_CASE("gui looks: a distance between two clicks follows the motion, is kept and removed") {
    CHECK(gui::distance_text({{0, 0, 0}, {3, 0, 4}}) == "5 m");
    CHECK(gui::way_text({{1, 2, 0}, {4, 2, -4}}, 3) == "x 3  y 0  z -4");
    CHECK(gui::way_text({{1, 2, 0}, {4, 2, 0}}, 2) == "x 3  y 0");
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "free_flight.json");
        stop_at(robot, 50);
        gui::Topics& work = robot.work();
        hands.KeyPress(ImGuiKey_M);
        robot.frames(2);
        REQUIRE(work.looks.tool == gui::Tool::measure);
        const Vec3 target{4, 1, 2};
        click_at(robot, hands, flight(50));
        CHECK(work.looks.distances.empty());
        CHECK(work.chosen.object.pointer.empty());  // the click is the tool's
        hands.MouseMoveToPos(test::on_screen(robot, hands, {2.5, 0.5, 2}));
        robot.frames(4);
        click_at(robot, hands, target);
        REQUIRE(work.looks.distances.size() == 1);
        REQUIRE(placed(robot).size() == 1);
        CHECK(length(placed(robot)[0].from, flight(50)) < 1e-5);
        CHECK(length(placed(robot)[0].to, target) < 1e-6);
        robot.picture("distance");
        // A later moment: another distance.
        stop_at(robot, 80);
        CHECK(length(placed(robot)[0].from, flight(80)) < 1e-5);
        robot.picture("distance_later");
        // A second one, begun and given up by Escape; the next ends the tool.
        click_at(robot, hands, flight(80));
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(2);
        CHECK(work.looks.tool == gui::Tool::measure);
        click_at(robot, hands, target);
        click_at(robot, hands, flight(80));
        REQUIRE(work.looks.distances.size() == 2);
        CHECK(work.looks.distances[1].from.of.empty());
        CHECK(work.looks.distances[1].to.of == "ball");
        // Kept with the scene, so that it is there again, and undone.
        const bool was_unsaved = work.scene.editor().unsaved();
        CHECK_FALSE(was_unsaved);
        hands.ItemClick("//###View/**/###Keep");
        robot.frames(3);
        CHECK(work.scene.editor().unsaved());
        CHECK(session::ViewLook::of(work.scene.document()).distances == work.looks.distances);
        hands.ItemClick(
            (std::string("//###View/**/$$0/") + gui::icon::remove + "##remove").c_str());
        robot.frames(3);
        REQUIRE(work.looks.distances.size() == 1);
        CHECK(work.looks.distances[0].to.of == "ball");
        CHECK(work.saving.save());
        hands.KeyPress(ImGuiKey_Escape);
        robot.frames(2);
        CHECK(work.looks.tool == gui::Tool::look);
        open(robot, "spring_cage.json");
        CHECK(work.looks.distances.empty());
        open(robot, "free_flight.json");
        CHECK(work.looks.distances.size() == 2);
    });
}

TEST_CASE("gui looks: ends of distances are points, places on things, or rest") {
    using render::Drawable;
    using render::ElementKind;
    render::Stage stage;
    stage.channels = {{"position", 6, 3}};
    stage.bodies = {{"pin", 0, 1}, {"cloth", 1, 4}};
    Drawable points;
    points.kind = Drawable::Kind::points;
    points.places = 0;
    points.first = 1;
    points.count = 4;
    Drawable surface;
    surface.kind = Drawable::Kind::surface;
    surface.places = 0;
    surface.indices = {1, 2, 3, 2, 4, 3};
    Drawable rod;
    rod.kind = Drawable::Kind::segments;
    rod.places = 0;
    rod.indices = {0, 1};
    Drawable solid;
    solid.kind = Drawable::Kind::solid;
    solid.name = "arm";
    stage.drawables = {points, surface, rod, solid};
    render::Frame frame;
    // Turned a quarter about z, at (1, 0, 0).
    frame.numbers = {{}, {}, {}, {1, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1}};
    const std::vector<Vec3> places = {{-1, 0, 0}, {0, 0, 0}, {1, 0, 0},
                                      {0, 0, 1},  {1, 0, 1}, {0, 1, 0}};
    const session::PointPlaces at = [&](std::int64_t p) -> std::optional<Vec3> {
        return places[static_cast<std::size_t>(p)];
    };
    render::Camera camera;
    camera.eye = {0.5, -5, 0.5};
    camera.target = {0.5, 0, 0.5};
    camera.orthographic = true;
    camera.height = 4;  // 100 pixels for each meter
    const auto end = [&](int drawable, ElementKind kind, std::int64_t number, const Vec3& place) {
        const auto mouse = render::project(camera, place, 400, 400);
        REQUIRE(mouse);
        return gui::end_at(stage, frame, at, {drawable, {kind, number}, place}, camera, 400, 400,
                           *mouse, 9);
    };
    CHECK_FALSE(end(-1, ElementKind::none, -1, {0, 0, 0}));
    CHECK(*end(0, ElementKind::point, 2, {0.03, 0, 1}) ==
          session::DistanceEnd{.of = "cloth", .points = {2}, .weights = {1}});
    // Near a corner it is the corner; else the place, by the corners of its triangle.
    CHECK(*end(1, ElementKind::cell, 1, {0.95, 0, 0.97}) ==
          session::DistanceEnd{.of = "cloth", .points = {3}, .weights = {1}});
    const auto inside = end(1, ElementKind::cell, 0, {0.25, 0, 0.5});
    REQUIRE(inside);
    CHECK(inside->points == std::vector<std::int64_t>{0, 1, 2});
    CHECK(inside->weights[0] == doctest::Approx(0.25));
    CHECK(inside->weights[1] == doctest::Approx(0.25));
    CHECK(inside->weights[2] == doctest::Approx(0.5));
    CHECK(length(session::place_of(*inside, stage, frame, at), {0.25, 0, 0.5}) < 1e-12);
    // A spring between two bodies: the nearer end.
    CHECK(*end(2, ElementKind::segment, 0, {-0.3, 0, 0}) ==
          session::DistanceEnd{.of = "cloth", .points = {0}, .weights = {1}});
    // On a rigid body, in its axes.
    const auto on_arm = end(3, ElementKind::none, -1, {1, 2, 3});
    REQUIRE(on_arm);
    CHECK(on_arm->of == "arm");
    CHECK(length(on_arm->place, {2, 0, 3}) < 1e-12);
    CHECK(length(session::place_of(*on_arm, stage, frame, at), {1, 2, 3}) < 1e-12);
    // What is inside a solid, by the corners of its tetrahedron.
    stage.drawables[1].tetrahedra = {1, 2, 3, 5};
    stage.bodies = {{"block", 0, 6}};
    const auto deep = end(1, ElementKind::cell, 0, {0.2, 0.1, 0.3});
    REQUIRE(deep);
    CHECK(deep->points == std::vector<std::int64_t>{1, 2, 3, 5});
    CHECK(deep->weights[0] == doctest::Approx(0.4));
    CHECK(deep->weights[3] == doctest::Approx(0.1));
    CHECK(length(session::place_of(*deep, stage, frame, at), {0.2, 0.1, 0.3}) < 1e-12);
}

TEST_CASE("gui looks: where a slice, its outline and its handle are") {
    const render::Bounds box{{-1, -1, 0}, {1, 1, 4}};
    render::Camera camera;
    camera.eye = {1, -8, 3};
    camera.target = {0, 0, 2};
    const render::Slice front = gui::slice_before(camera, box);
    CHECK(front == render::Slice{{0, -1, 0}, 0});
    CHECK(gui::slice_range(front, box) == std::array<double, 2>{-1, 1});
    // A rectangle of 2 m x 4 m.
    const std::vector<Vec3> outline = gui::slice_outline(front, box);
    REQUIRE(outline.size() == 4);
    double around = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        CHECK(outline[k][1] == doctest::Approx(0));
        around += length(outline[k], outline[(k + 1) % 4]);
    }
    CHECK(around == doctest::Approx(12));
    CHECK(gui::slice_outline({{0, 0, 1}, 5}, box).empty());
    // Across the diagonal of a cube: a hexagon with sides of half the diagonal of a face.
    const render::Bounds cube{{0, 0, 0}, {2, 2, 2}};
    const std::vector<Vec3> six = gui::slice_outline({{1, 1, 1}, std::sqrt(3.0)}, cube);
    REQUIRE(six.size() == 6);
    for (std::size_t k = 0; k < 6; ++k)
        CHECK(length(six[k], six[(k + 1) % 6]) == doctest::Approx(std::sqrt(2.0)));
    CHECK(gui::slice_handle({{0, 0, 2}, 1}, box) == Vec3{0, 0, 1});
    // Turned, it stays at the same part of the way through the box.
    CHECK(gui::turned({{1, 0, 0}, 0.5}, {0, 0, 3}, box) == render::Slice{{0, 0, 1}, 3});
    // 100 pixels for each meter: across the line of sight as the mouse, along it as if under an angle.
    camera.eye = {0, -8, 2};
    camera.orthographic = true;
    camera.height = 4;
    const auto moved = [&](const Vec3& normal, const std::array<double, 2>& by) {
        return gui::moved_along({normal, 0}, {0, 0, 2}, camera, 600, 400, by);
    };
    CHECK(moved({2, 0, 0}, {50, 7}) == doctest::Approx(0.5));
    CHECK(moved({0, 0, -1}, {0, 25}) == doctest::Approx(0.25));
    CHECK(moved({0, -1, 0}, {0, 40}) == doctest::Approx(1));
    CHECK(moved({0, 1, 0}, {0, 40}) == doctest::Approx(-1));
}

TEST_CASE("gui looks: a slice comes with its key, is dragged, turned, and is kept with the scene") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "gripper.json");
        stop_at(robot, 10);
        gui::Topics& work = robot.work();
        const render::Camera camera = work.looks.view.camera;
        hands.KeyPress(ImGuiKey_V);
        robot.frames(4);
        REQUIRE(work.looks.view.slice);
        robot.picture("slice");
        const render::Bounds box = gui::box_of(*robot.now().scene.stage);
        const render::Slice before = *work.looks.view.slice;
        const Vec3 handle = gui::slice_handle(before, box);
        const ImVec2 from = test::on_screen(robot, hands, handle);
        hands.MouseMoveToPos(from);
        robot.frames(2);
        hands.MouseDown(ImGuiMouseButton_Left);
        hands.MouseMoveToPos({from.x + 20, from.y - 40});
        robot.frames(2);
        hands.MouseUp(ImGuiMouseButton_Left);
        robot.frames(3);
        const double by = gui::moved_along(before, handle, camera, work.looks.view.width,
                                           work.looks.view.height, {20, -40});
        CHECK(std::abs(by) > 0.001);
        CHECK(work.looks.view.slice->offset == doctest::Approx(before.offset + by).epsilon(0.02));
        CHECK(work.looks.view.camera == camera);  // the drag is the handle's
        hands.ItemClick((std::string("//###View/") + gui::icon::repeat + "##turn slice").c_str());
        robot.frames(2);
        CHECK(work.looks.view.slice->normal[1] == doctest::Approx(-before.normal[1]));
        hands.ItemClick((std::string("//###View/") + gui::icon::sliders + "##looks").c_str());
        robot.frames(3);
        robot.picture("looks_popup");
        hands.SetRef("//$FOCUSED");
        hands.ItemClick("Keep with the scene");
        robot.frames(3);
        CHECK(session::ViewLook::of(work.scene.document()).slice == work.looks.view.slice);
        hands.KeyPress(ImGuiKey_V);
        robot.frames(2);
        CHECK_FALSE(work.looks.view.slice);
    });
}

TEST_CASE("gui looks: of many arrows as many are shown as the slider says") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "mpm_launch.json");
        robot.work().running.play(false);
        robot.work().looks.arrows = "velocity";
        robot.work().looks.send_frame_contents();
        robot.frames(10);
        CHECK(robot.work().looks.view.most_arrows == 400);
        robot.picture("arrows_many");
        const ImGuiTestItemInfo slider = hands.ItemInfo("//###View/##most arrows");
        hands.MouseMoveToPos({slider.RectFull.Min.x + 20, slider.RectFull.GetCenter().y});
        hands.MouseClick(ImGuiMouseButton_Left);
        robot.frames(4);
        CHECK(robot.work().looks.view.most_arrows < 200);
        CHECK(robot.work().looks.view.most_arrows >= 10);
        robot.picture("arrows_few");
    });
}

TEST_CASE("gui looks: what is wanted of a field stands beside it") {
    for (const bool dark : {true, false}) {
        Robot robot;
        robot.work().settings.dark = dark;
        robot.run([&](ImGuiTestContext&) {
            open(robot, "wave_image.json");
            robot.work().running.play(false);
            robot.frames(6);
            robot.picture(dark ? "field_target" : "field_target_light");
        });
    }
}
