// The slice: what is before it is hidden, what it cuts is filled; against areas and places by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "app/render/color_map.hpp"
#include "app/session/frames/solid_source.hpp"
#include "tests/render/studio.hpp"
#include "tests/support/surfaces.hpp"

using namespace hindcast::render;
using namespace hindcast::test;

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr int side = 200;  // pixels, 100 for each meter

// From the front, along y, without perspective: the eye is at y = -4.
View front_view() {
    View view = plain_view(side, side);
    view.camera.orthographic = true;
    view.camera.height = 2;
    return view;
}

// What is nearer to the eye than that y is hidden.
Slice before(double y) { return {{0, -1, 0}, -y}; }

// The color at a place of the plane across the line of sight.
Pixel at(const Image& image, double x, double z) {
    return pixel(image, static_cast<int>(std::lround(100 + 100 * x)),
                 static_cast<int>(std::lround(99 - 100 * z)));
}

}  // namespace

TEST_CASE("render: a slice along the line of sight leaves a part of a ball") {
    Studio studio;
    for (const int samples : {1, 4}) {
        StageMaker maker;
        maker.points(maker.channel("position", 3, {0, 0, 0}), 1, 0.5);
        View view = front_view();
        view.samples = samples;
        view.slice = Slice{{2, 0, 0}, 0.2};  // of any length; the offset is in meters
        const Image image = studio.draw(maker, view);
        // The disc without the cap beyond x = 0.2.
        const double area = 0.25 * (pi - std::acos(0.4)) + 0.2 * std::sqrt(0.25 - 0.04);
        CHECK(count_drawn(image) == doctest::Approx(1e4 * area).epsilon(0.03));
        CHECK_FALSE(at(image, 0.17, 0).black());
        CHECK(at(image, 0.23, 0).black());
        CHECK(studio.renderer.pick(110, 100).drawable == 0);
        CHECK(studio.renderer.pick(140, 100).drawable == -1);
    }
}

TEST_CASE("render: a slice across the line of sight fills the ball that it cuts") {
    Studio studio;
    StageMaker maker;
    maker.points(maker.channel("position", 3, {0, 0, 0}), 1, 0.5);
    View view = front_view();
    view.slice = before(-0.3);
    const Image image = studio.draw(maker, view);
    CHECK(count_drawn(image) == doctest::Approx(1e4 * pi * 0.25).epsilon(0.02));
    // The cut is a disc of radius 0.4, flat, so of one color; outside it the ball is round.
    CHECK(at(image, 0, 0) == at(image, 0.3, 0.2));
    CHECK(at(image, 0, 0) == at(image, -0.2, -0.3));
    CHECK(at(image, 0, 0) != at(image, -0.44, 0));
    CHECK(studio.renderer.pick(100, 100).place[1] == doctest::Approx(-0.3).epsilon(1e-3));
    // At 0.45 from the middle the ball begins behind the cut: at -sqrt(0.25 - 0.45^2).
    CHECK(studio.renderer.pick(55, 100).place[1] ==
          doctest::Approx(-std::sqrt(0.25 - 0.445 * 0.445)).epsilon(0.03));
    view.slice = before(-0.6);
    CHECK(studio.draw(maker, view).pixels == [&] {
        View whole = view;
        whole.slice.reset();
        return studio.draw(maker, whole).pixels;
    }());
    view.slice = before(0.6);
    CHECK(count_drawn(studio.draw(maker, view)) == 0);
    CHECK(studio.renderer.pick(100, 100).drawable == -1);
}

TEST_CASE("render: a slice cuts springs, cloth, heights and arrows") {
    Studio studio;
    View view = front_view();
    view.slice = Slice{{1, 0, 0}, 0.2};
    StageMaker springs;
    springs.segments(springs.channel("position", 3, {-0.5, 0, 0, 0.5, 0, 0}), {0, 1}, 0.1);
    // A half disc and a rectangle up to x = 0.2.
    CHECK(count_drawn(studio.draw(springs, view)) ==
          doctest::Approx(1e4 * (pi * 0.01 / 2 + 0.7 * 0.2)).epsilon(0.03));
    StageMaker cloth;
    cloth.surface(
        cloth.channel("position", 3, {-0.5, 0, -0.5, 0.5, 0, -0.5, 0.5, 0, 0.5, -0.5, 0, 0.5}),
        {0, 1, 2, 0, 2, 3});
    CHECK(count_drawn(studio.draw(cloth, view)) == doctest::Approx(7000).epsilon(0.03));
    // Arrows are drawn whole, or not at all where they begin before the slice.
    StageMaker arrows;
    const int places = arrows.channel("position", 3, {0.1, 0, 0.5, 0.3, 0, -0.5});
    Drawable& drawn = arrows.add(Drawable::Kind::arrows, "arrows");
    drawn.places = places;
    drawn.values = arrows.channel("arrows", 3, {0.5, 0, 0, 0.5, 0, 0});
    drawn.count = 2;
    const Image image = studio.draw(arrows, view);
    CHECK_FALSE(at(image, 0.35, 0.5).black());
    CHECK(at(image, 0.5, -0.5).black());
}

