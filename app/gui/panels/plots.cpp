// Curves over iterations (loss and terms, gradient, parameters) and over time (energies and other
// series, adjoint norm of each step). The vertical line is the moment that is shown.
#include <fmt/format.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>
#include <implot.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/gui/draw/figure.hpp"
#include "app/gui/draw/offscreen_canvas.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/panels/runs/run_list.hpp"
#include "app/gui/work/files/opened_results.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/text_view.hpp"
#include "app/render/output/png.hpp"
#include "engine/base/files.hpp"

namespace hindcast::gui {

namespace {

constexpr std::size_t most_curves = 24;  // of parameters, in one plot

class Plots final : public Panel {
public:
    Plots()
        : Panel("Plots", icon::plot, Place::bottom,
                "Loss, gradient, parameters over the iterations; energies and adjoints over time") {
    }

    void draw(Context& context) override {
        Topics& work = context.work;
        const session::Snapshot& now = work.running.now();
        static const std::vector<std::string> kinds{"Loss", "Gradient", "Parameters", "Energy",
                                                    "Adjoint norm"};
        static constexpr const char* helps[] = {
            "The loss and its terms over the iterations",
            "Euclidean norm of the gradient over the iterations",
            "The parameters over the iterations",
            "Kinetic, gravitational and stored energies over simulated time, and their sum",
            "How far the gradient reaches back: norm of dLoss/dstate at each step"};
        take_request(work);
        toolbar(context, kinds, helps);
        if (kind_ == parameters) filter_line(now.values);
        const std::vector<Curve> curves = with_runs(work, curves_of(now));
        if (curves.empty()) {
            nothing(now);
            return;
        }
        plot(work.running, curves);
    }

private:
    enum Kind : std::size_t { loss, gradient, parameters, series, adjoint_norm };

    // Somebody asks for the parameters of a path alone.
    void take_request(Topics& work) {
        if (work.scene.scenes_shown() != scene_) {  // another one: its parameters have other names
            scene_ = work.scene.scenes_shown();
            only_.clear();
            search_.clear();
            fit();
        }
        const auto asked = std::exchange(work.requests.plot_only, std::nullopt);
        if (!asked) return;
        only_ = *asked;
        search_.clear();
        kind_ = parameters;
        fit();
    }

    void fit() { fitted_ = true; }

    // On the same line if it fits there.
    static void next(float width, float space) {
        ImGui::SameLine(0, space);
        if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
    }

    static float button_width(const std::string& label) {
        return ImGui::CalcTextSize(label.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
    }

    void toolbar(Context& context, const std::vector<std::string>& kinds,
                 const char* const* helps) {
        Topics& work = context.work;
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            if (k > 0) next(button_width(kinds[k]), px(2));
            ImGui::PushStyleColor(ImGuiCol_Button, kind_ == k
                                                       ? ImGui::GetStyleColorVec4(ImGuiCol_Header)
                                                       : ImVec4(0, 0, 0, 0));
            if (ImGui::Button(kinds[k].c_str()) && kind_ != k) {
                kind_ = k;
                fit();
            }
            ImGui::PopStyleColor();
            tip(helps[k]);
        }
        next(ImGui::GetFrameHeight() + ImGui::CalcTextSize("log").x + px(8), px(14));
        if (ImGui::Checkbox("log", &log_[kind_])) fit();
        tip("Logarithmic vertical axis; what is not positive is left out");
        next(ImGui::GetFrameHeight() + px(4), px(6));
        if (icon_button("fit", icon::frame,
                        fitted_ ? "All of the curves is shown. The wheel zooms, a drag moves, also "
                                  "on one axis alone"
                                : "Shows all of the curves again (as a double click does)",
                        !fitted_))
            fit();
        if (!over_time()) {
            next(RunList::button_width(work), px(6));
            run_list_.draw(work);
        }
        static constexpr const char* formats[][2] = {
            {"CSV", "Writes the curves beside the scene as a table, with all digits"},
            {"SVG", "Writes the plot beside the scene as a drawing, for papers and pages"},
            {"PNG", "Writes the plot beside the scene as a picture of 1600 x 960 pixels"}};
        const float each = button_width("PNG"), all = 3 * each + 2 * px(6);
        next(all, px(8));
        ImGui::SetCursorPosX(std::max(right_edge() - all, ImGui::GetCursorPosX()));
        const std::vector<Curve> curves = with_runs(work, curves_of(work.running.now()));
        for (const auto& [name, help] : formats) {
            if (text_button(nullptr, name, help, !curves.empty(), false, each))
                save(context, figure_of(work.running.now(), curves), name);
            ImGui::SameLine(0, px(6));
        }
        ImGui::NewLine();
    }

