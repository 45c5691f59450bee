// The picture under the user's hands: what a click selects and a handle moves, where the camera
// goes, what stays switched on, and how time and arrows are measured.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <imgui_internal.h>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/topics.hpp"
#include "app/gui/work/view/camera_track.hpp"
#include "app/gui/work/view/looks.hpp"
#include "tests/gui/scripts.hpp"

using namespace hindcast;
using render::ElementKind;
using render::Vec3;
using test::open;
using test::Robot;

namespace {

Vec3 vector_at(Robot& robot, const std::string& pointer) {
    const document::Node* node = robot.work().scene.document().find(pointer);
    REQUIRE(node != nullptr);
    Vec3 result{};
    for (std::size_t k = 0; k < node->size(); ++k)
        result[k] = gui::plain_number(node->item(k)).value();
    return result;
}

void click(Robot& robot, ImGuiTestContext& hands, const Vec3& place) {
    hands.MouseMoveToPos(test::on_screen(robot, hands, place));
    hands.MouseClick(ImGuiMouseButton_Left);
    robot.frames(3);
}

// Drags the middle of the handle that is at this place of the window. Under a handle the picture is
// no item, so the place is asked for before.
void drag(Robot& robot, ImGuiTestContext& hands, ImVec2 from, ImVec2 by) {
    hands.MouseMoveToPos(from);
    robot.frames(2);
    hands.MouseDown(ImGuiMouseButton_Left);
    hands.MouseMoveToPos({from.x + by.x / 2, from.y + by.y / 2});
    hands.MouseMoveToPos({from.x + by.x, from.y + by.y});
    robot.frames(2);
    hands.MouseUp(ImGuiMouseButton_Left);
    robot.frames(3);
}

double distance(const Vec3& a, const Vec3& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// Where the box's corners are in the picture, 0 .. 1 from the left and the top.
std::array<double, 4> seen_box(Robot& robot, const Vec3& low, const Vec3& high) {
    const render::View& view = robot.work().looks.view;
    std::array<double, 4> seen{1e9, 1e9, -1e9, -1e9};
    for (int k = 0; k < 8; ++k) {
        const auto at = render::project(
            view.camera,
            {(k & 1) ? high[0] : low[0], (k & 2) ? high[1] : low[1], (k & 4) ? high[2] : low[2]},
            view.width, view.height);
        REQUIRE(at);
        seen[0] = std::min(seen[0], (*at)[0] / view.width);
        seen[1] = std::min(seen[1], (*at)[1] / view.height);
        seen[2] = std::max(seen[2], (*at)[0] / view.width);
        seen[3] = std::max(seen[3], (*at)[1] / view.height);
    }
    return seen;
}

// Of the largest points in the picture, m.
double ball_radius(Robot& robot) {
    double radius = 0;
    for (const render::Drawable& drawable : robot.now().scene.stage->drawables)
        if (drawable.kind == render::Drawable::Kind::points)
            radius = std::max(radius, drawable.radius);
    return radius;
}

// Balls at places between these are in the picture, and as large as fits.
void check_framed(Robot& robot, Vec3 low, Vec3 high) {
    for (std::size_t k = 0; k < 3; ++k) {
        low[k] -= ball_radius(robot);
        high[k] += ball_radius(robot);
    }
    const std::array<double, 4> seen = seen_box(robot, low, high);
    CHECK(seen[0] > 0);
    CHECK(seen[1] > 0);
    CHECK(seen[2] < 1);
    CHECK(seen[3] < 1);
    CHECK(std::max(seen[2] - seen[0], seen[3] - seen[1]) > 0.7);
}

}  // namespace

TEST_CASE("gui: a click on a point of the second body selects it, and the handle moves it alone") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        test::stop_at(robot, 0);
        const document::Document before = robot.work().scene.document();
        const Vec3 first = vector_at(robot, "/bodies/1/positions/0");
        click(robot, hands, first);
        CHECK(robot.work().chosen.object.pointer == "/bodies/1");
        CHECK(robot.work().chosen.object.part() == render::Element{ElementKind::point, 0});
        CHECK(robot.work().looks.view.selected_element == 0);
        const ImVec2 handle = test::on_screen(robot, hands, first);
        hands.KeyPress(ImGuiKey_W);
        robot.frames(3);
        CHECK(robot.work().looks.tool_problem.empty());
        robot.picture("view_moving_a_point");
        drag(robot, hands, handle, {40, -30});
        CHECK(distance(vector_at(robot, "/bodies/1/positions/0"), first) > 0.05);
        for (int k = 1; k < 8; ++k) {
            const std::string pointer = "/bodies/1/positions/" + std::to_string(k);
            CHECK(*robot.work().scene.document().find(pointer) == *before.find(pointer));
        }
        CHECK(*robot.work().scene.document().find("/bodies/0") == *before.find("/bodies/0"));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(robot.work().scene.document() == before);

