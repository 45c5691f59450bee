// Every kind of thing draws what it must where it must: places, sizes and colors by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "app/render/color_map.hpp"
#include "tests/render/studio.hpp"

using namespace hindcast::render;
using namespace hindcast::test;

namespace {

constexpr double pi = 3.14159265358979323846;

StageMaker in_plane() {
    StageMaker maker;
    maker.stage.dimension = 2;
    return maker;
}

Pixel of(const Color& color) {
    const auto byte = [](float x) { return static_cast<int>(std::lround(x * 255)); };
    return {byte(color[0]), byte(color[1]), byte(color[2])};
}

}  // namespace

TEST_CASE("render: a ball covers the disc that its silhouette projects to") {
    for (const int samples : {1, 4}) {
        Studio studio;
        StageMaker maker;
        maker.points(maker.channel("position", 3, {0, 0, 0}), 1, 0.5);
        View view = plain_view(200, 200);
        view.samples = samples;
        const Image image = studio.draw(maker, view);
        // From 4 m away the silhouette is a circle of tan(asin(0.5 / 4)) at one meter, and the
        // picture is 2 tan(20 degrees) high there.
        const double radius = std::tan(std::asin(0.5 / 4)) / std::tan(20 * pi / 180) * 100;
        const int inside = 100 + static_cast<int>(radius) - 2, outside = inside + 4;
        if (samples == 1)
            CHECK(count_drawn(image) == doctest::Approx(pi * radius * radius).epsilon(0.01));
        CHECK_FALSE(pixel(image, 100, 100).black());
        CHECK_FALSE(pixel(image, inside, 100).black());
        CHECK(pixel(image, outside, 100).black());
        CHECK_FALSE(pixel(image, 100, inside).black());
        CHECK(pixel(image, 100, outside).black());
    }
}

TEST_CASE("render: four samples smooth the edge of a ball, one does not") {
    Studio studio;
    StageMaker maker = in_plane();
    Drawable& disc = maker.points(maker.channel("position", 2, {0, 0}), 1, 0.5);
    disc.color = {1, 1, 1, 1};
    const auto tones = [&](int samples) {
        View view = plane_view(maker, 100, 100, 2);
        view.samples = samples;
        const Image image = studio.draw(maker, view);
        int gray = 0;
        // Outside the rim, whose own shade is 0.62.
        for (int y = 0; y < 100; ++y)
            for (int x = 0; x < 100; ++x) {
                const int r = pixel(image, x, y).r;
                gray += r > 10 && r < 140;
            }
        return gray;
    };
    CHECK(tones(1) == 0);
    CHECK(tones(4) > 40);
}

TEST_CASE("render: the nearer ball hides the farther one, whatever their order") {
    Studio studio;
    for (const bool swapped : {false, true}) {
        StageMaker maker;
        // The camera looks along y; the ball at -1 is nearer.
        const int near = maker.channel("near", 3, {0, -1, 0}),
                  far = maker.channel("far", 3, {0, 1, 0});
        Drawable& first = maker.points(swapped ? far : near, 1, 0.3);
        first.color = swapped ? Color{0, 1, 0, 1} : Color{1, 0, 0, 1};
        Drawable& second = maker.points(swapped ? near : far, 1, 0.3);
        second.color = swapped ? Color{1, 0, 0, 1} : Color{0, 1, 0, 1};
        const Image image = studio.draw(maker, plain_view());
        CHECK(pixel(image, 80, 60).r > 100);
        CHECK(pixel(image, 80, 60).g < 60);
    }
}

