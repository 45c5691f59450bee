#include "app/gui/draw/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "engine/base/text/xml_text.hpp"

namespace hindcast::gui {

namespace {

using Range = AxisRange;

// The range of a logarithmic axis, relative to the largest number: smaller values are rounding.
constexpr double most_decades = 1e-16;

bool is_shown(const Figure& figure, double x, double y) {
    return std::isfinite(x) && std::isfinite(y) && (!figure.log_y || y > 0);
}

}  // namespace

std::array<AxisRange, 2> ranges_of(const Figure& figure) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Range x{infinity, -infinity}, y{infinity, -infinity};
    for (const Curve& curve : figure.curves)
        for (std::size_t k = 0; k < std::min(curve.x.size(), curve.y.size()); ++k) {
            if (!std::isfinite(curve.x[k]) || !std::isfinite(curve.y[k])) continue;
            x = {std::min(x.low, curve.x[k]), std::max(x.high, curve.x[k])};
            if (figure.log_y && curve.y[k] <= 0) continue;
            y = {std::min(y.low, curve.y[k]), std::max(y.high, curve.y[k])};
        }
    if (figure.log_y) y.low = std::max(y.low, y.high * most_decades);
    if (y.low > y.high) y = figure.log_y ? Range{0.1, 10} : Range{0, 1};
    if (x.low > x.high) x = {0, 1};
    const auto widen = [](Range& r) {
        if (r.low < r.high) return;
        const double by = r.low != 0 ? std::abs(r.low) / 2 : 1;
        r = {r.low - by, r.high + by};
    };
    widen(x);
    if (figure.log_y) {
        const double room = std::max(std::log10(y.high / y.low) * 0.04, 0.02);
        y = {y.low * std::pow(10, -room), y.high * std::pow(10, room)};
    } else {
        widen(y);
        const double room = (y.high - y.low) * 0.04;
        y = {y.low - room, y.high + room};
    }
    return {x, y};
}

namespace {

std::string quoted(const std::string& name) {
    if (name.find_first_of(",\"\n\r") == std::string::npos) return name;
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + "\"";
}

class Svg {
public:
    Svg(const Figure& figure, int width, int height, bool dark)
        : figure_(figure),
          width_(width),
          height_(height),
          ink_(dark ? "#d6dade" : "#20262c"),
          faint_(dark ? "#3a4148" : "#d9dde1"),
          back_(dark ? "#1b1f23" : "#ffffff") {
        const auto [x, y] = ranges_of(figure);
        x_ = x;
        y_ = y;
        right_ = width - 24;
        bottom_ = height - 56;
        top_ = figure.title.empty() ? 20 : 44;
    }

    std::string text() {
        out_ = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
            "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"13\">\n"
            "<rect width=\"{0}\" height=\"{1}\" fill=\"{2}\"/>\n",
            width_, height_, back_);
        grid();
        curves();
        out_ += fmt::format(
            "<rect class=\"area\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" "
            "stroke=\"{}\" data-x0=\"{}\" data-x1=\"{}\" data-y0=\"{}\" data-y1=\"{}\"/>\n",
            left_, top_, right_ - left_, bottom_ - top_, ink_, x_.low, x_.high, y_.low, y_.high);
        words((left_ + right_) / 2, height_ - 14, figure_.x_label, "middle");
        if (!figure_.y_label.empty())
            out_ += fmt::format(
                "<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\" "
                "fill=\"{}\">{}</text>\n",
                (top_ + bottom_) / 2, ink_, xml_text(figure_.y_label));
        if (!figure_.title.empty())
            words((left_ + right_) / 2, 26, figure_.title, "middle", " font-weight=\"bold\"");
        legend();
        return out_ + "</svg>\n";
    }

private:
    double x_of(double x) const {
        return left_ + (right_ - left_) * (x - x_.low) / (x_.high - x_.low);
    }
    double y_of(double y) const {
        const double part =
            figure_.log_y ? std::log(std::max(y, y_.low) / y_.low) / std::log(y_.high / y_.low)
                          : (y - y_.low) / (y_.high - y_.low);
        return bottom_ - (bottom_ - top_) * part;
    }