        // The last one of the body, and the ball before it.
        hands.KeyPress(ImGuiKey_Q);
        click(robot, hands, vector_at(robot, "/bodies/1/positions/7"));
        CHECK(robot.work().chosen.object.part() == render::Element{ElementKind::point, 7});
        robot.frames(3);
        robot.picture("view_point_selected");
        click(robot, hands, {0, 0, 0});
        CHECK(robot.work().chosen.object.pointer == "/bodies/0");
        CHECK(robot.work().chosen.object.part() == render::Element{ElementKind::point, 0});
        // One point alone has nothing to turn: the view says so, and no handle moves it.
        hands.KeyPress(ImGuiKey_E);
        robot.frames(3);
        CHECK(robot.work().looks.tool_problem.find("ball cannot be turned") == 0);
        robot.picture("view_cannot_turn");
        drag(robot, hands, test::on_screen(robot, hands, {0, 0, 0}), {30, 30});
        CHECK(robot.work().scene.document() == before);
        // A click beside everything selects nothing.
        hands.KeyPress(ImGuiKey_Q);
        robot.work().chosen.select({"/bodies/0", 0, "", ElementKind::point});
        const ImRect picture = hands.ItemInfo("//###View/picture").RectFull;
        hands.MouseMoveToPos({picture.Min.x + 8, picture.Max.y - 8});
        hands.MouseClick(ImGuiMouseButton_Left);
        robot.frames(2);
        CHECK(robot.work().chosen.object.pointer.empty());
    });
}

TEST_CASE(
    "gui: a click on a surface selects an element of the solid, and the handle moves its mesh") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "soft_beam.json");
        test::stop_at(robot, 0);
        const document::Document before = robot.work().scene.document();
        // The camera is in front, at y = -2; the middle of a triangle on that side.
        click(robot, hands, {0.83, 0, 0.06});
        CHECK(robot.work().chosen.object.pointer == "/bodies/0");
        const render::Element part = robot.work().chosen.object.part();
        CHECK(part.kind == ElementKind::cell);
        // Six tetrahedra for each cell; of this place it is cell (8, 0, 0) of 10 x 2 x 2.
        CHECK(part.number / 6 == 8 * 4);
        CHECK(robot.work().looks.view.selected_element == part.number);
        robot.frames(3);
        robot.picture("view_element_selected");
        const ImVec2 handle = test::on_screen(robot, hands, {0.5, 0.1, 0.1});
        hands.KeyPress(ImGuiKey_W);
        robot.frames(3);
        CHECK(robot.work().looks.tool_problem.empty());
        drag(robot, hands, handle, {0, -60});
        const Vec3 low = vector_at(robot, "/bodies/0/mesh/box/min"),
                   high = vector_at(robot, "/bodies/0/mesh/box/max");
        CHECK(low[2] > 0.05);
        for (std::size_t c = 0; c < 3; ++c)
            CHECK(high[c] - low[c] == doctest::Approx(c == 0 ? 1 : 0.2));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        CHECK(robot.work().scene.document() == before);
        // A box is not turned.
        hands.KeyPress(ImGuiKey_E);
        robot.frames(2);
        CHECK(robot.work().looks.tool_problem.find("beam cannot be turned") == 0);
    });
}

