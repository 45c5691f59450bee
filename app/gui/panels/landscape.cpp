// The loss around the current parameters: along one of them, or over two, with the exact gradient
// drawn on it. Computed in the background, shown as it comes.
#include <fmt/format.h>
#include <imgui_internal.h>
#include <implot.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "app/gui/draw/words.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/work/state/running.hpp"

namespace hindcast::gui {

namespace {

constexpr float width_width = 120;  // of the fields of widths

class LandscapePanel final : public Panel {
public:
    LandscapePanel()
        : Panel("Landscape", icon::area, Place::bottom,
                "The loss along one parameter or over two, with the gradient") {}

    void draw(Context& context) override {
        Topics& work = context.work;
        const session::Snapshot& now = work.running.now();
        std::vector<std::string> names;
        std::map<std::string, std::string> units;
        for (const session::ParameterInfo& p : now.values.parameters)
            for (const std::string& name : p.names)
                if (names.size() < 512) {
                    names.push_back(name);
                    units[name] = p.unit;
                }
        if (names.empty()) {
            empty_state(icon::area, "No parameters",
                        "Close the lock beside a number in the inspector first.");
            return;
        }
        if (std::ranges::find(names, first_) == names.end()) first_ = names.front();
        if (std::ranges::find(names, second_) == names.end()) second_.clear();
        const float wide = std::min(px(150), ImGui::GetContentRegionAvail().x);
        choice("##first", names, first_, "The parameter that is varied", wide, nullptr, path_label);
        beside(px(width_width));
        width_field("##width", first_, units[first_], widths_[0]);
        beside(wide);
        choice("##second", names, second_, "A second one: a map instead of a curve", wide,
               "no second one", path_label);
        if (!second_.empty()) {
            beside(px(width_width));
            width_field("##width of the second", second_, units[second_], widths_[1]);
        }
        beside(px(96));
        const bool runs = now.tools.landscape && !now.tools.landscape->done;
        if (runs) {
            if (text_button(icon::stop, "Cancel", "Stops computing"))
                work.running.send(session::CancelScan{});
        } else if (text_button(icon::area, "Compute",
                               "Runs the scene for each point, in the background", true, true)) {
            work.running.send(session::Scan{{first_, second_},
                                            {widths_[0].value, widths_[1].value},
                                            second_.empty() ? 61 : 25});
        }
        if (!now.tools.landscape || now.tools.landscape->count == 0) {
            empty_state(icon::area, "Nothing computed yet",
                        "Choose one parameter or two, and compute.");
            return;
        }
        const session::Landscape& scan = *now.tools.landscape;
        const auto label = [&](std::size_t d) {
            const std::string& unit = units[scan.names[d]];
            return scan.names[d] + (unit.empty() ? "" : " (" + unit + ")");
        };
        if (scan.names[1].empty())
            curve(scan, label(0));
        else
            map(scan, label(0), label(1));
    }

private:
    // A width is of one parameter, and forgotten with it: another one has another unit.
    struct Width {
        std::string of, unit;
        double value = 0;
    };
    static void width_field(const char* id, const std::string& of, const std::string& unit,
                            Width& width) {
        if (width.of != of || width.unit != unit) width = {of, unit, 0};
        NumberField field{.value = width.value,
                          .unit = unit,
                          .low = 0,
                          .width = px(width_width),
                          .tooltip = "Whole width of the range of " + of + "; 0: chosen by itself",
                          .shown = width.value == 0
                                       ? "width: by itself"
                                       : fmt::format("width {}{}{}", number_text(width.value, 4),
                                                     unit.empty() ? "" : " ", unit)};
        if (number_field(id, field) != Edited::no) width.value = field.value;
    }

    static void curve(const session::Landscape& scan, const std::string& label) {
        std::vector<double> x, y;
        for (int k = 0; k < scan.count && static_cast<std::size_t>(k) < scan.losses.size(); ++k) {
            if (!std::isfinite(scan.losses[static_cast<std::size_t>(k)])) continue;
            x.push_back(scan.range[0][0] +
                        (scan.range[0][1] - scan.range[0][0]) * k / std::max(scan.count - 1, 1));
            y.push_back(scan.losses[static_cast<std::size_t>(k)]);
        }
        if (!ImPlot::BeginPlot("##scan", {-1, -1}, ImPlotFlags_NoMenus)) return;
        ImPlot::SetupAxes(label.c_str(), "loss", ImPlotAxisFlags_AutoFit, ImPlotAxisFlags_AutoFit);
        // Beside the curve: it hides none of it.
        ImPlot::SetupLegend(ImPlotLocation_East, ImPlotLegendFlags_Outside);
        ImPlotSpec spec;
        spec.LineColor = style().palette().accent;
        spec.LineWeight = px(1.8F);
        ImPlot::PlotLine("loss", x.data(), y.data(), static_cast<int>(x.size()), spec);
        // The tangent at the center: what the gradient says.
        if (x.size() > 2) {
            const double center = scan.center[0];
            const auto near =
                std::ranges::min_element(x, {}, [&](double v) { return std::abs(v - center); });
            const double loss =
                y[static_cast<std::size_t>(near - x.begin())] + scan.slope[0] * (center - *near);
            const double reach = (scan.range[0][1] - scan.range[0][0]) / 6;
            const double tx[] = {center - reach, center + reach};
            const double ty[] = {loss - scan.slope[0] * reach, loss + scan.slope[0] * reach};
            ImPlotSpec tangent;
            tangent.LineColor = style().palette().gradient;
            tangent.LineWeight = px(2.2F);
            ImPlot::PlotLine("gradient", tx, ty, 2, tangent);
            ImPlotSpec point;
            point.Marker = ImPlotMarker_Circle;
            point.MarkerSize = px(4);
            point.LineColor = point.FillColor = style().palette().gradient;
            ImPlot::PlotScatter("now", &center, &loss, 1, point);
        }
        ImPlot::EndPlot();
    }

