// Plots as tables and drawings: numbers are parsed back and compared with those that went in.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <sstream>

#include "app/gui/draw/figure.hpp"

using namespace hindcast::gui;
using Numbers = std::vector<double>;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

double attribute(const std::string& tag, const std::string& name) {
    std::smatch found;
    REQUIRE(std::regex_search(tag, found, std::regex("[ ]" + name + "=\"([^\"]*)\"")));
    return std::stod(found[1]);
}

// The curves of a drawing, by its own axes: pixels to values.
std::vector<Curve> curves_of(const std::string& svg, bool log_y) {
    std::smatch area;
    REQUIRE(std::regex_search(svg, area, std::regex("<rect class=\"area\"[^>]*>")));
    const std::string box = area[0];
    const double x = attribute(box, "x"), y = attribute(box, "y");
    const double width = attribute(box, "width"), height = attribute(box, "height");
    const double x0 = attribute(box, "data-x0"), x1 = attribute(box, "data-x1");
    const double y0 = attribute(box, "data-y0"), y1 = attribute(box, "data-y1");
    std::vector<Curve> curves;
    const std::regex line(
        "<polyline class=\"curve\" data-name=\"([^\"]*)\"[^>]* points=\"([^\"]*)\"/>");
    for (std::sregex_iterator at(svg.begin(), svg.end(), line), end; at != end; ++at) {
        Curve curve{(*at)[1], {}, {}};
        std::istringstream points((*at)[2]);
        for (std::string point; points >> point;) {
            const double px = std::stod(point), py = std::stod(point.substr(point.find(',') + 1));
            const double part = (y + height - py) / height;
            curve.x.push_back(x0 + (x1 - x0) * (px - x) / width);
            curve.y.push_back(log_y ? y0 * std::pow(y1 / y0, part) : y0 + (y1 - y0) * part);
        }
        curves.push_back(std::move(curve));
    }
    return curves;
}

}  // namespace

TEST_CASE("figure: a table gives every number back") {
    const Figure figure{"",
                        "time (s)",
                        "",
                        false,
                        {{"a", {0, 0.1, 0.2}, {1.0 / 3, -2e-300, NAN}},
                         {"b, \"quoted\"", {0.1, 0.3}, {5, INFINITY}}}};
    const std::vector<std::string> lines = lines_of(to_csv(figure));
    REQUIRE(lines.size() == 5);
    CHECK(lines[0] == "time (s),a,\"b, \"\"quoted\"\"\"");
    CHECK(lines[1].starts_with("0,"));
    CHECK(std::stod(lines[1].substr(2)) == 1.0 / 3);
    CHECK(lines[1].ends_with(","));
    CHECK(lines[2] == "0.1,-2e-300,5");
    CHECK(lines[3] == "0.2,nan,");
    CHECK(lines[4] == "0.3,,inf");
    CHECK(to_csv({}) == "x\n");
}

TEST_CASE("figure: ticks are round numbers within the range") {
    CHECK(ticks_of(0, 1, 5) == Numbers{0, 0.2, 0.4, 0.2 * 3, 0.8, 1});
    CHECK(ticks_of(-3, 7, 5) == Numbers{-2, 0, 2, 4, 6});
    CHECK(ticks_of(0.3, 400, 6, true) == Numbers{1, 10, 100});
    const Numbers many = ticks_of(1e-20, 1, 6, true);
    CHECK(many.size() <= 7);
    for (const double t : many) CHECK(std::abs(std::log10(t) - std::round(std::log10(t))) < 1e-9);
    CHECK(ticks_of(1, 1, 5).empty());
}

TEST_CASE("figure: a drawing gives the curves back, linear and logarithmic") {
    Figure figure{"spring cage", "iteration", "loss <J>", false, {}};
    Curve falling{"loss", {}, {}}, wave{"a & b", {}, {}};
    for (int k = 0; k <= 30; ++k) {
        falling.x.push_back(k);
        falling.y.push_back(std::exp(-0.3 * k));
        wave.x.push_back(k);
        wave.y.push_back(0.5 + 0.4 * std::sin(k));
    }
    figure.curves = {falling, wave};
    for (const bool log_y : {false, true}) {
        CAPTURE(log_y);
        figure.log_y = log_y;
        const std::string svg = to_svg(figure, 800, 480);
        CHECK(svg.starts_with("<svg "));
        CHECK(svg.ends_with("</svg>\n"));
        for (const char* text : {">iteration<", ">loss &lt;J&gt;<", ">spring cage<", ">a &amp; b<"})
            CHECK(svg.find(text) != std::string::npos);
        const std::vector<Curve> back = curves_of(svg, log_y);
        REQUIRE(back.size() == 2);
        CHECK(back[0].name == "loss");
        CHECK(back[1].name == "a &amp; b");
        for (std::size_t c = 0; c < 2; ++c) {
            REQUIRE(back[c].x.size() == 31);
            for (std::size_t k = 0; k < 31; ++k) {
                // Pixels are written with four digits: of 400, that is 1e-6 of the range, and on
                // the logarithmic axis of four decades 1e-5 of the value.
                CHECK(std::abs(back[c].x[k] - figure.curves[c].x[k]) < 1e-4);
                const double tolerance = log_y ? 1e-5 * figure.curves[c].y[k] : 1e-6;
                CHECK(std::abs(back[c].y[k] - figure.curves[c].y[k]) < tolerance);
            }
        }
    }
}

TEST_CASE("figure: what is not finite, or not positive on a logarithmic axis, is a gap") {
    const Figure figure{
        "",
        "x",
        "",
        true,
        {{"gap", {0, 1, 2, 3, 4, 5}, {1, 10, -1, 100, 1000, NAN}}, {"alone", {2}, {30}}}};
    const std::string svg = to_svg(figure);
    const std::vector<Curve> back = curves_of(svg, true);
    REQUIRE(back.size() == 2);  // the two halves of the first
    CHECK(back[0].x.size() == 2);
    CHECK(back[1].x.size() == 2);
    CHECK(back[1].y[1] == doctest::Approx(1000).epsilon(1e-4));
    CHECK(svg.find("<circle class=\"curve\" data-name=\"alone\"") != std::string::npos);
    // Nothing to draw still is a drawing.
    CHECK(curves_of(to_svg({}), false).empty());
    CHECK(curves_of(to_svg({"", "", "", true, {{"none", {1, 2}, {-1, 0}}}}), true).empty());
}

TEST_CASE("figure: a loss that reaches zero, or the noise of rounding, does not shape the axes") {
    Figure figure{"", "iteration", "loss", true, {{"loss", {0, 1, 2, 3, 4}, {10, 1, 1e-40, 0, 0}}}};
    const auto [x, y] = ranges_of(figure);
    CHECK(x.low == 0);
    CHECK(x.high == 4);  // to the last iteration, though there is no logarithm of its loss
    CHECK(y.low > 1e-17);
    CHECK(y.low <= 1e-15);
    CHECK(y.high > 10);
    figure.log_y = false;
    CHECK(ranges_of(figure)[0].high == 4);
    CHECK(ranges_of(figure)[1].low <= 0);
}
