#include "app/gui/panels/identification/tables.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <implot.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "engine/sim/identification/findings.hpp"

namespace hindcast::gui {

namespace {

constexpr ImGuiTableFlags table_flags = ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                        ImGuiTableFlags_BordersInnerV |
                                        ImGuiTableFlags_SizingStretchProp;

void cell(const std::string& text) {
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(text.c_str());
}

void cell(const std::string& text, const ImVec4& color) {
    ImGui::TableNextColumn();
    ImGui::TextColored(color, "%s", text.c_str());
}

// The numbers of the parameters to be shown.
std::vector<std::size_t> shown(const IdentificationOutcome& outcome, bool with_all) {
    std::vector<std::size_t> all;
    for (std::size_t k = 0; k < outcome.names.size(); ++k)
        if (with_all || !outcome.auxiliary[k]) all.push_back(k);
    return all;
}

bool table(const char* id, std::initializer_list<const char*> columns,
           std::initializer_list<const char*> helps) {
    if (!ImGui::BeginTable(id, static_cast<int>(columns.size()), table_flags)) return false;
    for (const char* name : columns) ImGui::TableSetupColumn(name);
    table_headers({helps.begin(), helps.size()});
    return true;
}

std::string key_of(const Comparison& one) { return one.owner + ": " + one.channel; }

}  // namespace

void draw_check(const IdentificationOutcome& outcome, bool with_all) {
    const optim::Identifiability& found = outcome.check.found;
    if (outcome.check.findings.empty())
        wrapped_text(std::string(icon::check) + "  The data tell all parameters apart.",
                     style().palette().good);
    for (const std::string& finding : outcome.check.findings)
        wrapped_text(std::string(icon::warning) + "  " + finding, style().palette().warn);
    std::string values = "Singular values:";
    for (std::size_t k = 0; k < std::min<std::size_t>(found.singular_values.size(), 24); ++k)
        values += "  " + number_text(found.singular_values[k], 3);
    wrapped_text(values, style().palette().quiet);
    tip(
        fmt::format("Of the Jacobian with columns of length 1. A direction below {:g} is one that "
                    "the data hardly tell",
                    weak_direction));
    if (!table("check", {"Parameter", "In the scene", "Effect", "Own part"},
               {"What is to be found", "Its value in the scene, where this is checked",
                "By how many sigmas all residuals together change for a change by 1",
                "The part of its effect on the data that no change of the others can make: near 0 "
                "the data cannot tell it"}))
        return;
    for (const std::size_t k : shown(outcome, with_all)) {
        ImGui::TableNextRow();
        cell(outcome.names[k]);
        cell(number_text(outcome.written[k], 6));
        cell(number_text(found.lengths[k], 4));
        cell(fmt::format("{:.3g} %", 100 * found.own_part[k]),
             found.own_part[k] < weak_direction ? style().palette().warn
                                                : ImGui::GetStyle().Colors[ImGuiCol_Text]);
    }
    ImGui::EndTable();
}

void draw_estimates(const IdentificationOutcome& outcome, bool with_all) {
    const optim::LeastSquaresResult& r = outcome.result();
    wrapped_text(fmt::format("Cost {} after {} iterations, from {}; {}. Residuals scatter by {} of "
                             "their sigmas.",
                             number_text(r.cost, 6), r.iterations, number_text(r.initial_cost, 6),
                             r.reason, number_text(outcome.statistics.scale, 4)),
                 style().palette().quiet);
    for (const std::string& loss : outcome.losses)
        wrapped_text("Robust loss: " + loss, style().palette().quiet);
    if (outcome.statistics.is_singular)
        wrapped_text(std::string(icon::warning) +
                         "  Some parameters cannot be told apart; their errors are infinite. Give "
                         "one of them in the scene, or add data that tell them.",
                     style().palette().warn);
    for (const CorrelatedPair& pair : correlated_pairs(outcome.statistics.correlation))
        if (!outcome.auxiliary[pair.first] && !outcome.auxiliary[pair.second])
            wrapped_text(fmt::format("{}  {} and {} have a correlation of {:.3f}", icon::warning,
                                     outcome.names[pair.first], outcome.names[pair.second],
                                     pair.correlation),
                         style().palette().warn);
    if (table("estimates", {"Parameter", "In the scene", "Estimate", "Standard error"},
              {"What was to be found", "Its value in the scene when the fit began",
               "The value of the least cost",
               "For errors of the data that are independent; at a bound there is none"})) {
        for (const std::size_t k : shown(outcome, with_all)) {
            ImGui::TableNextRow();
            cell(outcome.names[k]);
            cell(number_text(outcome.written[k], 6));
            cell(number_text(r.values[k], 8));
            if (r.at_bound[k] != 0)
                cell(fmt::format("at its {} bound", outcome.bound(k)), style().palette().warn);
            else
                cell(number_text(outcome.statistics.standard_errors[k], 3));
        }
        ImGui::EndTable();
    }
    if (outcome.fits.size() < 2) return;
    heading("Starts");
    quiet_text(fmt::format("{} of {} agree with the best one, start {}.",
                           Identification::agreeing(outcome.fits), outcome.fits.size(),
                           outcome.best + 1));
    if (!table("starts", {"Start", "Cost", "It was", "Iterations", "End"},
               {"The first begins at the scene's values", "In the end", "At the start",
                "Steps taken", "Why it ended"}))
        return;
    for (std::size_t s = 0; s < outcome.fits.size(); ++s) {
        const Identification::Fit& fit = outcome.fits[s];
        ImGui::TableNextRow();
        cell(std::to_string(s + 1));
        if (fit.failure.empty()) {
            cell(number_text(fit.result.cost, 8));
            cell(number_text(fit.result.initial_cost, 6));
            cell(std::to_string(fit.result.iterations));
            cell(fit.result.reason);
        } else {
            for (int k = 0; k < 3; ++k) cell("-");
            cell(fit.failure, style().palette().bad);
        }
    }
    ImGui::EndTable();
}

void draw_correlation(const IdentificationOutcome& outcome, bool with_all) {
    constexpr std::size_t most = 40;
    std::vector<std::size_t> list = shown(outcome, with_all);
    const optim::DenseMatrix& matrix =
        outcome.is_fitted() ? outcome.statistics.correlation : outcome.check.found.correlation;
    quiet_text(
        outcome.is_fitted()
            ? "Correlations of the estimates: near 1 or -1 the data tell only one of the two."
            : "Correlations that a fit at the scene's values would have.");
    if (list.size() > most) {
        quiet_text(
            fmt::format("The first {} of {}; all are in the report's files.", most, list.size()));
        list.resize(most);
    }
    if (!ImGui::BeginTable("correlation", static_cast<int>(list.size()) + 1,
                           ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                               ImGuiTableFlags_BordersInner | ImGuiTableFlags_SizingFixedFit))
        return;
    ImGui::TableSetupColumn("");
    for (const std::size_t k : list)
        ImGui::TableSetupColumn((outcome.names[k] + "##" + std::to_string(k)).c_str());
    ImGui::TableSetupScrollFreeze(1, 1);
    ImGui::TableHeadersRow();
    for (const std::size_t a : list) {
        ImGui::TableNextRow();
        cell(outcome.names[a]);
        for (const std::size_t b : list) {
            const double value = matrix(a, b);
            cell(fmt::format("{:.3f}", value));
            ImVec4 color = value > 0 ? style().palette().bad : style().palette().accent;
            color.w = static_cast<float>(a == b ? 0 : 0.6 * value * value);
            ImGui::TableSetBgColor(ImGuiTableBgTarget_CellBg, ImGui::GetColorU32(color));
        }
    }
    ImGui::EndTable();
}

void draw_agreement(const IdentificationOutcome& outcome) {
    if (!table("agreement", {"Data", "Channel", "Samples", "RMS", "RMS in sigmas"},
               {"Of which data and values", "Objective and column", "Samples that are compared",
                "Of the differences, in the scene's units",
                "Of the residuals: 1 where the sigmas are what the data scatter by"}))
        return;
    const auto add = [](const std::string& title, const std::vector<ChannelAgreement>& all) {
        for (const ChannelAgreement& one : all) {
            ImGui::TableNextRow();
            cell(title);
            cell(one.owner + ": " + one.channel);
            cell(std::to_string(one.count));
            cell(number_text(one.rms, 5));
            cell(number_text(one.rms_sigmas, 4));
        }
    };
    add(outcome.is_fitted() ? "Training, before" : "Training, as the scene is", outcome.before);
    add("Training, after the fit", outcome.after);
    for (const IdentificationOutcome::Validation& v : outcome.validations)
        add("Validation, " + v.file, v.agreement);
    ImGui::EndTable();
    for (const IdentificationOutcome::Validation& v : outcome.validations)
        for (const std::string& own : v.own)
            quiet_text(v.file + " has its own values of " + own + ".");
}

void draw_curves(const IdentificationOutcome& outcome, std::string& channel) {
    std::vector<std::pair<std::string, const Comparison*>> all;
    for (const Comparison& one :
         outcome.is_fitted() ? outcome.comparison : outcome.comparison_before)
        all.emplace_back(key_of(one), &one);
    for (const IdentificationOutcome::Validation& v : outcome.validations)
        for (const Comparison& one : v.comparison)
            all.emplace_back(key_of(one) + " in " + v.file, &one);
    if (all.empty()) return quiet_text("No channel has samples of its own.");
    std::vector<std::string> names;
    for (const auto& [name, comparison] : all) names.push_back(name);
    if (std::ranges::find(names, channel) == names.end()) channel = names.front();
    choice("##channel", names, channel, "The channel that is shown", px(260));
    const Comparison& one =
        *std::ranges::find(all, channel, &decltype(all)::value_type::first)->second;
    if (!ImPlot::BeginPlot("##curves", {-1, -1}, ImPlotFlags_NoMenus)) return;
    ImPlot::SetupAxes("time in s", one.channel.c_str(), ImPlotAxisFlags_AutoFit,
                      ImPlotAxisFlags_AutoFit);
    ImPlot::SetupLegend(ImPlotLocation_East, ImPlotLegendFlags_Outside);
    const int count = static_cast<int>(one.times.size());
    ImPlotSpec points;
    points.Marker = ImPlotMarker_Circle;
    points.MarkerSize = px(1.6F);
    points.LineColor = points.FillColor = points.MarkerLineColor = points.MarkerFillColor =
        style().palette().gradient;
    ImPlot::PlotScatter("measured", one.times.data(), one.measured.data(), count, points);
    ImPlotSpec line;
    line.LineColor = style().palette().accent;
    line.LineWeight = px(1.6F);
    ImPlot::PlotLine("simulated", one.times.data(), one.simulated.data(), count, line);
    ImPlot::EndPlot();
}

void draw_costs(const session::IdentificationTask::Progress& progress) {
    if (progress.costs.empty()) return;
    if (!ImPlot::BeginPlot("##costs", {-1, -1}, ImPlotFlags_NoMenus | ImPlotFlags_NoLegend)) return;
    const bool positive = std::ranges::all_of(progress.costs, [](const auto& start) {
        return std::ranges::all_of(start, [](double cost) { return cost > 0; });
    });
    ImPlot::SetupAxes("iteration", "cost", ImPlotAxisFlags_AutoFit, ImPlotAxisFlags_AutoFit);
    if (positive) ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
    for (std::size_t s = 0; s < progress.costs.size(); ++s) {
        ImPlotSpec line;
        line.LineWeight = px(1.6F);
        line.Marker = ImPlotMarker_Circle;
        line.MarkerSize = px(2);
        ImPlot::PlotLine(fmt::format("start {}", s + 1).c_str(), progress.costs[s].data(),
                         static_cast<int>(progress.costs[s].size()), 1, 0, line);
    }
    ImPlot::EndPlot();
}

}  // namespace hindcast::gui
