// Solids that the host places: where they are, how they are lit, what they hide, and clicks on them.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "app/session/frames/solid_source.hpp"
#include "tests/render/studio.hpp"
#include "tests/support/surfaces.hpp"

using namespace hindcast;
using namespace hindcast::render;
using namespace hindcast::test;

namespace {

constexpr double pi = std::numbers::pi;

// 50 pixels per meter, the origin in the middle.
View from(const Vec3& direction, const Vec3& up) {
    View view = plain_view(200, 200);
    view.camera.orthographic = true;
    view.camera.height = 4;
    view.camera.eye = direction;
    view.camera.up = up;
    return view;
}
const View from_above = from({0, 0, 5}, {0, 1, 0}), from_front = from({0, -5, 0}, {0, 0, 1});

}  // namespace

TEST_CASE("render: solids cover what they do in space, seen from any side") {
    Studio studio;
    const auto covered = [&](const Mesh& mesh, const View& view, double angle = 0) {
        StageMaker maker;
        maker.solid("solid", mesh, {}, angle);
        return count_drawn(studio.draw(maker, view)) / 2500.0;
    };
    const Mesh box = test::surface(hindcast::geometry::ShapeKind::box, {0.5, 0.8, 0.3}, 0, 3);
    CHECK(covered(box, from_above) == doctest::Approx(1.6).epsilon(0.02));
    CHECK(covered(box, from_above, 0.6) == doctest::Approx(1.6).epsilon(0.02));
    CHECK(covered(box, from_front) == doctest::Approx(0.6).epsilon(0.02));
    CHECK(covered(box, from_front, pi / 2) == doctest::Approx(0.96).epsilon(0.02));
    const Mesh capsule = test::surface(hindcast::geometry::ShapeKind::capsule, {0, 0.5, 0}, 0.4, 3);
    CHECK(covered(capsule, from_above, 0.6) == doctest::Approx(0.8 + pi * 0.16).epsilon(0.02));
    CHECK(covered(capsule, from_front) == doctest::Approx(pi * 0.16).epsilon(0.02));
    const Mesh cylinder = test::surface(hindcast::geometry::ShapeKind::cylinder, {0, 0, 0.7}, 0.5);
    CHECK(covered(cylinder, from_above) == doctest::Approx(pi * 0.25).epsilon(0.02));
    CHECK(covered(cylinder, from_front) == doctest::Approx(1.4).epsilon(0.02));
}

TEST_CASE("render: solids in the plane have one color, over the field and under the points") {
    Studio studio;
    for (const RealType real : {RealType::f32, RealType::f64}) {
        StageMaker maker;
        maker.stage.dimension = 2;
        maker.stage.real = real;
        maker
            .solid("stadium",
                   test::surface(hindcast::geometry::ShapeKind::capsule, {0.5, 0, 0}, 0.25, 2),
                   {0.1, 0.2, 0}, 0.7)
            .color = {0, 1, 0, 1};
        maker.points(maker.channel("position", 2, {0.1, 0.2}), 1, 0.1).color = {1, 0, 0, 1};
        const Image image = studio.draw(maker, plane_view(maker, 200, 200, 2));
        CHECK(count_drawn(image) == doctest::Approx((0.5 + pi * 0.0625) * 1e4).epsilon(0.02));
        CHECK(pixel(image, 110, 80) == Pixel{255, 0, 0});
        const int x = 100 + static_cast<int>(100 * (0.1 + 0.5 * std::cos(0.7))),
                  y = 100 - static_cast<int>(100 * (0.2 + 0.5 * std::sin(0.7)));
        CHECK(pixel(image, x, y) == Pixel{0, 255, 0});
        CHECK(studio.renderer.pick(x, y).drawable == 0);
        CHECK(studio.renderer.pick(x, y).element == Element{});
        CHECK(studio.renderer.pick(110, 80).drawable == 1);
    }
}

TEST_CASE("render: a solid's sides are lit by where they face, and it throws a shadow") {
    Studio studio;
    StageMaker maker;
    maker.with_numbers(Drawable::Kind::half_space, "ground", {0, 0, 1, 0});
    maker.solid("box", test::surface(hindcast::geometry::ShapeKind::box, {0.3, 0.3, 0.3}, 0, 3),
                {0, 0, 1});
    View view = from_above;
    const Image bright = studio.draw(maker, view);
    view.shadows = true;
    const Image dark = studio.draw(maker, view);
    // The light comes from (-0.42, -0.38, 0.82): what is 1 m up is dark 0.512 m and 0.463 m aside.
    const int x = 100 + static_cast<int>(0.512 * 50), y = 100 - static_cast<int>(0.463 * 50);
    CHECK(pixel(dark, x, y).r < pixel(bright, x, y).r - 15);
    CHECK(pixel(dark, 40, 160) == pixel(bright, 40, 160));

    // The light is behind the right and the rear side of those four.
    const auto lit = [&](const Vec3& eye) {
        View side = from(eye, {0, 0, 1});
        side.camera.target = {0, 0, 1};
        return pixel(studio.draw(maker, side), 100, 100).g;
    };
    CHECK(lit({-5, 0, 1}) > lit({5, 0, 1}) + 15);
    CHECK(lit({0, -5, 1}) > lit({0, 5, 1}) + 15);
}

TEST_CASE("render: a click on a solid, its outline, and the box around it") {
    Studio studio;
    StageMaker maker;
    maker.points(maker.channel("position", 3, {0, 1.5, 0}), 1, 0.3);  // hidden from the front
    maker.solid("box", test::surface(hindcast::geometry::ShapeKind::box, {0.5, 0.25, 0.5}, 0, 3),
                {0.2, 0.1, 0.3}, pi / 2);
    View view = from_front;
    view.selected_drawable = 1;
    const Image image = studio.draw(maker, view);
    const Pick pick = studio.renderer.pick(105, 90);
    CHECK(pick.drawable == 1);
    CHECK(pick.element == Element{});
    CHECK(pick.place[0] == doctest::Approx(0.11).epsilon(0.01));
    CHECK(pick.place[1] == doctest::Approx(-0.4).epsilon(0.01));
    CHECK(pick.place[2] == doctest::Approx(0.19).epsilon(0.01));
    CHECK(studio.renderer.pick(150, 90).drawable == -1);
    const auto box = studio.renderer.bounds_of({1});
    REQUIRE(box);
    for (std::size_t c = 0; c < 3; ++c) {
        const double middle[] = {0.2, 0.1, 0.3}, half[] = {0.25, 0.5, 0.5};
        CHECK(box->low[c] == doctest::Approx(middle[c] - half[c]));
        CHECK(box->high[c] == doctest::Approx(middle[c] + half[c]));
    }
    // From x = -0.05 to 0.45: at pixels 97.5 to 122.5.
    const Pixel outline = pixel(image, 123, 85);
    CHECK(outline.r > 200);
    CHECK(outline.b < 80);
    view.selected_drawable = -1;
    view.hidden = {false, true};
    CHECK_FALSE(studio.draw(maker, view).pixels.empty());
    CHECK(studio.renderer.pick(105, 90).drawable == 0);
}