    // The filter for the parameters shown, and their number where not all are drawn.
    void filter_line(const session::ValuesSnapshot& values) {
        if (!only_.empty()) {
            if (text_button(icon::close, only_, "Shows all parameters again")) only_.clear();
            ImGui::SameLine(0, px(8));
        }
        std::size_t among = 0;
        each_parameter(values, [&](const session::ParameterInfo&, std::size_t) { ++among; });
        const std::string count =
            among > most_curves ? fmt::format("{} of {} curves", most_curves, among) : "";
        const float side = count.empty() ? 0 : ImGui::CalcTextSize(count.c_str()).x + px(12);
        const float width = ImGui::GetContentRegionAvail().x - side;
        if (among <= most_curves && only_.empty() && search_.empty() && names(values) <= 1) return;
        ImGui::SetNextItemWidth(
            std::clamp(width, ImGui::GetFontSize() * 5, ImGui::GetFontSize() * 16));
        ImGui::InputTextWithHint("##filter", "Filter", &search_,
                                 ImGuiInputTextFlags_EscapeClearsAll);
        tip("Shows only parameters that have these words in their names, such as [3] or .x");
        if (count.empty()) return;
        next(side, px(8));
        ImGui::AlignTextToFramePadding();
        ImGui::TextColored(style().palette().warn, "%s", count.c_str());
        tip(
            fmt::format("The first {} are drawn, and written to files. To see others, write words "
                        "of their names into the filter, or choose \"Plot it\" in the menu of a "
                        "number in the inspector (right click).",
                        most_curves));
    }

    void nothing(const session::Snapshot& now) const {
        if (kind_ == parameters && names(now.values) > 0 && now.optimization.history &&
            !now.optimization.history->empty()) {
            empty_state(icon::plot, "No parameter is called so",
                        "Take the filter away to see all of them.");
            return;
        }
        const bool time = over_time();
        empty_state(icon::plot, time ? "Nothing to plot yet" : "No iterations yet",
                    time ? kind_ == adjoint_norm ? "Adjoint norms come with an optimization."
                                                 : "Energies come with a run: press Space."
                         : "Press O to optimize: the curve grows while you watch.");
    }

    static std::size_t names(const session::ValuesSnapshot& values) {
        std::size_t count = 0;
        for (const session::ParameterInfo& p : values.parameters) count += p.count;
        return count;
    }

    // Those that the filter lets through, with their place in the flat vector.
    template <class F>
    void each_parameter(const session::ValuesSnapshot& values, F f) const {
        for (const session::ParameterInfo& p : values.parameters)
            for (std::size_t k = 0; k < p.count; ++k) {
                const std::string& name = k < p.names.size() ? p.names[k] : p.path;
                if (is_wanted(name)) f(p, k);
            }
    }

    bool is_wanted(const std::string& name) const {
        const bool within = only_.empty() || name == only_ || name.starts_with(only_ + "[") ||
                            name.starts_with(only_ + ".");
        return within && (search_.empty() || matches(name, search_));
    }

