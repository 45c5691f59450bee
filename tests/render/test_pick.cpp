// What is under a pixel: thing, element and place.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/render/gallery.hpp"
#include "tests/render/studio.hpp"

using namespace hindcast::render;
using namespace hindcast::test;

TEST_CASE("pick: point, segment and triangle by their numbers") {
    Studio studio;
    StageMaker maker;
    const int position =
        maker.channel("position", 3, {9, 9, 9, -0.8, 0, 0, 0, 0, 0, 0.8, 0, 0, 0.8, 0, 0.5});
    Drawable& points = maker.points(position, 3, 0.1);
    points.first = 1;
    maker.segments(position, {1, 2, 2, 3, 3, 4}, 0.04);
    Drawable& surface = maker.surface(
        maker.channel("corners", 3, {-0.8, 1, -1, 0.8, 1, -1, 0.8, 1, -0.5, -0.8, 1, -0.5}),
        {0, 1, 2, 0, 2, 3});
    surface.element_of = {7, 5};
    for (const bool orthographic : {false, true}) {
        View view = plain_view(300, 200);
        view.camera.orthographic = orthographic;
        view.camera.height = 3;
        studio.draw(maker, view);
        const auto pick_at = [&](Vec3 place) {
            const auto at = project(view.camera, place, 300, 200);
            REQUIRE(at);
            return studio.renderer.pick(static_cast<int>((*at)[0]), static_cast<int>((*at)[1]));
        };
        const Pick ball = pick_at({0.8, 0, 0});
        CHECK(ball.drawable == 0);
        // Point 3 of the places is the third of the thing's.
        CHECK(ball.element == Element{ElementKind::point, 2});
        // On the ball's side that faces the camera, half a pixel (8 mm) off.
        CHECK(ball.place[0] == doctest::Approx(0.8).epsilon(0.02));
        CHECK(ball.place[1] == doctest::Approx(-0.1).epsilon(0.1));
        CHECK(std::abs(ball.place[2]) < 0.02);
        const Pick spring = pick_at({0.4, 0, 0});
        CHECK(spring.drawable == 1);
        CHECK(spring.element == Element{ElementKind::segment, 1});
        CHECK(pick_at({0.8, 0, 0.3}).element == Element{ElementKind::segment, 2});
        const Pick triangle = pick_at({0.5, 1, -0.9});
        CHECK(triangle.drawable == 2);
        CHECK(triangle.element == Element{ElementKind::cell, 7});
        CHECK(triangle.place[1] == doctest::Approx(1).epsilon(0.01));
        CHECK(pick_at({-0.5, 1, -0.6}).element == Element{ElementKind::cell, 5});
        CHECK(studio.renderer.pick(2, 2).drawable == -1);
        CHECK(studio.renderer.pick(-5, 100).drawable == -1);
        CHECK(studio.renderer.pick(300, 100).drawable == -1);
    }
}

TEST_CASE("pick: two pixels beside a thin line is near enough") {
    Studio studio;
    StageMaker maker;
    maker.stage.dimension = 2;
    maker.segments(maker.channel("position", 2, {-1, 0, 1, 0}), {0, 1}, 0.001);
    studio.draw(maker, plane_view(maker, 101, 101, 2));
    CHECK(studio.renderer.pick(50, 50).drawable == 0);
    CHECK(studio.renderer.pick(50, 52).drawable == 0);
    CHECK(studio.renderer.pick(50, 48).drawable == 0);
    CHECK(studio.renderer.pick(50, 56).drawable == -1);
}

TEST_CASE("pick: node of a field, obstacles, markers") {
    Studio studio;
    StageMaker maker;
    maker.stage.dimension = 2;
    maker.field(maker.channel("height", 1, std::vector<double>(12, 0.5)), 4, 3, 1);
    maker.with_numbers(Drawable::Kind::half_space, "ground", {0, 1, 0, -1});
    maker.with_numbers(Drawable::Kind::ball, "obstacle", {4.5, 0, 0, 0.4});
    maker.with_numbers(Drawable::Kind::markers, "targets", {-2, 0, 0, -2, 2, 0});
    studio.draw(maker, plane_view(maker, 160, 120, 6, {1.5, 1, 0}));  // 20 pixels per meter
    const auto at = [&](double x, double y) {
        return studio.renderer.pick(80 + static_cast<int>((x - 1.5) * 20),
                                    60 - static_cast<int>((y - 1) * 20));
    };
    CHECK(at(2.1, 1.2).drawable == 0);
    CHECK(at(2.1, 1.2).element == Element{ElementKind::node, 2 * 3 + 1});
    CHECK(at(2.1, 1.2).place[0] == doctest::Approx(2.1).epsilon(0.03));
    CHECK(at(0, -1.5).drawable == 1);
    CHECK(at(0, -1.5).element == Element{});
    CHECK(at(4.5, 0.1).drawable == 2);
    CHECK(at(4.5, 0.1).element == Element{});
    CHECK(at(-2, 2).drawable == 3);
    CHECK(at(-2, 2).element == Element{ElementKind::marker, 1});
}

TEST_CASE("pick: the gallery's things, each where it is") {
    Studio studio;
    const StageMaker maker = solid_gallery();
    const View view = gallery_view(maker, 640, 360);
    studio.draw(maker, view);
    const auto at = project(view.camera, {0.55, -0.65, 0.3}, 640, 360);
    REQUIRE(at);
    const Pick ball = studio.renderer.pick(static_cast<int>((*at)[0]), static_cast<int>((*at)[1]));
    CHECK(maker.stage.drawables[static_cast<std::size_t>(ball.drawable)].name == "obstacle");
    CHECK(std::hypot(ball.place[0] - 0.55, ball.place[1] + 0.65, ball.place[2] - 0.3) ==
          doctest::Approx(0.3).epsilon(0.02));
}
