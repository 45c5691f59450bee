// Curves over iterations (loss and terms, gradient, parameters) and over time (energies and other
// series, adjoint norm of each step). The vertical line is the moment that is shown.
#include <fmt/format.h>
#include <imgui_internal.h>
#include <implot.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/gui/figure.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/sheet.hpp"
#include "app/gui/text_view.hpp"
#include "app/render/png.hpp"
#include "engine/base/files.hpp"

namespace hindcast::gui {

namespace {

class Plots final : public Panel {
public:
    Plots()
        : Panel("Plots", icon::plot, Place::bottom,
                "Loss, gradient, parameters over the iterations; energies and adjoints over time") {
    }

    void draw(Context& context) override {
        Workspace& work = context.work;
        const session::Snapshot& now = work.now();
        static const std::vector<std::string> kinds{"Loss", "Gradient", "Parameters", "Series",
                                                    "Adjoint norm"};
        static constexpr const char* helps[] = {
            "The loss and its terms over the iterations",
            "Euclidean norm of the gradient over the iterations",
            "The parameters over the iterations", "Energies and other sums over simulated time",
            "How far the gradient reaches back: norm of dLoss/dstate at each step"};
        if (!work.selection().field.empty() && work.selection().field != shown_field_) {
            shown_field_ = work.selection().field;
            kind_ = 2;
        }
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            if (k > 0) ImGui::SameLine(0, px(2));
            ImGui::PushStyleColor(ImGuiCol_Button, kind_ == k
                                                       ? ImGui::GetStyleColorVec4(ImGuiCol_Header)
                                                       : ImVec4(0, 0, 0, 0));
            if (ImGui::Button(kinds[k].c_str())) kind_ = k;
            ImGui::PopStyleColor();
            tip(helps[k]);
        }
        ImGui::SameLine(0, px(14));
        ImGui::Checkbox("log", &log_);
        tip("Logarithmic vertical axis; what is not positive is left out");
        const std::vector<Curve> curves = curves_of(now);
        ImGui::SameLine();
        ImGui::SetCursorPosX(std::max(right_edge() - px(172), ImGui::GetCursorPosX()));
        static constexpr const char* formats[][2] = {
            {"CSV", "Writes the curves beside the scene as a table, with all digits"},
            {"SVG", "Writes the plot beside the scene as a drawing, for papers and pages"},
            {"PNG", "Writes the plot beside the scene as a picture of 1600 x 960 pixels"}};
        for (const auto& [name, help] : formats) {
            if (text_button(nullptr, name, help, !curves.empty(), false, px(52)))
                save(context, figure_of(now, curves), name);
            ImGui::SameLine(0, px(6));
        }
        ImGui::NewLine();
        if (curves.empty()) {
            const bool time = kind_ >= 3;
            empty_state(icon::plot, time ? "No series of this scene yet" : "No iterations yet",
                        time ? kind_ == 4 ? "Adjoint norms come with an optimisation."
                                          : "They come with the simulation."
                             : "Press O to optimise: the curve grows while you watch.");
            return;
        }
        plot(work, curves);
    }

private:
    std::vector<Curve> curves_of(const session::Snapshot& now) const {
        std::vector<Curve> curves;
        const bool any = now.history && !now.history->empty();
        if (kind_ == 3) {
            const double spacing = now.step_seconds * static_cast<double>(now.frame_every);
            for (const auto& [name, values] : now.series) {
                Curve curve{name, {}, values};
                for (std::size_t k = 0; k < values.size(); ++k)
                    curve.x.push_back(static_cast<double>(k) * spacing);
                if (!values.empty()) curves.push_back(std::move(curve));
            }
            return curves;
        }
        if (!any) return curves;
        const auto& history = *now.history;
        if (kind_ == 4) {
            const std::int64_t shown =
                now.shown_iteration < 0 ? history.back().iteration : now.shown_iteration;
            const auto row = std::ranges::find(history, shown, &session::IterationInfo::iteration);
            if (row == history.end() || row->adjoint_norms.empty()) return curves;
            Curve curve{"|dLoss/dstate|", {}, row->adjoint_norms};
            for (std::size_t k = 0; k < curve.y.size(); ++k)
                curve.x.push_back(curve.y.size() > 1
                                      ? static_cast<double>(k) /
                                            static_cast<double>(curve.y.size() - 1) *
                                            static_cast<double>(now.steps) * now.step_seconds
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
        if (kind_ == 0) {
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
        } else if (kind_ == 1) {
            over_iterations("|gradient|",
                            [](const session::IterationInfo& i) { return i.gradient_norm; });
        } else {
            std::size_t shown = 0;
            for (const session::ParameterInfo& p : now.parameters)
                for (std::size_t k = 0; k < p.count && shown < 24; ++k) {
                    const std::size_t at = p.first + k;
                    const std::string name = k < p.names.size() ? p.names[k] : p.path;
                    if (!shown_field_.empty() && p.path != shown_field_) continue;
                    ++shown;
                    over_iterations(name, [&now, at](const session::IterationInfo& i) {
                        return i.build == now.shown_build && i.parameters &&
                                       at < i.parameters->size()
                                   ? (*i.parameters)[at]
                                   : NAN;
                    });
                }
        }
        return curves;
    }

    bool over_time() const { return kind_ >= 3; }

    Figure figure_of(const session::Snapshot& now, const std::vector<Curve>& curves) const {
        static constexpr const char* labels[] = {"loss", "|dLoss/dparameters|", "value", "value",
                                                 "|dLoss/dstate|"};
        bool positive = false;
        for (const Curve& curve : curves)
            positive |= std::ranges::any_of(curve.y, [](double y) { return y > 0; });
        return {now.name, over_time() ? "time (s)" : "iteration", labels[kind_], log_ && positive,
                curves};
    }

    // The curves alone, between BeginPlot and EndPlot.
    void draw_curves(const Figure& figure) const {
        ImPlot::SetupAxes(figure.x_label.c_str(), nullptr, ImPlotAxisFlags_AutoFit,
                          ImPlotAxisFlags_AutoFit);
        if (figure.log_y) ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
        ImPlot::SetupLegend(ImPlotLocation_NorthEast);
        for (const Curve& curve : figure.curves) {
            ImPlotSpec spec;
            spec.LineWeight = px(1.8F);
            if (&curve == figure.curves.data() && kind_ == 0)
                spec.LineColor = look().palette().accent;
            if (kind_ == 1 || kind_ == 4) spec.LineColor = look().palette().gradient;
            const int count = static_cast<int>(curve.x.size());
            if (count == 1) {
                spec.Marker = ImPlotMarker_Circle;
                ImPlot::PlotScatter(curve.name.c_str(), curve.x.data(), curve.y.data(), count,
                                    spec);
            } else {
                ImPlot::PlotLine(curve.name.c_str(), curve.x.data(), curve.y.data(), count, spec);
            }
        }
    }

    void plot(Workspace& work, const std::vector<Curve>& curves) const {
        const session::Snapshot& now = work.now();
        const bool time = over_time();
        if (!ImPlot::BeginPlot("##curves", {-1, -1}, ImPlotFlags_NoMouseText | ImPlotFlags_NoMenus))
            return;
        draw_curves(figure_of(now, curves));
        const double shown = time ? static_cast<double>(now.step) * now.step_seconds
                                  : static_cast<double>(now.shown_iteration);
        if (time || now.shown_iteration >= 0) {
            ImPlotSpec spec;
            spec.LineColor = look().palette().quiet;
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
            for (const Curve& curve : curves) {
                if (curves.size() > 8) break;
                const auto near = std::ranges::min_element(
                    curve.x, {}, [&](double x) { return std::abs(x - mouse.x); });
                if (near == curve.x.end()) continue;
                const double y = curve.y[static_cast<std::size_t>(near - curve.x.begin())];
                ImGui::TextUnformatted(
                    fmt::format("{}  {}", curve.name, number_text(y, 6)).c_str());
            }
            quiet_text("Click to go there");
            ImGui::EndTooltip();
            if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !ImGui::GetIO().KeyCtrl) {
                if (time)
                    work.send(session::Seek{std::clamp<std::int64_t>(
                        std::llround(mouse.x / std::max(now.step_seconds, 1e-300)), 0, now.steps)});
                else if (now.history && !now.history->empty())
                    work.send(session::ShowIteration{std::clamp<std::int64_t>(
                        std::llround(mouse.x), now.history->front().iteration,
                        now.history->back().iteration)});
            }
        }
        ImPlot::EndPlot();
    }

    void save(Context& context, const Figure& figure, const std::string& format) const {
        static constexpr const char* kinds[] = {"loss", "gradient", "parameters", "series",
                                                "adjoint_norm"};
        static constexpr const char* endings[] = {".csv", ".svg", ".png"};
        Workspace& work = context.work;
        const char* const ending = endings[format == "CSV" ? 0 : format == "SVG" ? 1 : 2];
        const std::string scene =
            work.editor().file().empty() ? "scene" : work.editor().file().stem().string();
        const std::filesystem::path target =
            beside_scene(work, scene + "_" + kinds[kind_] + ending);
        try {
            if (format == "CSV") write_file_atomically(target, to_csv(figure));
            if (format == "SVG")
                write_file_atomically(target, to_svg(figure, 800, 480, look().theme->dark()));
            if (format == "PNG") {
                Sheet sheet(context.picture.vulkan(), look().theme->dark(), 2);
                const auto draw = [&] {
                    const ImVec2 room = ImGui::GetContentRegionAvail();
                    ImGui::SetCursorPos({px(12), px(8)});
                    if (!ImPlot::BeginPlot(figure.title.c_str(), {room.x - px(30), room.y - px(16)},
                                           ImPlotFlags_NoMouseText))
                        return;
                    draw_curves(figure);
                    ImPlot::EndPlot();
                };
                render::write_png(target, sheet.draw(1600, 960, draw, 3));
            }
            work.tell("Saved " + target.string(), Notice::Kind::success);
        } catch (const std::exception& error) {
            work.fail(error);
        }
    }

    std::size_t kind_ = 0;
    bool log_ = true;
    std::string shown_field_;
};

}  // namespace

std::unique_ptr<Panel> make_plots() { return std::make_unique<Plots>(); }

}  // namespace hindcast::gui