    std::vector<Curve> curves_of(const session::Snapshot& now) const {
        std::vector<Curve> curves;
        const bool any = now.optimization.history && !now.optimization.history->empty();
        if (kind_ == series) {
            const double spacing = now.run.step_seconds * static_cast<double>(now.run.frame_every);
            for (const auto& [name, values] : now.run.series) {
                if (name == "adjoint norm") continue;  // of another unit: it has its own plot
                Curve curve{name, {}, values};
                for (std::size_t k = 0; k < values.size(); ++k)
                    curve.x.push_back(static_cast<double>(k) * spacing);
                if (!values.empty()) curves.push_back(std::move(curve));
            }
            return curves;
        }
        if (!any) return curves;
        const auto& history = *now.optimization.history;
        if (kind_ == adjoint_norm) {
            const std::int64_t shown = now.optimization.shown_iteration < 0
                                           ? history.back().iteration
                                           : now.optimization.shown_iteration;
            const auto row = std::ranges::find(history, shown, &session::IterationInfo::iteration);
            if (row == history.end() || row->adjoint_norms.empty()) return curves;
            Curve curve{"|dLoss/dstate|", {}, row->adjoint_norms};
            for (std::size_t k = 0; k < curve.y.size(); ++k)
                curve.x.push_back(curve.y.size() > 1 ? static_cast<double>(k) /
                                                           static_cast<double>(curve.y.size() - 1) *
                                                           static_cast<double>(now.run.steps) *
                                                           now.run.step_seconds
                                                     : 0);
            curves.push_back(std::move(curve));
            return curves;
        }
        const auto over_iterations = [&](const std::string& name, auto&& value) {
            Curve curve{name, {}, {}};
            for (const session::IterationInfo& i : history) {
                curve.x.push_back(static_cast<double>(i.iteration));
                curve.y.push_back(value(i));
            }
            curves.push_back(std::move(curve));
        };
        if (kind_ == loss) {
            over_iterations("loss", [](const session::IterationInfo& i) { return i.loss; });
            if (history.back().terms.size() > 1)
                for (std::size_t t = 0; t < history.back().terms.size(); ++t)
                    over_iterations(
                        history.back().terms[t].name,
                        [t, &name = history.back().terms[t].name](const session::IterationInfo& i) {
                            return t < i.terms.size() && i.terms[t].name == name
                                       ? i.terms[t].weight * i.terms[t].value
                                       : NAN;
                        });
        } else if (kind_ == gradient) {
            over_iterations("|gradient|",
                            [](const session::IterationInfo& i) { return i.gradient_norm; });
        } else {
            // A unit that all share stands at the axis, others behind each name.
            const bool one_unit = unit_of(now.values).has_value();
            each_parameter(now.values, [&](const session::ParameterInfo& p, std::size_t k) {
                if (curves.size() == most_curves) return;
                const std::string& name = k < p.names.size() ? p.names[k] : p.path;
                over_iterations(one_unit || p.unit.empty() ? name : name + " (" + p.unit + ")",
                                [&now, at = p.first + k](const session::IterationInfo& i) {
                                    return i.build == now.scene.shown_build && i.parameters &&
                                                   at < i.parameters->size()
                                               ? (*i.parameters)[at]
                                               : NAN;
                                });
            });
        }
        return curves;
    }

    // Beside the present run those that are kept, from where it began.
    std::vector<Curve> with_runs(const Topics& work, std::vector<Curve> curves) const {
        if (over_time() || work.results.runs.empty()) return curves;
        const session::Snapshot& now = work.running.now();
        std::int64_t begin = 0;
        if (now.optimization.history && !now.optimization.history->empty())
            begin = session::begin_of_run(now.optimization,
                                          now.optimization.shown_iteration >= 0
                                              ? now.optimization.shown_iteration
                                              : now.optimization.history->back().iteration);
        std::vector<Curve> all =
            curves_of_runs(work.results.runs,
                           kind_ == loss       ? RunCurve::loss
                           : kind_ == gradient ? RunCurve::gradient
                                               : RunCurve::parameters,
                           static_cast<double>(std::max<std::int64_t>(begin, 0)),
                           [this](const std::string& name) { return is_wanted(name); });
        for (std::size_t k = 0; k < curves.size(); ++k)
            if (!curves[k].color) curves[k].color = k;
        all.insert(all.end(), std::make_move_iterator(curves.begin()),
                   std::make_move_iterator(curves.end()));
        return all;
    }