TEST_CASE("render: balls that cut through each other meet in the middle") {
    Studio studio;
    StageMaker maker;
    maker.points(maker.channel("left", 3, {-0.3, 0, 0}), 1, 0.5).color = {1, 0, 0, 1};
    maker.points(maker.channel("right", 3, {0.3, 0, 0}), 1, 0.5).color = {0, 1, 0, 1};
    View view = plain_view(201, 101);
    view.camera.orthographic = true;
    view.camera.height = 2;
    const Image image = studio.draw(maker, view);
    // By symmetry the seam is the plane x = 0.
    CHECK(pixel(image, 97, 50).r > pixel(image, 97, 50).g);
    CHECK(pixel(image, 103, 50).g > pixel(image, 103, 50).r);
    CHECK(pixel(image, 97, 70).r > pixel(image, 97, 70).g);
    CHECK(pixel(image, 103, 30).g > pixel(image, 103, 30).r);
}

TEST_CASE("render: a segment is a capsule of its radius between its ends") {
    Studio studio;
    StageMaker maker = in_plane();
    maker.segments(maker.channel("position", 2, {-0.5, 0, 0.5, 0}), {0, 1}, 0.1).color = {1, 1, 1,
                                                                                          1};
    const Image image = studio.draw(maker, plane_view(maker, 200, 200, 2));
    // 100 pixels per meter: a rectangle of 100 x 20 and a disc of radius 10.
    CHECK(count_drawn(image) == doctest::Approx(2000 + pi * 100).epsilon(0.02));
    CHECK(pixel(image, 100, 100) == Pixel{255, 255, 255});
    CHECK(pixel(image, 43, 100) == Pixel{255, 255, 255});  // in the round end
    CHECK(pixel(image, 38, 100).black());
    CHECK(pixel(image, 100, 88).black());
}

TEST_CASE("render: in space too, also seen end on") {
    Studio studio;
    StageMaker maker;
    const int position = maker.channel("position", 3, {0, -0.5, 0, 0, 0.5, 0});
    maker.segments(position, {0, 1}, 0.2);
    View view = plain_view(200, 200);
    view.camera.orthographic = true;
    view.camera.height = 2;
    CHECK(count_drawn(studio.draw(maker, view)) == doctest::Approx(pi * 400).epsilon(0.02));
    view.camera.eye = {4, 0, 0};  // from the side: 1 m long
    CHECK(count_drawn(studio.draw(maker, view)) ==
          doctest::Approx(100 * 40 + pi * 400).epsilon(0.02));
}

TEST_CASE("render: a triangle covers its half of a square") {
    Studio studio;
    StageMaker maker = in_plane();
    maker.surface(maker.channel("position", 2, {-0.5, -0.5, 0.5, -0.5, -0.5, 0.5}), {0, 1, 2})
        .color = {0.5F, 0.5F, 0.5F, 1};
    const Image image = studio.draw(maker, plane_view(maker, 200, 200, 2));
    CHECK(count_drawn(image) == doctest::Approx(5000).epsilon(0.02));
    CHECK(pixel(image, 70, 130) == Pixel{128, 128, 128});
    CHECK(pixel(image, 130, 70).black());
}

TEST_CASE("render: a lit triangle is brightest toward the light, from both sides") {
    Studio studio;
    StageMaker maker;
    maker.surface(maker.channel("position", 3, {-2, -2, 0, 2, -2, 0, 0, 3, 0}), {0, 1, 2});
    View view = plain_view(64, 64);
    view.camera.orthographic = true;
    view.camera.eye = {0, -0.1, 4};
    const int above = pixel(studio.draw(maker, view), 32, 32).r;
    view.camera.eye = {0, -0.1, -4};
    const int below = pixel(studio.draw(maker, view), 32, 32).r;
    CHECK(above > below + 40);
    CHECK(below > 20);
}

