#include "engine/sim/identification/plot.hpp"
#include "engine/base/text/xml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hindcast {

namespace {

constexpr double width = 760, height = 260, left = 70, right = 16, top = 30, bottom = 42;
constexpr std::size_t most_points = 2000;
constexpr const char* colors[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd"};

struct Axis {
    double low = std::numeric_limits<double>::infinity(), high = -low;

    void take(std::span<const double> numbers) {
        for (const double x : numbers) {
            if (!std::isfinite(x)) continue;
            low = std::min(low, x);
            high = std::max(high, x);
        }
    }
    void widen() {
        if (!(low <= high)) low = high = 0;
        if (low == high) {
            const double room = low == 0 ? 1 : 0.1 * std::fabs(low);
            low -= room;
            high += room;
        }
    }
    // About five round numbers: 1, 2 or 5 times a power of ten apart.
    std::vector<double> ticks() const {
        const double rough = (high - low) / 5, power = std::pow(10, std::floor(std::log10(rough)));
        const double part = rough / power, step = power * (part < 1.5   ? 1
                                                           : part < 3.5 ? 2
                                                           : part < 7.5 ? 5
                                                                        : 10);
        std::vector<double> all;
        for (double t = std::ceil(low / step); t * step <= high + 1e-9 * step; ++t)
            all.push_back(t * step);
        return all;
    }
};

}  // namespace

std::string svg_plot(const std::vector<PlotCurve>& curves, const std::string& x_label,
                     const std::string& y_label) {
    Axis x, y;
    for (const PlotCurve& curve : curves) {
        x.take(curve.x);
        y.take(curve.y);
    }
    x.widen();
    y.widen();
    const auto px = [&](double value) {
        return left + (value - x.low) / (x.high - x.low) * (width - left - right);
    };
    const auto py = [&](double value) {
        return height - bottom - (value - y.low) / (y.high - y.low) * (height - top - bottom);
    };
    std::string svg =
        fmt::format("<svg viewBox=\"0 0 {:g} {:g}\" width=\"{:g}\" height=\"{:g}\" role=\"img\">\n",
                    width, height, width, height);
    for (const double t : x.ticks())
        svg += fmt::format(
            "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}\"/><text x=\"{0:.1f}\" "
            "y=\"{3:.1f}\" "
            "text-anchor=\"middle\">{4:.6g}</text>\n",
            px(t), top, height - bottom, height - bottom + 16, t);
    for (const double t : y.ticks())
        svg += fmt::format(
            "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/><text x=\"{3:.1f}\" "
            "y=\"{4:.1f}\" "
            "text-anchor=\"end\">{5:.6g}</text>\n",
            left, py(t), width - right, left - 6, py(t) + 4, t);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                       0.5 * (left + width - right), height - 6, xml_text(x_label));
    svg += fmt::format("<text x=\"{:.1f}\" y=\"14\">{}</text>\n", left, xml_text(y_label));
    double legend = width - right;
    for (std::size_t c = curves.size(); c-- > 0;) {
        const PlotCurve& curve = curves[c];
        const char* const color = colors[c % std::size(colors)];
        const std::size_t every = curve.x.size() / most_points + 1;
        std::string path;
        double before = -std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < curve.x.size(); i += every) {
            if (!std::isfinite(curve.y[i])) continue;
            if (curve.points)
                path += fmt::format("M{:.1f} {:.1f}h0", px(curve.x[i]), py(curve.y[i]));
            else
                path +=
                    fmt::format("{}{:.1f} {:.1f}", curve.x[i] > before && !path.empty() ? "L" : "M",
                                px(curve.x[i]), py(curve.y[i]));
            before = curve.x[i];
        }
        svg += fmt::format("<path class=\"{}\" stroke=\"{}\" d=\"{}\"/>\n",
                           curve.points ? "dots" : "line", color, path);
        svg +=
            fmt::format("<text x=\"{:.1f}\" y=\"14\" text-anchor=\"end\" fill=\"{}\">{}</text>\n",
                        legend, color, xml_text(curve.label));
        legend -= 9 * static_cast<double>(curve.label.size()) + 14;
    }
    return svg + "</svg>\n";
}

}  // namespace hindcast