    // The unit that all parameters shown have; none if they have several.
    std::optional<std::string> unit_of(const session::ValuesSnapshot& values) const {
        std::optional<std::string> unit;
        bool several = false;
        each_parameter(values, [&](const session::ParameterInfo& p, std::size_t) {
            several |= unit && *unit != p.unit;
            unit = p.unit;
        });
        return several ? std::nullopt : unit;
    }

    bool over_time() const { return kind_ >= series; }

    Figure figure_of(const session::Snapshot& now, const std::vector<Curve>& curves) const {
        static constexpr const char* labels[] = {"loss", "|dLoss/dparameters|", "value", "value",
                                                 "|dLoss/dstate|"};
        std::string label = labels[kind_];
        if (const auto unit = unit_of(now.values); kind_ == parameters && unit && !unit->empty())
            label += " (" + *unit + ")";
        if (kind_ == series) label = "energy (J)";
        bool positive = false;
        for (const Curve& curve : curves)
            positive |= std::ranges::any_of(curve.y, [](double y) { return y > 0; });
        return {now.scene.name, over_time() ? "time (s)" : "iteration", label,
                log_[kind_] && positive, curves};
    }

    static std::array<double, 2> positive_range(const Figure& figure) {
        std::array<double, 2> range{INFINITY, 0};
        for (const Curve& curve : figure.curves)
            for (const double y : curve.y)
                if (y > 0 && std::isfinite(y))
                    range = {std::min(range[0], y), std::max(range[1], y)};
        return range;
    }

    // The curves alone, between BeginPlot and EndPlot.
    // `all`: the axes follow the curves; else the vertical one shows `range`.
    static void draw_curves(const Figure& figure, bool all, std::array<double, 2> range = {}) {
        const ImPlotAxisFlags flags = all ? ImPlotAxisFlags_AutoFit : ImPlotAxisFlags_None;
        // On a logarithmic axis what is not positive is left out, but not from the other axis.
        ImPlot::SetupAxes(figure.x_label.c_str(), figure.y_label.c_str(),
                          figure.log_y ? ImPlotAxisFlags_None : flags,
                          figure.log_y ? ImPlotAxisFlags_None : flags);
        if (figure.log_y) {
            ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
            if (all) {
                range = positive_range(figure);
                const auto [x, y] = ranges_of(figure);
                ImPlot::SetupAxisLimits(ImAxis_X1, x.low, x.high, ImPlotCond_Always);
                ImPlot::SetupAxisLimits(ImAxis_Y1, y.low, y.high, ImPlotCond_Always);
            }
            // In less than a decade there may be no power of ten: round numbers instead.
            if (range[0] > 0 && range[1] > range[0] && range[1] < 10 * range[0])
                if (const std::vector<double> ticks = ticks_of(range[0], range[1], 4);
                    !ticks.empty())
                    ImPlot::SetupAxisTicks(ImAxis_Y1, ticks.data(), static_cast<int>(ticks.size()));
        }
        ImPlot::SetupLegend(ImPlotLocation_NorthEast);
        for (const Curve& curve : figure.curves) {
            ImPlotSpec spec;
            const auto place = static_cast<std::size_t>(&curve - figure.curves.data());
            spec.LineWeight = px(curve.faint ? 1.0F : 1.8F);
            spec.LineColor = ImPlot::GetColormapColor(
                static_cast<int>(curve.color.value_or(place) % curve_colors.size()));
            if (curve.faint) spec.LineColor.w = 0.6F;
            const int count = static_cast<int>(curve.x.size());
            // The legend has one line for all that are alike.
            const std::string label = curve.faint ? "other starts" : curve.name;
            // A line ends where there is no logarithm.
            std::vector<double> heights = curve.y;
            if (figure.log_y)
                for (double& y : heights)
                    if (!(y > 0)) y = NAN;
            if (count == 1) {
                spec.Marker = ImPlotMarker_Circle;
                ImPlot::PlotScatter(label.c_str(), curve.x.data(), heights.data(), count, spec);
            } else {
                ImPlot::PlotLine(label.c_str(), curve.x.data(), heights.data(), count, spec);
            }
        }
    }

