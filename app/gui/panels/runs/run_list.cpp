#include "app/gui/panels/runs/run_list.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/work/files/opened_results.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/values/found_values.hpp"

namespace hindcast::gui {

using session::KeptRun;
using session::KeptRuns;

namespace {

constexpr std::size_t most_faint = 256;         // curves of a group
constexpr std::size_t most_faint_points = 256;  // of each

// From the end of the palette, whose first colors the present run has; the last one is gray.
constexpr std::size_t gray = curve_colors.size() - 1;
std::size_t color_of(const KeptRun& run) { return gray - 1 - run.color % (gray - 1); }

ImVec4 rgb(std::uint32_t hex) {
    return {static_cast<float>(hex >> 16U & 255U) / 255.0F,
            static_cast<float>(hex >> 8U & 255U) / 255.0F, static_cast<float>(hex & 255U) / 255.0F,
            1};
}

// "gradient descent, rate 0.5"
std::string method_of(const std::string& optimizer) {
    const std::size_t comma = std::min(optimizer.find(','), optimizer.size());
    return label_of(optimizer.substr(0, comma)) + optimizer.substr(comma);
}

bool is_faint(const KeptRun& run) { return run.group != 0 && !run.best_of_group; }

}  // namespace

std::vector<Curve> curves_of_runs(const KeptRuns& runs, RunCurve kind, double begin,
                                  const std::function<bool(const std::string&)>& wanted) {
    std::vector<Curve> curves, faint;
    std::size_t others = 0;  // of groups
    for (const KeptRun& run : runs.list())
        if (run.shown && is_faint(run)) ++others;
    const std::size_t every = (others + most_faint - 1) / std::max<std::size_t>(most_faint, 1);
    std::size_t other = 0;
    for (const KeptRun& run : runs.list()) {
        if (!run.shown) continue;
        const bool back = is_faint(run);
        if (back &&
            (kind == RunCurve::parameters || other++ % std::max<std::size_t>(every, 1) != 0))
            continue;
        const auto add = [&](const std::string& name, const std::vector<double>& y) {
            Curve curve{name, {}, {}, back ? gray : color_of(run), back};
            const std::size_t stride =
                back ? std::max<std::size_t>(y.size() / most_faint_points, 1) : 1;
            for (std::size_t k = 0; k < y.size(); k += stride) {
                curve.x.push_back(begin + run.iterations[k]);
                curve.y.push_back(y[k]);
            }
            if (!curve.x.empty()) (back ? faint : curves).push_back(std::move(curve));
        };
        if (kind == RunCurve::loss) add(run.name, run.losses);
        if (kind == RunCurve::gradient) add(run.name, run.gradient_norms);
        if (kind == RunCurve::parameters)
            for (std::size_t e = 0; e < run.entries.size(); ++e)
                if (wanted(run.names[e])) add(run.names[e] + ", " + run.name, run.entries[e]);
    }
    // The curves that matter are drawn over the faint ones.
    faint.insert(faint.end(), std::make_move_iterator(curves.begin()),
                 std::make_move_iterator(curves.end()));
    return faint;
}

std::string RunList::label(OpenedResults& results) {
    const std::size_t count = results.runs.list().size();
    return count == 0 ? "Runs" : fmt::format("Runs ({})", count);
}

float RunList::button_width(const Topics& work) {
    return ImGui::CalcTextSize(fmt::format("{} {}", icon::list, label(work.results)).c_str()).x +
           2 * ImGui::GetStyle().FramePadding.x;
}

void RunList::name_of(Topics& work, const KeptRun& run) {
    if (renamed_ == run.number) {
        const Typed typed =
            name_field("##name", new_name_, takes_focus_, "Enter takes the name, Escape leaves it");
        if (typed == Typed::entered)
            later_ = [&work, number = run.number, name = new_name_] {
                try {
                    work.results.runs.rename(number, name);
                } catch (const Error& error) {
                    work.messages.fail(error);
                }
            };
        if (typed != Typed::goes_on) renamed_ = 0;
        return;
    }
    ImGui::AlignTextToFramePadding();
    ImGui::PushStyleColor(ImGuiCol_Text, rgb(curve_colors[is_faint(run) ? gray : color_of(run)]));
    ImGui::TextUnformatted(icon::area);
    ImGui::PopStyleColor();
    tip("Its color in the plot");
    ImGui::SameLine(0, px(5));
    const std::string shown = cut_to(run.name, ImGui::GetContentRegionAvail().x);
    if (ImGui::Selectable((shown + "###name").c_str(), false,
                          ImGuiSelectableFlags_NoAutoClosePopups)) {
        renamed_ = run.number;
        new_name_ = run.name;
        takes_focus_ = true;
    }
    tip(fmt::format("{}, of {}: {} iterations{}\nA click: type another name", run.name, run.scene,
                    run.iterations.empty() ? 0.0 : run.iterations.back(),
                    run.ended.empty() ? "" : "; " + run.ended));
}

void RunList::row(Topics& work, const KeptRun& run) {
    ImGui::PushID(static_cast<int>(run.number));
    ImGui::TableNextRow();
    ++rows_;
    ImGui::TableNextColumn();
    if (icon_button("eye", run.shown ? icon::visible : icon::hidden,
                    run.shown ? "It is drawn; a click hides it" : "It is hidden; a click draws it"))
        later_ = [&work, number = run.number, on = !run.shown] {
            work.results.runs.show(number, on);
        };
    ImGui::TableNextColumn();
    name_of(work, run);
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(number_text(run.best_loss, 4).c_str());
    tip(fmt::format("Its lowest loss, in iteration {}: {}", run.best_iteration,
                    number_text(run.best_loss, 12)));
    ImGui::TableNextColumn();
    const bool known = run.found != nullptr;
    if (icon_button("take", icon::accept,
                    !known ? "The parameters of its best iteration are not known"
                    : work.scene.is_open()
                        ? "Take this one: writes the parameters of its best iteration into the "
                          "scene; can be undone"
                        : "Open a scene first",
                    known && work.scene.is_open()))
        later_ = [&work, name = run.name, values = run.values()] {
            work.values.use({.name = "Take " + name, .values = values});
        };
    ImGui::SameLine(0, px(2));
    if (icon_button("remove", icon::remove, "Takes it out of the list"))
        later_ = [&work, number = run.number] { work.results.runs.remove(number); };
    ImGui::PopID();
}

// The starts of one optimization: the best one, and the others on demand.
void RunList::group(Topics& work, std::size_t first, std::size_t end) {
    const std::vector<KeptRun>& list = work.results.runs.list();
    const std::size_t number = list[first].group;
    ImGui::PushID(static_cast<int>(number));
    ImGui::PushID("group");
    const bool all = std::all_of(list.begin() + static_cast<std::ptrdiff_t>(first),
                                 list.begin() + static_cast<std::ptrdiff_t>(end),
                                 [](const KeptRun& run) { return run.shown; });
    ImGui::TableNextRow();
    ++rows_;
    ImGui::TableNextColumn();
    if (icon_button("eye", all ? icon::visible : icon::hidden,
                    all ? "All are drawn; a click hides them" : "A click draws all of them"))
        later_ = [&work, first, end, all] {
            for (std::size_t k = first; k < end; ++k) {
                const std::uint64_t one = work.results.runs.list()[k].number;
                work.results.runs.show(one, !all);
            }
        };
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    const std::string name = list[first].name.substr(0, list[first].name.rfind(" start"));
    const bool open = ImGui::TreeNodeEx(
        "starts", ImGuiTreeNodeFlags_SpanAvailWidth | ImGuiTreeNodeFlags_FramePadding, "%s",
        cut_to(fmt::format("{}: {} starts", name, end - first), px(150)).c_str());
    tip(fmt::format("{}: {} starts of one optimization. A click lists them all", name,
                    end - first));
    ImGui::TableNextColumn();
    ImGui::TableNextColumn();
    ImGui::Dummy({ImGui::GetFrameHeight() + px(4), 1});
    ImGui::SameLine(0, px(2));
    if (icon_button("remove", icon::remove, "Takes all of them out of the list"))
        later_ = [&work, number] { work.results.runs.remove_group(number); };
    if (open) ImGui::TreePop();
    ImGui::PopID();
    ImGui::PopID();
    for (std::size_t k = first; k < end; ++k)
        if (open || list[k].best_of_group) row(work, list[k]);
}

void RunList::draw(Topics& work) {
    const std::vector<KeptRun>& list = work.results.runs.list();
    if (text_button(icon::list, label(work.results) + "###runs",
                    "Optimizations that are kept, to be compared with the present one"))
        ImGui::OpenPopup("runs");
    ImGui::SetNextWindowSizeConstraints({px(330), 0}, {px(420), px(360)});
    if (!ImGui::BeginPopup("runs")) return;
    const session::Snapshot& now = work.running.now();
    const bool any = now.optimization.history && !now.optimization.history->empty();
    if (text_button(
            icon::flag, "Keep this run",
            any ? "Keeps the curves of the optimization that is shown, from where it began, "
                  "under the name of its method"
                : "There is no iteration yet: press O to optimize",
            any, list.empty())) {
        const std::int64_t shown = now.optimization.shown_iteration >= 0
                                       ? now.optimization.shown_iteration
                                       : now.optimization.history->back().iteration;
        try {
            work.results.runs.add(
                session::run_of(now, shown, method_of(now.optimization.optimizer)));
        } catch (const Error& error) {
            work.messages.fail(error);
        }
    }
    ImGui::SameLine(0, px(6));
    if (text_button(icon::open, "Open...",
                    "Curves of a folder of results: of hindcast optimize, with all its starts")) {
        work.requests.show_open_results = true;
        ImGui::CloseCurrentPopup();
    }
    if (list.empty())
        quiet_text("Kept runs are drawn beside the present one.");
    else if (ImGui::BeginTable(
                 "list", 4,
                 ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_PadOuterX,
                 {px(390), std::clamp(static_cast<float>(rows_) + 1.3F, 2.3F, 9.3F) *
                               ImGui::GetFrameHeightWithSpacing()})) {
        const float side = ImGui::GetFrameHeight() + px(4);
        ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, side);
        ImGui::TableSetupColumn("Run", ImGuiTableColumnFlags_WidthStretch);
        ImGui::TableSetupColumn("Best loss", ImGuiTableColumnFlags_WidthFixed,
                                ImGui::CalcTextSize("-1.234e-05").x);
        ImGui::TableSetupColumn("##what", ImGuiTableColumnFlags_WidthFixed, 2 * side + px(4));
        ImGui::TableSetupScrollFreeze(0, 1);
        static constexpr const char* helps[] = {"Whether it is drawn", "What it is called",
                                                "The lowest loss that it came to", ""};
        table_headers(helps);
        rows_ = 0;
        for (std::size_t k = 0; k < list.size();) {
            std::size_t end = k + 1;
            while (list[k].group != 0 && end < list.size() && list[end].group == list[k].group)
                ++end;
            if (list[k].group != 0)
                group(work, k, end);
            else
                row(work, list[k]);
            k = end;
        }
        ImGui::EndTable();
    }
    if (const auto change = std::exchange(later_, {})) change();
    ImGui::EndPopup();
}

}  // namespace hindcast::gui
