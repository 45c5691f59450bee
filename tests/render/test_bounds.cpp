// Where things are, as it is measured on the device, against numbers by hand.
#include <doctest/doctest.h>

#include "tests/render/studio.hpp"

using namespace hindcast::render;
using namespace hindcast::test;

namespace {

void check_box(const std::optional<Bounds>& box, const Vec3& low, const Vec3& high) {
    REQUIRE(box);
    for (std::size_t c = 0; c < 3; ++c) {
        CAPTURE(c);
        CHECK(box->low[c] == doctest::Approx(low[c]));
        CHECK(box->high[c] == doctest::Approx(high[c]));
    }
}

}  // namespace

TEST_CASE("render: the box around points, lines, triangles and obstacles, and around a part") {
    for (const RealType real : {RealType::f32, RealType::f64}) {
        Studio studio;
        StageMaker maker;
        maker.stage.real = real;
        const double nowhere = std::numeric_limits<double>::quiet_NaN();
        const int position = maker.channel(
            "position", 3, {9, 9, 9, -1, 0, 0.5, 2, -3, 0, nowhere, 0, 0, 0.5, 0.25, -4, 7, 7, 7});
        maker.points(position, 3, 0.25).first = 1;                                  // 0
        maker.segments(position, {1, 2, 2, 4}, 0.5);                                // 1
        maker.surface(position, {1, 2, 4, 2, 4, 5}).element_of = {3, 8};            // 2
        maker.with_numbers(Drawable::Kind::ball, "ball", {1, 2, 3, 0.5});           // 3
        maker.with_numbers(Drawable::Kind::markers, "places", {0, 0, 1, 5, 6, 7});  // 4
        maker.with_numbers(Drawable::Kind::half_space, "ground", {0, 0, 1, 0});     // 5
        studio.draw(maker, plain_view());
        Renderer& renderer = studio.renderer;
        // What is not finite is left out.
        check_box(renderer.bounds_of({0}), {-1.25, -3.25, -0.25}, {2.25, 0.25, 0.75});
        check_box(renderer.bounds_of({0}, {ElementKind::point, 1}), {1.75, -3.25, -0.25},
                  {2.25, -2.75, 0.25});
        CHECK_FALSE(renderer.bounds_of({0}, {ElementKind::point, 2}));
        check_box(renderer.bounds_of({1}), {-1.5, -3.5, -4.5}, {2.5, 0.75, 1});
        check_box(renderer.bounds_of({1}, {ElementKind::segment, 0}), {-1.5, -3.5, -0.5},
                  {2.5, 0.5, 1});
        check_box(renderer.bounds_of({2}), {-1, -3, -4}, {7, 7, 7});
        check_box(renderer.bounds_of({2}, {ElementKind::cell, 3}), {-1, -3, -4}, {2, 0.25, 0.5});
        check_box(renderer.bounds_of({3}), {0.5, 1.5, 2.5}, {1.5, 2.5, 3.5});
        check_box(renderer.bounds_of({4}), {0, 0, 1}, {5, 6, 7});
        check_box(renderer.bounds_of({4}, {ElementKind::marker, 1}), {5, 6, 7}, {5, 6, 7});
        check_box(renderer.bounds_of({0, 3, 4}), {-1.25, -3.25, -0.25}, {5, 6, 7});
        CHECK_FALSE(renderer.bounds_of({5}));
        CHECK_FALSE(renderer.bounds_of({}));
        const auto each = renderer.bounds_of_each({3, 0, 5, 1});
        REQUIRE(each.size() == 4);
        check_box(each[0], {0.5, 1.5, 2.5}, {1.5, 2.5, 3.5});
        check_box(each[1], {-1.25, -3.25, -0.25}, {2.25, 0.25, 0.75});
        CHECK_FALSE(each[2]);
        check_box(each[3], {-1.5, -3.5, -4.5}, {2.5, 0.75, 1});
    }
}

TEST_CASE("render: balls have the radius of the moment, where a frame has one") {
    Studio studio;
    StageMaker maker;
    maker.stage.dimension = 2;
    maker.points(maker.channel("position", 2, {0, 0}), 1, 0.25);
    const View view = plane_view(maker, 100, 100, 2);  // 50 pixels per meter
    const auto across = [&] {
        const Image image = studio.draw(maker, view);
        int drawn = 0;
        for (int x = 0; x < 100; ++x) drawn += !(pixel(image, x, 50) == pixel(image, 0, 50));
        return drawn;
    };
    CHECK(std::abs(across() - 25) <= 2);
    maker.numbers[0] = {0.5};
    CHECK(std::abs(across() - 50) <= 2);
    check_box(studio.renderer.bounds_of({0}), {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5});
}

TEST_CASE("render: the box around a field, flat and as heights") {
    Studio studio;
    StageMaker maker;
    maker.stage.dimension = 2;
    maker.field(maker.channel("height", 1, {0, 0, 0, 0, 0, 3, 0, 0, 0, -1, 0, 0}), 4, 3, 0.5);
    View view = plane_view(maker, 100, 100, 4);
    studio.draw(maker, view);
    check_box(studio.renderer.bounds_of({0}), {0, 0, 0}, {1.5, 1, 0});
    check_box(studio.renderer.bounds_of({0}, {ElementKind::node, 3 * 2 + 1}), {1, 0.5, 0},
              {1, 0.5, 0});
    view.heights = true;
    view.height_scale = 0.5;
    studio.draw(maker, view);
    check_box(studio.renderer.bounds_of({0}), {0, 0, -0.5}, {1.5, 1, 1.5});
}