    static void map(const session::Landscape& scan, const std::string& across,
                    const std::string& up) {
        const auto count = static_cast<std::size_t>(scan.count);
        if (scan.losses.size() < count * count) return;
        double low = INFINITY, high = -INFINITY;
        for (const double loss : scan.losses) {
            if (!std::isfinite(loss)) continue;
            low = std::min(low, loss);
            high = std::max(high, loss);
        }
        if (!(high >= low)) return;
        const bool log_scale = low > 0 && high > 20 * low;
        // Rows from the top; what is not computed yet is the highest.
        std::vector<double> values(count * count);
        for (std::size_t row = 0; row < count; ++row)
            for (std::size_t column = 0; column < count; ++column) {
                const double loss = scan.losses[(count - 1 - row) * count + column];
                const double shown = std::isfinite(loss) ? loss : high;
                values[row * count + column] = log_scale ? std::log10(shown) : shown;
            }
        ImPlot::PushColormap(ImPlotColormap_Viridis);
        const float bar = px(86);
        if (ImPlot::BeginPlot("##map", {ImGui::GetContentRegionAvail().x - bar - px(6), -1},
                              ImPlotFlags_NoMenus | ImPlotFlags_NoLegend)) {
            ImPlot::SetupAxes(across.c_str(), up.c_str(), ImPlotAxisFlags_AutoFit,
                              ImPlotAxisFlags_AutoFit);
            ImPlot::PlotHeatmap(
                "loss", values.data(), scan.count, scan.count, log_scale ? std::log10(low) : low,
                log_scale ? std::log10(high) : high, nullptr, {scan.range[0][0], scan.range[1][0]},
                {scan.range[0][1], scan.range[1][1]});
            // Downhill, by the exact gradient. A quarter of the picture long where a loss that
            // falls so across the picture would change by all that is seen, shorter at an optimum.
            const double wide = scan.range[0][1] - scan.range[0][0],
                         tall = scan.range[1][1] - scan.range[1][0];
            const double u = -scan.slope[0] * wide, v = -scan.slope[1] * tall;
            const double length = std::hypot(u, v);
            const double part =
                length > 0 && high > low ? 0.25 * std::min(1 / length, 1 / (high - low)) : 0;
            const ImVec2 from = ImPlot::PlotToPixels(scan.center[0], scan.center[1]);
            const ImVec2 to = ImPlot::PlotToPixels(scan.center[0] + part * wide * u,
                                                   scan.center[1] + part * tall * v);
            ImDrawList* list = ImPlot::GetPlotDrawList();
            const ImU32 color = ImGui::GetColorU32(style().palette().gradient);
            const float dx = to.x - from.x, dy = to.y - from.y, n = std::hypot(dx, dy);
            if (n > px(10)) {
                list->AddLine(from, to, color, px(2.5F));
                const ImVec2 d{dx / n * px(9), dy / n * px(9)};
                list->AddTriangleFilled(to, {to.x - d.x - d.y / 2, to.y - d.y + d.x / 2},
                                        {to.x - d.x + d.y / 2, to.y - d.y - d.x / 2}, color);
            }
            list->AddCircleFilled(from, px(4), color);
            ImPlot::EndPlot();
        }
        ImGui::SameLine(0, px(6));
        ImPlot::ColormapScale(log_scale ? "log10 loss" : "loss", log_scale ? std::log10(low) : low,
                              log_scale ? std::log10(high) : high,
                              {bar, ImGui::GetContentRegionAvail().y});
        ImPlot::PopColormap();
    }

    std::string first_, second_;
    std::array<Width, 2> widths_;
};

}  // namespace

std::unique_ptr<Panel> make_landscape() { return std::make_unique<LandscapePanel>(); }

}  // namespace hindcast::gui