TEST_CASE("render: a field shows exactly the colors of the map, node by node") {
    Studio studio;
    StageMaker maker = in_plane();
    // 4 x 3 nodes, 1 m apart: node (i, j) at x = i, y = j.
    const std::vector<double> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, std::nan("")};
    maker.field(maker.channel("height", 1, values), 4, 3, 1);
    for (const ColorMap map :
         {ColorMap::viridis, ColorMap::magma, ColorMap::turbo, ColorMap::coolwarm}) {
        View view = plane_view(maker, 80, 60, 6, {1.5, 1, 0});  // 10 pixels per meter
        view.map = map;
        const Image image = studio.draw(maker, view);
        CHECK(studio.renderer.color_range() == std::array<double, 2>{0, 10});
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 3; ++j) {
                const double value = values[static_cast<std::size_t>(3 * i + j)];
                const Pixel expected =
                    std::isnan(value) ? Pixel{255, 0, 255} : of(color_at(map, value / 10));
                const int x = 40 + static_cast<int>((i - 1.5) * 10),
                          y = 30 - static_cast<int>((j - 1.0) * 10);
                INFO(i, " ", j);
                CHECK(pixel(image, x, y) == expected);
                CHECK(pixel(image, x - 4, y + 4) == expected);
            }
        // The lowest color of magma is black.
        if (map != ColorMap::magma) CHECK(count_drawn(image) == 40 * 30);
    }
}

TEST_CASE("render: ranges of colors: automatic, symmetric, given") {
    Studio studio;
    StageMaker maker = in_plane();
    const int position = maker.channel("position", 2, {-0.5, 0, 0.5, 0});
    Drawable& points = maker.points(position, 2, 0.2);
    points.values = maker.channel("speed", 1, {-1, 3});
    View view = plane_view(maker, 100, 50, 2);
    studio.draw(maker, view);
    CHECK(studio.renderer.color_range() == std::array<double, 2>{-1, 3});
    view.symmetric = true;
    studio.draw(maker, view);
    CHECK(studio.renderer.color_range() == std::array<double, 2>{-3, 3});
    view.range = {{-2.0, 5.0}};
    const Image image = studio.draw(maker, view);
    CHECK(studio.renderer.color_range() == std::array<double, 2>{-2, 5});
    CHECK(pixel(image, 37, 25) == of(color_at(ColorMap::viridis, 1.0 / 7)));
    CHECK(pixel(image, 62, 25) == of(color_at(ColorMap::viridis, 5.0 / 7)));
    // Hidden things and those of which nothing is finite do not count.
    maker.channels[1] = {std::nan(""), 2};
    view.range.reset();
    view.symmetric = false;
    studio.draw(maker, view);
    CHECK(studio.renderer.color_range() == std::array<double, 2>{2, 2});
}

TEST_CASE("render: no number is the thing's own color, a number that is not finite is magenta") {
    Studio studio;
    for (const RealType real : {RealType::f32, RealType::f64}) {
        StageMaker maker = in_plane();
        maker.stage.real = real;
        const int position = maker.channel("position", 2, {-0.6, 0, 0, 0, 0.6, 0});
        const double none = std::numeric_limits<double>::quiet_NaN();
        Drawable& points = maker.points(position, 3, 0.2);
        points.color = {0, 1, 0, 1};
        points.values = maker.channel("speed", 1, {none, -none, 1});
        const Image image = studio.draw(maker, plane_view(maker, 200, 100, 2));
        CHECK(pixel(image, 70, 50) == Pixel{0, 255, 0});
        CHECK(pixel(image, 100, 50) == Pixel{255, 0, 255});
        CHECK(pixel(image, 130, 50) == of(color_at(ColorMap::viridis, 0.5)));
    }
}