TEST_CASE("gui: a body of a formula cannot be moved by a handle, and the view says why") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        test::stop_at(robot, 0);
        REQUIRE(robot.work().scene.edit([](session::Editor& e) {
            e.set("/bodies/0/positions",
                  document::Document::parse(R"({"formula": ["0*i", "0", "0"]})").root(), "Formula");
        }));
        robot.work().chosen.select({"/bodies/0", -1, ""});
        hands.KeyPress(ImGuiKey_W);
        robot.frames(3);
        CHECK(robot.work().looks.tool_problem.find("written as a formula") != std::string::npos);
        robot.work().chosen.select({"/forces/0", -1, ""});
        robot.frames(3);
        CHECK(robot.work().looks.tool_problem.find("no place of its own") != std::string::npos);
        robot.work().chosen.select({"/objective/0", -1, ""});
        robot.frames(3);
        CHECK(robot.work().looks.tool_problem.empty());
    });
}

TEST_CASE("gui: F frames what is selected, or all as it is now; a double click centers") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        test::stop_at(robot, 0);
        // The anchors are the outermost, and their box is known.
        Vec3 low{9, 9, 9}, high{-9, -9, -9};
        for (int k = 0; k < 8; ++k) {
            const Vec3 p = vector_at(robot, "/bodies/1/positions/" + std::to_string(k));
            for (std::size_t c = 0; c < 3; ++c) {
                low[c] = std::min(low[c], p[c]);
                high[c] = std::max(high[c], p[c]);
            }
        }
        hands.KeyPress(ImGuiKey_F);
        robot.frames(3);
        check_framed(robot, low, high);
        // One anchor: near, in the middle.
        const Vec3 first = vector_at(robot, "/bodies/1/positions/0");
        robot.work().chosen.select({"/bodies/1", 0, "", ElementKind::point});
        robot.frames(2);
        hands.KeyPress(ImGuiKey_F);
        robot.frames(3);
        CHECK(distance(robot.work().looks.view.camera.target, first) < 1e-5);
        CHECK(distance(robot.work().looks.view.camera.eye, first) < 1);
        robot.picture("view_framed_point");
        // All of them from the menu, whatever is selected.
        const gui::Actions actions;
        CHECK(actions.run("frame_all", robot.work()));
        robot.frames(3);
        check_framed(robot, low, high);

        hands.KeyPress(ImGuiKey_Q);
        const ImVec2 at = test::on_screen(robot, hands, first);
        const double far =
            distance(robot.work().looks.view.camera.eye, robot.work().looks.view.camera.target);
        hands.MouseMoveToPos(at);
        hands.MouseDoubleClick(ImGuiMouseButton_Left);
        robot.frames(3);
        // On its surface.
        CHECK(distance(robot.work().looks.view.camera.target, first) < 1.01 * ball_radius(robot));
        CHECK(distance(robot.work().looks.view.camera.eye, robot.work().looks.view.camera.target) ==
              doctest::Approx(far));
    });
}

TEST_CASE("gui: the picture is framed where things are, not where they were") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "free_flight.json");
        const document::Document& scene = robot.work().scene.document();
        const double end = robot.work().running.duration();
        const double g = gui::plain_number(scene.find("/gravity")->item(2)).value();
        test::stop_at(robot, robot.now().run.steps);
        robot.work().chosen.select({"/bodies/0", -1, ""});
        robot.frames(2);
        hands.KeyPress(ImGuiKey_F);
        robot.frames(3);
        // Free flight from (0, 0, 1) with (3, 0, 4) m/s; the integrator is half a step behind or
        // ahead of the parabola.
        const Vec3 target = robot.work().looks.view.camera.target;
        CHECK(target[0] == doctest::Approx(3 * end).epsilon(0.01));
        CHECK(std::abs(target[2] - (1 + 4 * end + g * end * end / 2)) <
              std::abs(g) * end * robot.now().run.step_seconds);
    });
}

