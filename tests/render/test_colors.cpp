// Color maps and scales: what makes a map even is computed here from the definition of CIE L*, and
// what a logarithmic scale does from its definition.
#include <doctest/doctest.h>

#include <cmath>

#include "app/render/color_map.hpp"
#include "tests/render/studio.hpp"

using namespace hindcast::render;
using namespace hindcast::test;

namespace {

// Lightness of an sRGB color, 0 .. 100.
double lightness(const Color& color) {
    const double weights[] = {0.2126, 0.7152, 0.0722};
    double y = 0;
    for (std::size_t c = 0; c < 3; ++c) {
        const auto v = static_cast<double>(color[c]);
        y += weights[c] * (v > 0.04045 ? std::pow((v + 0.055) / 1.055, 2.4) : v / 12.92);
    }
    return y > 216.0 / 24389 ? 116 * std::cbrt(y) - 16 : y * 24389 / 27;
}

}  // namespace

TEST_CASE("colors: even maps get lighter from end to end, the gray one in equal steps") {
    for (const ColorMap map :
         {ColorMap::viridis, ColorMap::magma, ColorMap::cubehelix, ColorMap::gray}) {
        CAPTURE(static_cast<int>(map));
        double before = -1;
        for (int k = 0; k <= 32; ++k) {
            const double now = lightness(color_at(map, k / 32.0));
            CHECK(now > before);
            before = now;
        }
        CHECK(before - lightness(color_at(map, 0)) > 60);
    }
    for (int k = 0; k <= 16; ++k)  // of 8 bits
        CHECK(std::abs(lightness(color_at(ColorMap::gray, k / 16.0)) -
                       (5 + 90 * (std::round(k / 16.0 * 255) / 255))) < 0.25);
    // Green's helix at its middle: t = 1/2, angle 2 pi (1/6 + 1/4) = 150 degrees, amplitude 1/8.
    const double c = std::cos(5 * M_PI / 6) / 8, s = std::sin(5 * M_PI / 6) / 8;
    const Color middle = color_at(ColorMap::cubehelix, 0.5);
    CHECK(std::abs(middle[0] - (0.5 - 0.14861 * c + 1.78277 * s)) < 0.01);
    CHECK(std::abs(middle[1] - (0.5 - 0.29227 * c - 0.90649 * s)) < 0.01);
    CHECK(std::abs(middle[2] - (0.5 + 1.97294 * c)) < 0.01);
}

TEST_CASE("colors: a diverging map is lightest and without hue in the middle, even to both sides") {
    for (const ColorMap map : {ColorMap::coolwarm, ColorMap::purple_orange}) {
        CAPTURE(static_cast<int>(map));
        CHECK(is_diverging(map));
        const Color middle = color_at(map, 0.5);
        CHECK(std::abs(middle[0] - middle[1]) < 0.02F);
        CHECK(std::abs(middle[1] - middle[2]) < 0.02F);
        for (int k = 1; k <= 16; ++k) {
            const double a = lightness(color_at(map, 0.5 - k / 32.0)),
                         b = lightness(color_at(map, 0.5 + k / 32.0));
            CHECK(a < lightness(color_at(map, 0.5 - (k - 1) / 32.0)) + 1e-9);
            CHECK(b < lightness(color_at(map, 0.5 + (k - 1) / 32.0)) + 1e-9);
        }
    }
    // The ends that the paper gives.
    const Color purple = color_at(ColorMap::purple_orange, 0),
                orange = color_at(ColorMap::purple_orange, 1);
    CHECK(std::abs(purple[0] - 0.436F) < 0.003F);
    CHECK(std::abs(purple[2] - 0.631F) < 0.003F);
    CHECK(std::abs(orange[0] - 0.759F) < 0.003F);
    CHECK(std::abs(orange[1] - 0.334F) < 0.003F);
}

TEST_CASE("colors: where a number is in a range, linear and by the logarithm") {
    CHECK(part_of_range({2, 6}, false, 3) == doctest::Approx(0.25));
    CHECK(part_of_range({2, 6}, false, 9) == 1);
    CHECK(part_of_range({2, 2}, false, 2) == 0.5);
    // 1, 10, 100: equal parts.
    CHECK(part_of_range({1, 100}, true, 10) == doctest::Approx(0.5));
    CHECK(part_of_range({1, 100}, true, 0.1) == 0);
    // From 0: a ten-thousandth of the largest is the first.
    CHECK(part_of_range({0, 1e4}, true, 100) == doctest::Approx(0.5));
    CHECK(part_of_range({0, 1e4}, true, 0) == 0);
    CHECK(part_of_range({-1e4, 0}, true, -100) == doctest::Approx(0.5));
    CHECK(part_of_range({-100, -1}, true, -10) == doctest::Approx(0.5));
    // Both signs: 0 in the middle.
    CHECK(part_of_range({-1e4, 1e4}, true, 0) == 0.5);
    CHECK(part_of_range({-1e4, 1e4}, true, 100) == doctest::Approx(0.75));
    CHECK(part_of_range({-1e4, 1e4}, true, -100) == doctest::Approx(0.25));
    for (const bool logarithmic : {false, true})
        for (const auto& range : {std::array<double, 2>{1, 100}, std::array<double, 2>{-7, 3},
                                  std::array<double, 2>{-5, -0.1}})
            for (const double part : {0.0, 0.2, 0.9, 1.0})
                CHECK(part_of_range(range, logarithmic, number_at(range, logarithmic, part)) ==
                      doctest::Approx(part));
}

TEST_CASE("render: logarithmic colors of a field are those of the numbers' parts") {
    Studio studio;
    StageMaker maker;
    maker.stage.dimension = 2;
    const std::vector<double> values = {0, 0.01, 1, 10, 100, 1000};
    maker.field(maker.channel("height", 1, values), 3, 2, 1);
    for (const ColorMap map :
         {ColorMap::viridis, ColorMap::cubehelix, ColorMap::gray, ColorMap::purple_orange}) {
        for (const std::array<double, 2> range :
             {std::array<double, 2>{0, 1000}, std::array<double, 2>{-1000, 1000}}) {
            View view = plane_view(maker, 60, 40, 4, {1, 0.5, 0});  // 10 pixels per meter
            view.map = map;
            view.log_colors = true;
            view.range = range;
            const Image image = studio.draw(maker, view);
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 2; ++j) {
                    // Least: 0.1; in decades above that, of 4.
                    const double value =
                        values[2 * static_cast<std::size_t>(i) + static_cast<std::size_t>(j)];
                    const double part = value > 0.1 ? std::log10(value / 0.1) / 4 : 0;
                    const Color c = color_at(map, range[0] < 0 ? 0.5 + 0.5 * part : part);
                    const Pixel drawn = pixel(image, 30 + static_cast<int>((i - 1.0) * 10),
                                              20 - static_cast<int>((j - 0.5) * 10));
                    INFO(i, " ", j);
                    CHECK(std::abs(drawn.r - static_cast<double>(c[0]) * 255) < 3);
                    CHECK(std::abs(drawn.g - static_cast<double>(c[1]) * 255) < 3);
                    CHECK(std::abs(drawn.b - static_cast<double>(c[2]) * 255) < 3);
                }
        }
    }
}