TEST_CASE("render: obstacles: half plane, disc, rectangle") {
    Studio studio;
    StageMaker maker = in_plane();
    SUBCASE("half plane") {
        maker.with_numbers(Drawable::Kind::half_space, "ground", {0, 2, 0, -1});  // y < -0.5
        const Image image = studio.draw(maker, plane_view(maker, 100, 100, 2));
        CHECK(pixel(image, 50, 70).black());
        CHECK_FALSE(pixel(image, 50, 76).black());
        CHECK_FALSE(pixel(image, 3, 97).black());
    }
    SUBCASE("disc") {
        maker.with_numbers(Drawable::Kind::ball, "obstacle", {0.5, 0, 0, 0.25});
        const Image image = studio.draw(maker, plane_view(maker, 200, 200, 2));
        CHECK(count_drawn(image) == doctest::Approx(pi * 625).epsilon(0.03));
        CHECK_FALSE(pixel(image, 150, 100).black());
    }
    SUBCASE("rectangle") {
        maker.with_numbers(Drawable::Kind::box_edges, "walls", {-0.5, -0.5, 0, 0.5, 0.5, 0});
        const Image image = studio.draw(maker, plane_view(maker, 100, 100, 2));
        CHECK(pixel(image, 50, 50).black());
        CHECK((!pixel(image, 25, 50).black() || !pixel(image, 24, 50).black()));
        CHECK((!pixel(image, 50, 75).black() || !pixel(image, 50, 74).black()));
        const int drawn = count_drawn(image);
        CHECK(drawn >= 4 * 50);
        CHECK(drawn <= 4 * 54 * 3);
    }
    SUBCASE("a box in space has twelve edges") {
        maker.stage.dimension = 3;
        maker.with_numbers(Drawable::Kind::box_edges, "walls", {-0.5, -0.5, -0.5, 0.5, 0.5, 0.5});
        View view = plain_view(100, 100);
        view.camera.eye = {3, -2.5, 2};
        const Image image = studio.draw(maker, view);
        CHECK(count_drawn(image) > 250);
    }
}

TEST_CASE("render: a marker has the same size however far away it is") {
    Studio studio;
    StageMaker maker;
    maker.with_numbers(Drawable::Kind::markers, "target", {0, 0, 0}).color = {1, 1, 1, 1};
    View view = plain_view(101, 101);
    const Image near = studio.draw(maker, view);
    view.camera.eye = {0, -40, 0};
    const Image far = studio.draw(maker, view);
    CHECK(count_drawn(near) == count_drawn(far));
    CHECK(pixel(near, 50, 50 - 7).r > 200);  // its ring
}

TEST_CASE("render: arrows start at their places and are as long as their vectors, scaled") {
    Studio studio;
    StageMaker maker = in_plane();
    const int position = maker.channel("position", 2, {-0.8, 0, -0.8, 0.5});
    Drawable& arrows = maker.add(Drawable::Kind::arrows, "forces");
    arrows.places = position;
    arrows.values = maker.channel("force", 2, {2, 0, 0.002, 0});
    arrows.count = 2;
    arrows.color = {1, 1, 1, 1};
    View view = plane_view(maker, 200, 200, 2);
    view.arrow_scale = 0.5;
    Image image = studio.draw(maker, view);  // 1 m, and 1 mm
    CHECK_FALSE(pixel(image, 22, 100).black());
    CHECK_FALSE(pixel(image, 117, 100).black());
    CHECK(pixel(image, 122, 100).black());
    CHECK(pixel(image, 30, 50).black());
    CHECK(studio.renderer.longest_arrow().length == 2);
    // By the logarithm the longest is arrow_scale long, a thousandth of it half as long.
    view.arrow_log = true;
    image = studio.draw(maker, view);
    CHECK_FALSE(pixel(image, 66, 100).black());
    CHECK(pixel(image, 73, 100).black());
    CHECK_FALSE(pixel(image, 42, 50).black());
    CHECK(pixel(image, 48, 50).black());
}

TEST_CASE("render: a ghost is pale, under everything, and not picked") {
    Studio studio;
    StageMaker maker;
    maker.points(maker.channel("now", 3, {0.5, 0.4, 0}), 1, 0.3).color = {1, 0, 0, 1};
    Drawable& ghost = maker.points(maker.channel("before", 3, {0.4, -0.5, 0, -0.5, 0, 0}), 2, 0.3);
    ghost.ghost = true;
    ghost.color = {1, 1, 1, 1};
    const Image image = studio.draw(maker, plain_view());
    const Pixel alone = pixel(image, 60, 60);
    CHECK(alone.r > 30);
    CHECK(alone.r < 110);
    // The ghost in front of the ball does not cover it.
    const Pixel ball = pixel(image, 98, 60);
    CHECK(ball.r > 110);
    CHECK(ball.g < 40);
    CHECK(studio.renderer.pick(60, 60).drawable == -1);
}