TEST_CASE("gui: the six sides and the perspective by the number pad") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        test::stop_at(robot, 0);
        const auto side = [&](ImGuiKeyChord key) {
            hands.KeyPress(key);
            robot.frames(2);
            const render::Camera& camera = robot.work().looks.view.camera;
            Vec3 from{};
            const double far = distance(camera.eye, camera.target);
            for (std::size_t c = 0; c < 3; ++c)
                from[c] = std::round((camera.eye[c] - camera.target[c]) / far * 100) / 100 + 0.0;
            return from;
        };
        CHECK(gui::Actions::key_name(ImGuiMod_Ctrl | ImGuiKey_Keypad1) == "Ctrl+Numpad 1");
        CHECK(side(ImGuiKey_Keypad1) == Vec3{0, -1, 0});
        robot.picture("view_front");
        CHECK(side(ImGuiMod_Ctrl | ImGuiKey_Keypad1) == Vec3{0, 1, 0});
        CHECK(side(ImGuiKey_Keypad3) == Vec3{1, 0, 0});
        CHECK(side(ImGuiMod_Ctrl | ImGuiKey_Keypad3) == Vec3{-1, 0, 0});
        CHECK(side(ImGuiMod_Ctrl | ImGuiKey_Keypad7) == Vec3{0, 0, -1});
        CHECK(side(ImGuiKey_Keypad7) == Vec3{0, 0, 1});
        hands.KeyPress(ImGuiKey_Keypad5);
        robot.frames(2);
        CHECK(robot.work().looks.view.camera.orthographic);
        robot.picture("view_top_orthographic");
        // It is turned as before, and things are picked where they are.
        const Vec3 eye = robot.work().looks.view.camera.eye;
        const ImRect picture = hands.ItemInfo("//###View/picture").RectFull;
        hands.MouseMoveToPos({picture.Min.x + 60, picture.Max.y - 60});
        hands.MouseDragWithDelta({40, -30});
        robot.frames(2);
        CHECK(distance(robot.work().looks.view.camera.eye, eye) > 0.1);
        click(robot, hands, vector_at(robot, "/bodies/1/positions/3"));
        CHECK(robot.work().chosen.object.part() == render::Element{ElementKind::point, 3});
        hands.KeyPress(ImGuiKey_Keypad5);
        robot.frames(2);
        CHECK_FALSE(robot.work().looks.view.camera.orthographic);
        // In the plane there is one side alone; as heights a field has all.
        const gui::Actions actions;
        open(robot, "wave_image.json");
        CHECK_FALSE(actions.run("from_front", robot.work()));
        hands.KeyPress(ImGuiKey_H);
        robot.frames(4);
        CHECK_FALSE(robot.work().looks.view.camera.orthographic);
        CHECK(actions.run("from_front", robot.work()));
        robot.frames(2);
        hands.KeyPress(ImGuiKey_H);
        robot.frames(4);
        CHECK(robot.work().looks.view.camera.orthographic);
        hands.ItemClick("//##MainMenuBar/##MenuBar/View");
        robot.frames(2);
        robot.picture("view_menu");
    });
}