TEST_CASE("render: the cut of a tetrahedron shows the numbers between its corners") {
    Studio studio;
    // From a face at y = 0 toward the eye; half way its section is half as large. The numbers are
    // x, and so they are on the section.
    StageMaker maker;
    Drawable& body = maker.surface(
        maker.channel("position", 3, {0, -1, 0, -0.8, 0, -0.8, 0.8, 0, -0.8, 0, 0, 0.8}),
        {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2});
    body.values = maker.channel("numbers", 1, {0, -0.8, 0.8, 0});
    body.values_per_point = true;
    body.tetrahedra = {0, 1, 2, 3};
    View view = front_view();
    view.map = ColorMap::gray;
    view.range = std::array{-0.8, 0.8};
    view.slice = before(-0.5);
    const Image image = studio.draw(maker, view);
    // The whole face is behind it: a triangle of 1.6 m x 1.6 m.
    CHECK(count_drawn(image) == doctest::Approx(12800).epsilon(0.02));
    CHECK(studio.renderer.pick(100, 110).place[1] == doctest::Approx(-0.5).epsilon(1e-3));
    CHECK(studio.renderer.pick(100, 110).element == Element{ElementKind::cell, 0});
    // One light over the cut: the squares of what is seen are a line over those of the colors.
    const auto seen = [&](double x) { return std::pow(at(image, x, -0.3).r / 255.0, 2); };
    const auto told = [](double x) {
        return std::pow(double{color_at(ColorMap::gray, (x + 0.8) / 1.6)[0]}, 2);
    };
    const double slope = (seen(0.25) - seen(-0.25)) / (told(0.25) - told(-0.25));
    CHECK(slope > 0.5);
    for (const double x : {-0.2, -0.1, 0.0, 0.12, 0.2})
        CHECK(seen(x) ==
              doctest::Approx(seen(-0.25) + slope * (told(x) - told(-0.25))).epsilon(0.03));
    // Two corners on either side: a square of 0.5 m.
    StageMaker other;
    Drawable& wedge = other.surface(
        other.channel("position", 3, {-0.5, -0.5, 0, 0.5, -0.5, 0, 0, 0.5, -0.5, 0, 0.5, 0.5}),
        {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3});
    wedge.tetrahedra = {0, 1, 2, 3};
    view.slice = before(0);
    const Image square = studio.draw(other, view);
    // With what is seen behind it, above and below: 0.25 + 2 * 0.0625 m^2.
    CHECK(count_drawn(square) == doctest::Approx(3750).epsilon(0.02));
    for (const double x : {-0.22, 0.0, 0.22})
        for (const double z : {-0.22, 0.0, 0.22}) {
            const Pick pick = studio.renderer.pick(static_cast<int>(100 + 100 * x),
                                                   static_cast<int>(100 - 100 * z));
            CHECK(std::abs(pick.place[1]) < 1e-3);
            CHECK(at(square, x, z) == at(square, 0, 0));
        }
}

TEST_CASE("render: a cut rigid body is filled, lit as the slice is") {
    Studio studio;
    StageMaker maker;
    maker.solid("box",
                hindcast::test::surface(hindcast::geometry::ShapeKind::box, {0.3, 0.3, 0.3}, 0, 3),
                {0, 0, 0});
    View view = front_view();
    const Image whole = studio.draw(maker, view);
    view.slice = before(0.1);
    const Image cut = studio.draw(maker, view);
    CHECK(count_drawn(cut) == count_drawn(whole));
    // The front face has the slice's normal, and so the same light.
    for (const double x : {-0.2, 0.0, 0.2}) CHECK(at(cut, x, 0.1) == at(whole, x, 0.1));
    // Without a slice the inside is not seen, and a slice behind the box hides all of it.
    view.slice = before(0.31);
    CHECK(count_drawn(studio.draw(maker, view)) == 0);
}