TEST_CASE("render: places that are not finite draw nothing, the others are drawn") {
    Studio studio;
    for (const RealType real : {RealType::f32, RealType::f64}) {
        StageMaker maker;
        maker.stage.real = real;
        const double infinite = std::numeric_limits<double>::infinity();
        const int position =
            maker.channel("position", 3, {std::nan(""), 0, 0, 0, infinite, 0, 0, 0, 0, 0.1, 0, 0});
        maker.points(position, 4, 0.1);
        maker.segments(position, {0, 1, 2, 3}, 0.02);
        maker.surface(position, {0, 1, 2});
        View view = plain_view();
        view.shadows = true;
        const Image image = studio.draw(maker, view);
        CHECK_FALSE(pixel(image, 80, 60).black());
        CHECK(count_drawn(image) < 800);
    }
}

TEST_CASE("render: f64 gives the picture that its values narrowed to f32 give") {
    Studio studio;
    const auto draw = [&](RealType real) {
        StageMaker maker;
        maker.stage.real = real;
        const std::vector<double> places = {0.1,     1e-40, -0.3,        -0.4, 1e-300,
                                            1.0 / 3, 0.6,   0.123456789, -0.2};
        const int position = maker.channel("position", 3, places);
        Drawable& points = maker.points(position, 3, 0.2);
        points.values = maker.channel("speed", 1, {1e-3, 16777217.0, -3.0000001});
        return studio.draw(maker, plain_view()).pixels;
    };
    CHECK(draw(RealType::f32) == draw(RealType::f64));
}

TEST_CASE("render: trails are lines through their places") {
    Studio studio;
    StageMaker maker = in_plane();
    maker.points(maker.channel("position", 2, {5, 5}), 1, 0.01);
    View view = plane_view(maker, 100, 100, 2);
    view.trails = true;
    view.trail_lines = {{{-0.5, 0, 0}, {0.5, 0, 0}}};
    const Image image = studio.draw(maker, view);
    CHECK((!pixel(image, 50, 50).black() || !pixel(image, 50, 49).black()));
    CHECK(pixel(image, 10, 50).black());
    CHECK(pixel(image, 50, 60).black());
}

TEST_CASE("render: heights stand over the plane") {
    Studio studio;
    StageMaker maker = in_plane();
    std::vector<double> field(9 * 9, 0.0);
    field[4 * 9 + 4] = 1;
    maker.field(maker.channel("height", 1, field), 9, 9, 0.25);
    View view = plain_view(100, 100);
    view.heights = true;
    view.camera.orthographic = true;
    view.camera.height = 4;
    view.camera.eye = {1, -4, 0};
    view.camera.target = {1, 0, 0};
    view.height_scale = 1.5;
    const Image image = studio.draw(maker, view);
    // Seen from the side: a peak of 1.5 m over x = 1, of 25 pixels per meter.
    CHECK_FALSE(pixel(image, 50, 50 - 30).black());
    CHECK(pixel(image, 50, 50 - 40).black());
    CHECK(pixel(image, 65, 50 - 20).black());
}

TEST_CASE("render: hidden things are not drawn, and an empty stage is the background") {
    Studio studio;
    StageMaker maker;
    View view = plain_view();
    CHECK(count_drawn(studio.draw(maker, view)) == 0);
    maker.points(maker.channel("position", 3, {0, 0, 0}), 1, 0.5);
    view.hidden = {true};
    CHECK(count_drawn(studio.draw(maker, view)) == 0);
    view.hidden = {false};
    CHECK(count_drawn(studio.draw(maker, view)) > 0);
}

