// A plot as data, and the files it is written into: a table (CSV) and a drawing (SVG). Pure
// functions; no window, no Vulkan.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hindcast::gui {

// Okabe and Ito's colours, which also who sees few colours can tell apart; without the yellow and
// the black. Curve k has colour k modulo their number, in the window and in every file. 0xRRGGBB.
inline constexpr std::array<std::uint32_t, 7> curve_colours = {
    0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x7f7f7f};

// x and y have the same length; what is not finite is a gap.
struct Curve {
    std::string name;
    std::vector<double> x, y;
};

struct Figure {
    std::string title, x_label, y_label;  // labels with units
    bool log_y = false;                   // what is not positive is left out
    std::vector<Curve> curves;
};

struct AxisRange {
    double low = 0, high = 1;
};
// Of x and of y: what is shown, and a little more of y; never of no width. x is that of all finite
// points, also of those that a logarithmic axis leaves out. Of such an axis at most 16 decades are
// shown: what is smaller lies on its lower edge.
std::array<AxisRange, 2> ranges_of(const Figure& figure);

// One row for each x that occurs, in order: x, then the value of each curve there, with the digits
// that give the same number back. Empty where a curve has none, "nan" and "inf" as such. Names are
// quoted where they must be (RFC 4180).
std::string to_csv(const Figure& figure);

// Round numbers in low .. high, about `wanted` of them: 1, 2 or 5 times a power of ten apart.
// `logarithmic`: the powers of ten, or every second, third, ... where there are many.
std::vector<double> ticks_of(double low, double high, int wanted, bool logarithmic = false);

// Axes with ticks and labels, a grid, the curves as polylines (class "curve", the name in
// "data-name") and a legend. The area of the curves is the rectangle of class "area"; its data-x0,
// -x1, -y0, -y1 are the values at its edges.
std::string to_svg(const Figure& figure, int width = 800, int height = 480, bool dark = false);

}  // namespace hindcast::gui
