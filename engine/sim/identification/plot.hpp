// Curves and points over time as SVG, for a page that stands alone.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace hindcast {

struct PlotCurve {
    std::string label;
    std::span<const double> x, y;
    bool points = false;  // dots in place of a line
};

// A figure with axes, labeled ticks and a legend. With more than 2000 numbers only every n-th is
// drawn. A line is broken where x steps back.
std::string svg_plot(const std::vector<PlotCurve>& curves, const std::string& x_label,
                     const std::string& y_label);

}  // namespace hindcast
