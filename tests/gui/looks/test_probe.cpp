// The probe: what the mouse rests on, by name, with the number that it is colored by.
#include <doctest/doctest.h>

#include <cmath>

#include <imgui_internal.h>

#include "app/gui/panels/probe.hpp"
#include "app/gui/work/picture.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/render/studio.hpp"

using namespace hindcast;
using test::open;
using test::Robot;

TEST_CASE("render: the number of one element, as it is colored") {
    test::Studio studio;
    test::StageMaker maker;
    maker.stage.dimension = 2;
    const int position = maker.channel("position", 2, {0, 0, 1, 0, 1, 1, 0, 1});
    const int numbers = maker.channel("numbers", 1, {1, 2, 3, std::nan("")});
    render::Drawable& points = maker.points(position, 3, 0.1);
    points.first = 1;  // three of the four
    points.values = numbers;
    render::Drawable& surface = maker.surface(position, {0, 1, 2});
    surface.values = numbers;
    surface.values_per_point = true;
    render::Drawable& field = maker.field(maker.channel("field", 1, {5, 6, 7, 8}), 2, 2, 1);
    field.name = "field";
    studio.draw(maker, test::plane_view(maker, 64, 64, 3));
    using Kind = render::ElementKind;
    const auto of = [&](int drawable, Kind kind, std::int64_t number) {
        return studio.renderer.numbers_of(drawable, {kind, number});
    };
    CHECK(of(0, Kind::point, 0) == std::array<double, 2>{2, 2});
    CHECK(of(0, Kind::point, 1) == std::array<double, 2>{3, 3});
    CHECK_FALSE(of(0, Kind::point, 2));  // not a number: its own color
    CHECK(of(1, Kind::cell, 0) == std::array<double, 2>{1, 3});
    CHECK(of(2, Kind::node, 3) == std::array<double, 2>{8, 8});
    CHECK_FALSE(of(0, Kind::segment, 0));
    CHECK_FALSE(of(0, Kind::none, -1));
    CHECK_FALSE(of(7, Kind::point, 0));
}

TEST_CASE("gui: the mouse that rests on a thing is told its name, part, number and place") {
    CHECK(gui::numbers_text("speed", "m/s", {0.5, 0.5}) == "speed 0.5 m/s");
    CHECK(gui::numbers_text("stress", "Pa", {1200, 1500}) == "stress 1200 to 1500 Pa");
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "free_flight.json");
        test::stop_at(robot, 50);
        // (3, 0, 4) m/s, semi-implicit steps of 0.01 s.
        const double z = 1 + 0.04 * 50 - 9.81e-4 * 50 * 51 / 2,
                     speed = std::hypot(3, 4 - 0.0981 * 50);
        hands.MouseMoveToPos(test::on_screen(robot, hands, {1.5, 0, z}));
        const auto tooltip = [&]() -> std::string {
            for (const ImGuiWindow* const window : GImGui->Windows)
                if ((window->Flags & ImGuiWindowFlags_Tooltip) != 0 && window->Active &&
                    !window->Hidden)
                    return window->Name;
            return "";
        };
        REQUIRE(robot.wait([&] { return !tooltip().empty(); }, 10));
        robot.picture("probe");
        const auto pick = robot.app().picture().pick(
            static_cast<int>(ImGui::GetIO().MousePos.x -
                             hands.ItemInfo("//###View/picture").RectFull.Min.x),
            static_cast<int>(ImGui::GetIO().MousePos.y -
                             hands.ItemInfo("//###View/picture").RectFull.Min.y));
        CHECK(gui::part_text(*robot.app().picture().stage(), pick) == "ball, point 0");
        const auto numbers = robot.app().picture().numbers_of(pick.drawable, pick.element);
        REQUIRE(numbers);
        CHECK((*numbers)[0] == doctest::Approx(speed).epsilon(1e-5));
        CHECK((*numbers)[1] == (*numbers)[0]);
        // A mouse that moves on has nothing beside it.
        hands.MouseMoveToPos(test::on_screen(robot, hands, {0, 0, 0.2}));
        robot.frames(1);
        CHECK(tooltip().empty());
    });
}