TEST_CASE("gui: switches of the picture stay as they were set; hidden objects are of one scene") {
    Robot robot({.best_picture = true});
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        test::stop_at(robot, 0);
        const gui::Actions actions;
        REQUIRE(robot.work().looks.view.floor);
        const bool occlusion = robot.work().looks.view.ambient_occlusion;
        hands.KeyPress(ImGuiKey_G);
        CHECK(actions.run("shadows", robot.work()));
        CHECK(actions.run("occlusion", robot.work()));
        const auto switched = [&] {
            const render::View& view = robot.work().looks.view;
            return !view.floor && !view.shadows && view.ambient_occlusion != occlusion;
        };
        CHECK(switched());
        robot.frames(2);
        CHECK(switched());
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Equal);  // larger text: settings are saved
        robot.frames(3);
        CHECK(switched());
        const document::Document kept =
            document::Document::load(robot.folder() / "state/settings.json");
        CHECK_FALSE(kept.find("/floor")->boolean());
        CHECK_FALSE(kept.find("/shadows")->boolean());

        // Hidden by name: also after an edit that makes other things of the scene.
        robot.work().looks.hidden = {"anchors"};
        robot.frames(3);
        const auto hidden = [&] {
            std::set<std::string> names;
            const auto& drawables = robot.now().scene.stage->drawables;
            for (std::size_t k = 0;
                 k < drawables.size() && k < robot.work().looks.view.hidden.size(); ++k)
                if (robot.work().looks.view.hidden[k]) names.insert(drawables[k].name);
            return names;
        };
        CHECK(hidden() == std::set<std::string>{"anchors"});
        const auto stage = robot.now().scene.stage;
        robot.work().chosen.select({"/bodies/0", -1, ""});
        REQUIRE(actions.run("duplicate", robot.work()));
        REQUIRE(robot.wait([&] { return robot.now().scene.stage != stage; }));
        robot.frames(3);
        CHECK(hidden() == std::set<std::string>{"anchors"});
        // Another scene begins with all that it has.
        REQUIRE(robot.work().scene.edit([](session::Editor& e) { e.undo(); }));
        open(robot, "two_body_spring.json");
        CHECK(robot.work().looks.hidden.empty());
        CHECK(hidden().empty());
    });
}

TEST_CASE("gui: a scene of milliseconds plays in seconds, and its time is in milliseconds") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "wave_image.json");
        CHECK(robot.wait(
            [&] { return robot.now().run.speed_asked == doctest::Approx(0.0005).epsilon(1e-9); }));
        CHECK(robot.work().running.speed() == robot.now().run.speed_asked);
        robot.frames(5);
        robot.picture("view_slow_scene");
        // Any speed can be typed.
        hands.ItemClick("//##timeline/**/##speed");
        robot.frames(2);
        hands.KeyCharsReplaceEnter("2e-4");
        CHECK(robot.work().running.speed() == 2e-4);
        CHECK(robot.wait([&] { return robot.now().run.speed_asked == 2e-4; }));
        // And those that are wanted most can be chosen.
        hands.ItemClick("//##timeline/##speeds");
        robot.frames(2);
        robot.picture("view_speeds");
        hands.ItemClick("//$FOCUSED/as fast as possible");
        CHECK(robot.wait([&] { return robot.now().run.speed_asked == 0; }));
        open(robot, "spring_cage.json");  // one second
        CHECK(robot.wait([&] { return robot.now().run.speed_asked == 1; }));
    });
}