    void words(double x, double y, const std::string& text, const char* anchor,
               const char* more = "") {
        out_ += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"{}\"{}>{}</text>\n", x, y,
            anchor, ink_, more, xml_text(text));
    }
    void line(double x0, double y0, double x1, double y1) {
        out_ += fmt::format(
            "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x0,
            y0, x1, y1, faint_);
    }

    void grid() {
        for (const double x : ticks_of(x_.low, x_.high, 8)) {
            line(x_of(x), top_, x_of(x), bottom_);
            words(x_of(x), bottom_ + 18, fmt::format("{:.6g}", x), "middle");
        }
        std::vector<double> ticks = ticks_of(y_.low, y_.high, 6, figure_.log_y);
        if (ticks.size() < 2) ticks = ticks_of(y_.low, y_.high, 4);  // less than a decade
        for (const double y : ticks) {
            if (figure_.log_y && y <= 0) continue;
            line(left_, y_of(y), right_, y_of(y));
            words(left_ - 8, y_of(y) + 4, fmt::format("{:.6g}", y), "end");
        }
    }

    std::string color(std::size_t c) const {
        const std::size_t k = figure_.curves[c].color.value_or(c);
        return fmt::format("#{:06x}", curve_colors[k % curve_colors.size()]);
    }

    void curves() {
        for (std::size_t c = 0; c < figure_.curves.size(); ++c) {
            const Curve& curve = figure_.curves[c];
            std::string points;
            std::size_t count = 0;
            const auto end = [&] {
                const std::string name = xml_text(curve.name);
                if (count == 1) {
                    const std::size_t comma = points.find(',');
                    out_ += fmt::format(
                        "<circle class=\"curve\" data-name=\"{}\" cx=\"{}\" cy=\"{}\" r=\"3\" "
                        "fill=\"{}\"/>\n",
                        name, points.substr(0, comma), points.substr(comma + 1), color(c));
                } else if (count > 1) {
                    out_ += fmt::format(
                        "<polyline class=\"curve\" data-name=\"{}\" fill=\"none\" stroke=\"{}\" "
                        "stroke-width=\"{}\" stroke-linejoin=\"round\" points=\"{}\"/>\n",
                        name, color(c), curve.faint ? "0.8" : "1.8", points);
                }
                points.clear();
                count = 0;
            };
            for (std::size_t k = 0; k < std::min(curve.x.size(), curve.y.size()); ++k) {
                if (!is_shown(figure_, curve.x[k], curve.y[k])) {
                    end();
                    continue;
                }
                points += fmt::format("{}{:.4f},{:.4f}", count > 0 ? " " : "", x_of(curve.x[k]),
                                      y_of(curve.y[k]));
                ++count;
            }
            end();
        }
    }

    // Without the many that are alike.
    void legend() {
        std::vector<std::size_t> named;
        std::size_t longest = 0;
        for (std::size_t c = 0; c < figure_.curves.size(); ++c) {
            if (figure_.curves[c].faint) continue;
            named.push_back(c);
            longest = std::max(longest, figure_.curves[c].name.size());
        }
        const double wide = 44 + 7.2 * static_cast<double>(longest);
        const double x = right_ - wide - 8;
        double y = top_ + 8;
        if (named.empty()) return;
        out_ += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
            "fill-opacity=\"0.85\" stroke=\"{}\"/>\n",
            x, y, wide, 8 + 18.0 * static_cast<double>(named.size()), back_, faint_);
        for (const std::size_t c : named) {
            out_ += fmt::format(
                "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
                "stroke-width=\"1.8\"/>\n",
                x + 8, y + 13, x + 30, y + 13, color(c));
            words(x + 36, y + 17, figure_.curves[c].name, "start");
            y += 18;
        }
    }

    const Figure& figure_;
    int width_, height_;
    const char *ink_, *faint_, *back_;
    Range x_, y_;
    double left_ = 92, right_ = 0, top_ = 0, bottom_ = 0;
    std::string out_;
};

}  // namespace

std::string to_csv(const Figure& figure) {
    std::string text = quoted(figure.x_label.empty() ? "x" : figure.x_label);
    std::map<double, std::vector<std::string>> rows;
    for (std::size_t c = 0; c < figure.curves.size(); ++c) {
        const Curve& curve = figure.curves[c];
        text += "," + quoted(curve.name);
        for (std::size_t k = 0; k < std::min(curve.x.size(), curve.y.size()); ++k) {
            if (!std::isfinite(curve.x[k])) continue;
            auto& row = rows[curve.x[k]];
            row.resize(figure.curves.size());
            row[c] = fmt::format("{}", curve.y[k]);
        }
    }
    text += "\n";
    for (const auto& [x, values] : rows) {
        text += fmt::format("{}", x);
        for (const std::string& value : values) text += "," + value;
        text += "\n";
    }
    return text;
}

std::vector<double> ticks_of(double low, double high, int wanted, bool logarithmic) {
    std::vector<double> ticks;
    if (!(low < high)) return ticks;
    if (logarithmic) {
        const auto first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
        const auto last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
        const int apart = std::max((last - first + wanted) / std::max(wanted, 1), 1);
        for (int power = first; power <= last; ++power)
            if (power % apart == 0) ticks.push_back(std::pow(10.0, power));
        return ticks;
    }
    const double rough = (high - low) / std::max(wanted, 1);
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double part = rough / power;
    const double apart = power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
    // Counted, so that nothing adds up.
    for (auto k = static_cast<std::int64_t>(std::ceil(low / apart - 1e-9));
         static_cast<double>(k) * apart <= high + apart * 1e-9; ++k)
        ticks.push_back(static_cast<double>(k) * apart);
    return ticks;
}

std::string to_svg(const Figure& figure, int width, int height, bool dark) {
    return Svg(figure, width, height, dark).text();
}

}  // namespace hindcast::gui