    // Until the user zooms or moves, the axes follow the curves.
    void watch_hands() {
        const ImGuiIO& io = ImGui::GetIO();
        if (!hovered_) return;
        const bool drags = ImGui::IsMouseDown(ImGuiMouseButton_Left) &&
                           ImGui::IsMouseDragPastThreshold(ImGuiMouseButton_Left);
        const bool selects = ImGui::IsMouseDown(ImGuiMouseButton_Right) &&
                             ImGui::IsMouseDragPastThreshold(ImGuiMouseButton_Right);
        if (io.MouseWheel != 0 || drags || selects) fitted_ = false;
        if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) fit();
    }

    void plot(Running& running, const std::vector<Curve>& curves) {
        const session::Snapshot& now = running.now();
        const bool time = over_time();
        watch_hands();
        ImPlotFlags flags = ImPlotFlags_NoMouseText | ImPlotFlags_NoMenus;
        // In a low window, no legend that says what the axis says.
        if (kind_ != parameters && curves.size() == 1 &&
            ImGui::GetContentRegionAvail().y < ImGui::GetFontSize() * 9)
            flags |= ImPlotFlags_NoLegend;
        if (!ImPlot::BeginPlot("##curves", {-1, -1}, flags)) return;
        draw_curves(figure_of(now, curves), fitted_, heights_);
        const ImPlotRange heights = ImPlot::GetPlotLimits().Y;
        heights_ = {heights.Min, heights.Max};
        const bool was_held = ImPlot::IsPlotHovered() || ImPlot::IsAxisHovered(ImAxis_X1) ||
                              ImPlot::IsAxisHovered(ImAxis_Y1);
        // A drag that began here goes on outside.
        hovered_ = was_held || (hovered_ && ImGui::IsMouseDown(ImGuiMouseButton_Left));
        const double shown = time ? static_cast<double>(now.run.step) * now.run.step_seconds
                                  : static_cast<double>(now.optimization.shown_iteration);
        if (time || now.optimization.shown_iteration >= 0) {
            ImPlotSpec spec;
            spec.LineColor = style().palette().quiet;
            spec.Flags = ImPlotItemFlags_NoLegend | ImPlotItemFlags_NoFit;
            ImPlot::PlotInfLines("##shown", &shown, 1, spec);
        }
        if (ImPlot::IsPlotHovered()) {
            const ImPlotPoint mouse = ImPlot::GetPlotMousePos();
            ImGui::BeginTooltip();
            ImGui::TextUnformatted(
                fmt::format("{} {}", time ? "time" : "iteration",
                            time ? number_text(mouse.x, 4) + " s" : fmt::format("{:.0f}", mouse.x))
                    .c_str());
            const std::size_t named =
                static_cast<std::size_t>(std::ranges::count(curves, false, &Curve::faint));
            for (const Curve& curve : curves) {
                if (named > 8) break;
                if (curve.faint) continue;
                const auto near = std::ranges::min_element(
                    curve.x, {}, [&](double x) { return std::abs(x - mouse.x); });
                if (near == curve.x.end()) continue;
                const double y = curve.y[static_cast<std::size_t>(near - curve.x.begin())];
                ImGui::TextUnformatted(
                    fmt::format("{}  {}", curve.name, number_text(y, 6)).c_str());
            }
            if (const std::string name = curve_at_mouse(curves); !name.empty())
                ImGui::TextColored(style().palette().accent, "%s", name.c_str());
            quiet_text("Click to go there; wheel and drag zoom and move");
            ImGui::EndTooltip();
            if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && !ImGui::GetIO().KeyCtrl &&
                ImGui::GetIO().MouseDragMaxDistanceSqr[ImGuiMouseButton_Left] <
                    ImGui::GetIO().MouseDragThreshold * ImGui::GetIO().MouseDragThreshold) {
                if (time)
                    running.send(session::Seek{std::clamp<std::int64_t>(
                        std::llround(mouse.x / std::max(now.run.step_seconds, 1e-300)), 0,
                        now.run.steps)});
                else if (now.optimization.history && !now.optimization.history->empty())
                    running.send(session::ShowIteration{std::clamp<std::int64_t>(
                        std::llround(mouse.x), now.optimization.history->front().iteration,
                        now.optimization.history->back().iteration)});
            }
        }
        ImPlot::EndPlot();
    }