TEST_CASE("gui: arrows fit the scene when they are chosen, until they are scaled by hand") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "flag.json");
        test::stop_at(robot, 40);
        const auto& stage = *robot.now().scene.stage;
        const double diagonal = distance(stage.low, stage.high);
        hands.ItemClick("//###View/##arrows");
        robot.frames(2);
        hands.ItemClick("//$FOCUSED/velocity");
        gui::Picture& picture = robot.app().picture();
        REQUIRE(robot.wait([&] { return picture.longest_arrow().arrows == "velocity"; }));
        robot.frames(3);
        const double longest = picture.longest_arrow().length;
        REQUIRE(longest > 0);
        const auto seen = [&] { return robot.work().looks.view.arrow_scale * longest / diagonal; };
        CHECK(seen() == doctest::Approx(0.12));
        robot.picture("view_arrows_fit");
        hands.ItemClick("//###View/log");
        robot.frames(3);
        CHECK(robot.work().looks.view.arrow_scale == doctest::Approx(0.12 * diagonal));
        hands.ItemClick("//###View/log");
        // Typed: it stays, also at another moment.
        hands.ItemClick("//###View/##arrow scale");
        robot.frames(2);
        hands.KeyCharsReplaceEnter("0.03");
        robot.frames(3);
        CHECK(robot.work().looks.view.arrow_scale == doctest::Approx(0.03));
        test::stop_at(robot, 10);
        CHECK(robot.work().looks.view.arrow_scale == doctest::Approx(0.03));
        const std::string fit = std::string("//###View/") + gui::icon::frame + "##fit arrows";
        hands.ItemClick(fit.c_str());
        robot.frames(4);
        CHECK(robot.work().looks.fit_arrows);
        CHECK(robot.work().looks.view.arrow_scale * picture.longest_arrow().length ==
              doctest::Approx(0.12 * diagonal));
    });
}

TEST_CASE("gui: fields as heights: how high they are, smooth images, edges of triangles") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "wave_image.json");
        robot.work().running.optimize(session::Optimize::What::one);
        REQUIRE(robot.wait([&] { return test::last_iteration(robot) >= 1; }));
        test::stop_at(robot, robot.now().run.steps);
        const gui::Actions actions;
        CHECK(actions.run("smooth_fields", robot.work()));
        CHECK(robot.work().looks.view.smooth_fields);
        CHECK(actions.run("edges", robot.work()));
        CHECK(robot.work().looks.view.edges);
        hands.KeyPress(ImGuiKey_H);
        robot.frames(6);
        const std::string fit = std::string("//###View/") + gui::icon::frame + "##fit heights";
        hands.ItemClick(fit.c_str());
        robot.frames(4);
        const auto range = robot.app().picture().color_range();
        const double largest = std::max(std::abs(range[0]), std::abs(range[1]));
        const auto& stage = *robot.now().scene.stage;
        CHECK(robot.work().looks.view.height_scale * largest ==
              doctest::Approx(0.15 * distance(stage.low, stage.high)));
        hands.KeyPress(ImGuiKey_F);
        robot.frames(4);
        robot.picture("view_heights");
    });
}

TEST_CASE("gui: a scene opens as in a fresh window, however the one before was looked at") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open(robot, "thrown_ball.json");
        const render::View fresh = robot.work().looks.view;
        open(robot, "spring_cage.json");
        gui::Topics& work = robot.work();
        work.looks.color_by("position gradient");
        // A vector's length has one sign, whatever it is the gradient of.
        CHECK_FALSE(work.looks.view.symmetric);
        work.looks.color_by("cage.rest_length gradient");
        CHECK(work.looks.view.symmetric);
        CHECK(work.looks.view.map == render::ColorMap::coolwarm);
        work.looks.view.heights = work.looks.view.edges = work.looks.view.trails = true;
        work.looks.colors.range = session::ColorLook::Range::hand;
        work.looks.colors.ends = {-1, 1};
        work.looks.colors.logarithmic = true;
        work.looks.view.arrow_scale = 7;
        work.camera.follows = true;
        open(robot, "thrown_ball.json");
        const render::View& now = work.looks.view;
        CHECK(now.camera == fresh.camera);
        CHECK(now.map == fresh.map);
        CHECK(now.symmetric == fresh.symmetric);
        CHECK(work.looks.colors.range == session::ColorLook::Range::run);
        CHECK_FALSE(now.log_colors);
        CHECK(now.heights == fresh.heights);
        CHECK(now.edges == fresh.edges);
        CHECK(now.trails == fresh.trails);
        CHECK(now.arrow_scale == fresh.arrow_scale);
        CHECK_FALSE(work.camera.follows);
    });
}

