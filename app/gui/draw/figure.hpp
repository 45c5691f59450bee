// A plot as data, and its export as a table (CSV) and a drawing (SVG). Pure functions; no window,
// no Vulkan.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hindcast::gui {

// Okabe and Ito's colors, which people with color blindness can tell apart, without yellow and
// black. Curve k has color k modulo their number, in the window and in every file. 0xRRGGBB.
inline constexpr std::array<std::uint32_t, 7> curve_colors = {
    0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x7f7f7f};

// x and y have the same length; a value that is not finite is a gap.
struct Curve {
    std::string name;
    std::vector<double> x, y;
    // Index into curve_colors, modulo their number; none: the index of the curve itself.
    std::optional<std::size_t> color = {};
    bool faint = false;  // one of many beside those that matter
};

struct Figure {
    std::string title, x_label, y_label;  // labels with units
    bool log_y = false;                   // values that are not positive are left out
    std::vector<Curve> curves;
};

struct AxisRange {
    double low = 0, high = 1;
};
// The ranges of x and y; y with a small margin; never empty. The range of x covers all finite
// points, also those that a logarithmic y axis leaves out. A logarithmic axis shows at most 16
// decades; smaller values lie on its lower edge.
std::array<AxisRange, 2> ranges_of(const Figure& figure);

// One row for each x that occurs, in order: x, then the value of each curve there, with enough
// digits to read the same number back. A cell is empty where a curve has no value; "nan" and "inf"
// are written as such. Names are quoted where necessary (RFC 4180).
std::string to_csv(const Figure& figure);

// About `wanted` round numbers in low .. high, spaced by 1, 2 or 5 times a power of ten.
// `logarithmic`: powers of ten, or every second, third, ... of them where there are many.
std::vector<double> ticks_of(double low, double high, int wanted, bool logarithmic = false);

// Axes with ticks and labels, a grid, the curves as polylines (class "curve", the name in
// "data-name") and a legend. The area of the curves is the rectangle of class "area"; its data-x0,
// -x1, -y0, -y1 are the values at its edges.
std::string to_svg(const Figure& figure, int width = 800, int height = 480, bool dark = false);

}  // namespace hindcast::gui