    // The curve under the mouse, with its value there; "": none is near.
    static std::string curve_at_mouse(const std::vector<Curve>& curves) {
        const ImVec2 mouse = ImGui::GetMousePos();
        const double x = ImPlot::GetPlotMousePos().x;
        float least = px(7);
        std::string found;
        if (curves.size() <= 8) return found;
        for (const Curve& curve : curves) {
            const auto near = std::ranges::lower_bound(curve.x, x);
            if (near == curve.x.end()) continue;
            const auto k = static_cast<std::size_t>(near - curve.x.begin());
            const float away = std::abs(ImPlot::PlotToPixels(curve.x[k], curve.y[k]).y - mouse.y);
            if (!(away < least)) continue;
            least = away;
            found = fmt::format("{}  {}", curve.name, number_text(curve.y[k], 6));
        }
        return found;
    }

    void save(Context& context, const Figure& figure, const std::string& format) const {
        static constexpr const char* kinds[] = {"loss", "gradient", "parameters", "energy",
                                                "adjoint_norm"};
        static constexpr const char* endings[] = {".csv", ".svg", ".png"};
        Topics& work = context.work;
        const char* const ending = endings[format == "CSV" ? 0 : format == "SVG" ? 1 : 2];
        const std::string scene = work.scene.editor().file().empty()
                                      ? "scene"
                                      : work.scene.editor().file().stem().string();
        const std::filesystem::path target =
            beside_scene(work.scene, scene + "_" + kinds[kind_] + ending);
        try {
            if (format == "CSV") write_file_atomically(target, to_csv(figure));
            if (format == "SVG")
                write_file_atomically(target, to_svg(figure, 800, 480, style().theme->dark()));
            if (format == "PNG") {
                OffscreenCanvas offscreen(context.picture.vulkan(), style().theme->dark(), 2);
                const auto draw = [&] {
                    const ImVec2 room = ImGui::GetContentRegionAvail();
                    ImGui::SetCursorPos({px(12), px(8)});
                    if (!ImPlot::BeginPlot(figure.title.c_str(), {room.x - px(30), room.y - px(16)},
                                           ImPlotFlags_NoMouseText))
                        return;
                    draw_curves(figure, true);
                    ImPlot::EndPlot();
                };
                render::write_png(target, offscreen.draw(1600, 960, draw, 3));
            }
            work.messages.tell("Saved " + target.string(), Notice::Kind::success);
        } catch (const std::exception& error) {
            work.messages.fail(error);
        }
    }

    std::size_t kind_ = loss;
    std::array<bool, 5> log_{true, true, true, false,
                             true};    // by kind: energies are negative as well
    bool fitted_ = true;               // the axes follow the curves
    bool hovered_ = false;             // the plot, in the frame before
    std::array<double, 2> heights_{};  // that it showed then
    std::string only_;                 // a path: its parameters alone; "": all
    std::string search_;               // words of parameters' names
    std::uint64_t scene_ = 0;          // EditedScene::scenes_shown
    RunList run_list_;
};

}  // namespace

std::unique_ptr<Panel> make_plots() { return std::make_unique<Plots>(); }

}  // namespace hindcast::gui