TEST_CASE("gui: where the last iteration is not the best, both are told, and the best is gone to") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "spring_cage.json");
        // So long a step that the loss rises.
        REQUIRE(robot.work().scene.set("/optimizer/rate", document::Node(60.0), "Rate"));
        REQUIRE(robot.work().scene.set("/optimizer/iterations", document::Node(2), "Iterations"));
        REQUIRE(test::runs_what_is_edited(robot));
        hands.KeyPress(ImGuiKey_O);
        REQUIRE(robot.wait([&] {
            return test::last_iteration(robot) == 2 && !robot.work().running.is_optimizing();
        }));
        robot.frames(3);
        REQUIRE(robot.now().optimization.best_iteration == 0);
        REQUIRE(robot.now().optimization.shown_iteration == 2);
        robot.picture("best_and_last");
        // What is accepted is what is shown, with a word about the better one.
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Enter);
        REQUIRE(robot.wait([&] { return test::said(robot, "Accept iteration 2"); }));
        CHECK(test::said(robot, "Iteration 0 is better"));
        hands.KeyPress(ImGuiMod_Ctrl | ImGuiKey_Z);
        REQUIRE(test::runs_what_is_edited(robot));
        hands.ItemClick("//###Optimizer/**/###Go to the best: 0");
        CHECK(robot.wait([&] { return robot.now().optimization.shown_iteration == 0; }));
        robot.frames(3);
        CHECK_FALSE(hands.ItemExists("//###Optimizer/**/###Go to the best: 0"));
    });
}

TEST_CASE("gui: what is a setting of the picture is so in every scene that opens") {
    Robot robot;
    robot.run([&](ImGuiTestContext&) {
        open(robot, "thrown_ball.json");
        gui::Topics& work = robot.work();
        const float before = work.looks.view.background_top[0];
        work.settings.dark = false;
        work.settings.samples = work.settings.samples == 1 ? 4 : 1;
        work.settings.save();
        robot.frames(4);
        const float light = work.looks.view.background_top[0];
        REQUIRE(light > before);
        open(robot, "spring_cage.json");
        CHECK_FALSE(work.looks.view.dark);  // dark text stands on it
        CHECK(work.looks.view.background_top[0] == light);
        CHECK(work.looks.view.samples == work.settings.samples);
        robot.picture("light_second_scene");
    });
}

TEST_CASE("gui: trails are drawn up to the moment that is shown, and go with the scene") {
    Robot robot({.draws = true});
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "free_flight.json");
        stop_at(robot, robot.now().run.steps / 2);
        const auto colored = [&] {  // pixels of the view that are as orange as trails are
            const render::Image image = robot.app().screenshot();
            const ImRect place = hands.ItemInfo("//###View/picture").RectFull;
            int count = 0;
            for (int y = static_cast<int>(place.Min.y); y < static_cast<int>(place.Max.y); ++y)
                for (int x = static_cast<int>(place.Min.x); x < static_cast<int>(place.Max.x);
                     ++x) {
                    const std::uint8_t* p =
                        &image.pixels[4 * (static_cast<std::size_t>(y) * image.width + x)];
                    count += p[0] > 190 && p[1] > 140 && p[1] < 220 && p[2] < 130;
                }
            return count;
        };
        const int before = colored();
        hands.KeyPress(ImGuiKey_T);
        REQUIRE(robot.wait([&] { return !robot.work().looks.view.trail_lines.empty(); }));
        robot.frames(4);
        robot.picture("trails");
        CHECK(robot.work().looks.view.trail_lines.front().size() ==
              static_cast<std::size_t>(robot.now().run.steps / 2 + 1));
        CHECK(colored() > before + 20);
        open(robot, "spring_cage.json");
        CHECK(robot.wait([&] { return robot.work().looks.view.trail_lines.empty(); }));
    });
}