TEST_CASE("render: what is selected has an outline") {
    Studio studio;
    StageMaker maker = in_plane();
    // Its own points are the second and third of all places.
    maker.points(maker.channel("position", 2, {9, 9, -0.5, 0, 0.5, 0}), 2, 0.2).first = 1;
    View view = plane_view(maker, 200, 100, 2);
    view.selected_drawable = 0;
    view.selected_element = 1;
    const Image image = studio.draw(maker, view);
    const auto is_outline = [](const Pixel& p) { return p.r > 200 && p.g > 100 && p.b < 80; };
    CHECK(is_outline(pixel(image, 125, 50 - 11)));
    CHECK(pixel(image, 75, 50 - 11).black());
    view.selected_element = -1;
    CHECK(is_outline(pixel(studio.draw(maker, view), 75, 50 - 11)));
}

TEST_CASE("render: a shadow falls where the light is blocked, and can be switched off") {
    Studio studio;
    StageMaker maker;
    maker.with_numbers(Drawable::Kind::half_space, "ground", {0, 0, 1, 0});
    maker.with_numbers(Drawable::Kind::ball, "ball", {0, 0, 1, 0.4});
    View view = plain_view(200, 200);
    view.camera.orthographic = true;
    view.camera.height = 4;
    view.camera.eye = {0, 0, 5};
    view.camera.up = {0, 1, 0};
    const Image bright = studio.draw(maker, view);
    view.shadows = true;
    const Image dark = studio.draw(maker, view);
    // The light comes from (-0.42, -0.38, 0.82): the shadow of a ball 1 m up lies at
    // (0.512, 0.463), 50 pixels per meter.
    const int x = 100 + static_cast<int>(0.512 * 50), y = 100 - static_cast<int>(0.463 * 50);
    CHECK(pixel(dark, x, y).r < pixel(bright, x, y).r - 15);
    CHECK(pixel(dark, 100 - 60, 100 + 60) == pixel(bright, 100 - 60, 100 + 60));
}

TEST_CASE("render: ambient occlusion darkens where things meet, and nothing in the open") {
    Studio studio;
    StageMaker maker;
    maker.with_numbers(Drawable::Kind::half_space, "ground", {0, 0, 1, 0});
    maker.with_numbers(Drawable::Kind::ball, "ball", {0, 0, 0.4, 0.4});
    View view = plain_view(200, 200);
    view.camera.eye = {0, -4, 2};
    const Image without = studio.draw(maker, view);
    view.ambient_occlusion = true;
    const Image with = studio.draw(maker, view);
    const auto foot = project(view.camera, {0, -0.12, 0.0}, 200, 200);
    REQUIRE(foot);
    const int x = static_cast<int>((*foot)[0]), y = static_cast<int>((*foot)[1]);
    int darker = 0;
    for (int j = y - 6; j <= y + 10; ++j)
        darker += pixel(with, x, j).r < pixel(without, x, j).r - 8;
    CHECK(darker > 3);
    CHECK(std::abs(pixel(with, 20, 150).r - pixel(without, 20, 150).r) <= 2);
}

TEST_CASE("render: the grid hides nothing, neither what is below it nor its outline") {
    Studio studio;
    StageMaker maker;  // from z = 0 upwards: the grid lies at -0.3
    maker.points(maker.channel("position", 3, {0, 0, -1}), 1, 0.3).color = {1, 0, 0, 1};
    View view = plain_view(200, 200);
    view.camera.eye = {0, -3, 3};
    view.camera.target = {0, 0, -1};
    view.selected_drawable = 0;
    const auto red = [&](bool grid) {
        view.floor = grid;
        const Image image = studio.draw(maker, view);
        int count = 0;
        for (int y = 0; y < image.height; ++y)
            for (int x = 0; x < image.width; ++x) {
                const Pixel p = pixel(image, x, y);
                count += p.r > 40 && p.r > 2 * p.b;
            }
        return count;
    };
    const int alone = red(false);
    CHECK(alone > 500);
    CHECK(red(true) > 0.9 * alone);  // lines pass in front of some of it
    // And the grid is there.
    view.selected_drawable = -1;
    StageMaker nothing;
    view.floor = true;
    CHECK(count_drawn(studio.draw(nothing, view)) > 200);
}