TEST_CASE("render: shadows are those of what is left, and ground, grid and targets stay") {
    Studio studio;
    StageMaker maker;
    maker.points(maker.channel("position", 3, {0, 0, 0.3}), 1, 0.2);
    maker.with_numbers(Drawable::Kind::half_space, "ground", {0, 0, 1, 0});
    maker.with_numbers(Drawable::Kind::markers, "target", {0.6, 0, 0.5});
    View view = plain_view(side, side);
    view.camera.eye = {0, -2, 2};
    view.shadows = true;
    view.slice = Slice{{0, 0, 1}, 0.05};  // all of the ball is before it
    const Image cut = studio.draw(maker, view);
    view.slice.reset();
    view.hidden = {true};
    CHECK(cut.pixels == studio.draw(maker, view).pixels);
}

TEST_CASE("render: of many arrows so many are drawn, in their order") {
    Studio studio;
    View view = front_view();
    StageMaker maker;
    const int places =
        maker.channel("position", 3, {-0.5, 0, -0.5, 0.1, 0, -0.5, -0.5, 0, 0.5, 0.1, 0, 0.5});
    Drawable& arrows = maker.add(Drawable::Kind::arrows, "arrows");
    arrows.places = places;
    arrows.values = maker.channel("arrows", 3, {.4, 0, 0, .4, 0, 0, .4, 0, 0, .4, 0, 0});
    arrows.count = 4;
    arrows.indices = {2, 1, 3, 0};
    const auto drawn = [&](std::int64_t most) {
        view.most_arrows = most;
        const Image image = studio.draw(maker, view);
        std::string which;
        const std::vector<double>& at_place = maker.channels[0];
        for (std::size_t k = 0; k < 4; ++k)
            if (!at(image, at_place[3 * k] + 0.2, at_place[3 * k + 2]).black())
                which += static_cast<char>('0' + k);
        return which;
    };
    CHECK(drawn(1) == "2");
    CHECK(drawn(2) == "12");
    CHECK(drawn(3) == "123");
    CHECK(drawn(4) == "0123");
    CHECK(drawn(1000) == "0123");
}

TEST_CASE("render: springs are as thick as is asked for, in meters or pixels") {
    Studio studio;
    StageMaker maker;
    maker.stage.dimension = 2;
    maker.segments(maker.channel("position", 2, {-0.5, 0, 0.5, 0}), {0, 1}, 0.1);
    View view = plane_view(maker, side, side, 2);
    view.tubes.radius = 0.05;
    CHECK(count_drawn(studio.draw(maker, view)) == doctest::Approx(1000 + pi * 25).epsilon(0.03));
    view.tubes = {0, 7};
    CHECK(count_drawn(studio.draw(maker, view)) == doctest::Approx(1400 + pi * 49).epsilon(0.03));
    // From twice as far they are as many pixels thick.
    view.camera.height = 4;
    CHECK(count_drawn(studio.draw(maker, view)) == doctest::Approx(700 + pi * 49).epsilon(0.04));
    // And where a shadow falls depends on places alone.
    StageMaker space;
    space.segments(space.channel("position", 3, {-0.5, 0, 0, 0.5, 0, 0}), {0, 1}, 0.1);
    View shadowed = front_view();
    shadowed.tubes = {0, 3};
    shadowed.shadows = true;
    CHECK(count_drawn(studio.draw(space, shadowed)) == doctest::Approx(600 + pi * 9).epsilon(0.06));
}

TEST_CASE("render: a field lies where its origin is") {
    Studio studio;
    StageMaker maker;
    maker.stage.dimension = 2;
    maker.field(maker.channel("field", 1, {0, 0, 0, 0}), 2, 2, 0.2);
    maker.field(maker.channel("wanted", 1, {1, 1, 1, 1}), 2, 2, 0.2).origin = {0.6, 0, 0};
    const View view = plane_view(maker, side, side, 2);
    const Image image = studio.draw(maker, view);
    // Squares of 0.2 m around nodes: two of 0.4 m, from -0.1 and from 0.5.
    CHECK(count_drawn(image) == doctest::Approx(3200).epsilon(0.02));
    const auto of = [](const Color& color) {
        const auto byte = [](float x) { return static_cast<int>(std::lround(x * 255)); };
        return Pixel{byte(color[0]), byte(color[1]), byte(color[2])};
    };
    CHECK(at(image, 0.1, 0.1) == of(color_at(ColorMap::viridis, 0)));
    CHECK(at(image, 0.7, 0.1) == of(color_at(ColorMap::viridis, 1)));
    CHECK(at(image, 0.4, 0.1).black());
    const auto box = studio.renderer.bounds_of({1});
    REQUIRE(box);
    CHECK(box->low[0] == doctest::Approx(0.6));
    CHECK(box->high[0] == doctest::Approx(0.8));
    // Such a field says itself whether it is drawn.
    maker.numbers[1] = {0};
    CHECK(count_drawn(studio.draw(maker, view)) == doctest::Approx(1600).epsilon(0.02));
}
