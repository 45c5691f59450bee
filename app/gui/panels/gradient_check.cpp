// The gradient against finite differences of the loss, entry by entry.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/draw/words.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/work/state/running.hpp"

namespace hindcast::gui {

namespace {

class GradientCheck final : public Panel {
public:
    GradientCheck()
        : Panel("Gradient check", icon::check, Place::bottom,
                "Is the gradient right? Against finite differences of the loss") {}

    void draw(Context& context) override {
        Topics& work = context.work;
        const session::Snapshot& now = work.running.now();
        const Action& action = context.actions["check"];
        if (text_button(icon::check, "Check the gradient", action.help, action.enabled(work)))
            action.run(work);
        if (!now.tools.check || now.tools.check->empty()) {
            empty_state(icon::check, "Not checked yet",
                        "Each entry of the gradient is compared with (L(p+h) - L(p-h)) / 2h: with "
                        "small h for "
                        "whether it is right, with large h for whether the loss is smooth here.");
            return;
        }
        const auto failed = std::ranges::count(*now.tools.check, false, &session::CheckRow::passed);
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        if (failed == 0)
            ImGui::TextColored(style().palette().good, "%s  %s", icon::check,
                               fmt::format("all {} pass", now.tools.check->size()).c_str());
        else
            ImGui::TextColored(
                style().palette().bad, "%s  %s", icon::warning,
                fmt::format("{} of {} do not pass", failed, now.tools.check->size()).c_str());
        if (now.tools.check_at && now.values.flat && *now.tools.check_at != *now.values.flat) {
            ImGui::SameLine();
            ImGui::TextColored(style().palette().warn, "of other parameters than those shown");
        }
        if (!ImGui::BeginTable(
                "rows", 5,
                ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable))
            return;
        ImGui::TableSetupColumn("Entry");
        ImGui::TableSetupColumn("Gradient");
        ImGui::TableSetupColumn("Differences");
        ImGui::TableSetupColumn("Relative error");
        ImGui::TableSetupColumn("Verdict");
        ImGui::TableSetupScrollFreeze(0, 1);
        static constexpr const char* helps[] = {
            "A number that is optimized, or a random direction",
            "dLoss / d(it), by the adjoints of the f64 program. Other panels show those of the "
            "program that runs: in f32 a gradient that is next to 0 is mostly rounding",
            "(L(p+h) - L(p-h)) / 2h, from two runs of the f64 program",
            "Their difference, relative to the largest of the two, of the terms that cancel in "
            "them "
            "(at an optimum), and of a thousandth of the largest entry",
            "ok; a kink: the derivative is another one to each side; not smooth: over wider steps "
            "the "
            "loss does not follow its derivative; WRONG: the differences agree with each other, "
            "and "
            "not with the gradient"};
        table_headers(helps);
        ImGuiListClipper clipper;
        clipper.Begin(static_cast<int>(now.tools.check->size()));
        while (clipper.Step())
            for (int k = clipper.DisplayStart; k < clipper.DisplayEnd; ++k) {
                const session::CheckRow& row = (*now.tools.check)[static_cast<std::size_t>(k)];
                ImGui::TableNextRow();
                ImGui::TableNextColumn();
                cut_text(path_label(row.name), ImGui::GetContentRegionAvail().x);
                ImGui::TableNextColumn();
                ImGui::TextColored(style().palette().gradient, "%s",
                                   number_text(row.gradient, 8).c_str());
                ImGui::TableNextColumn();
                ImGui::TextUnformatted(number_text(row.difference, 8).c_str());
                ImGui::TableNextColumn();
                ImGui::TextUnformatted(number_text(row.error, 3).c_str());
                ImGui::TableNextColumn();
                ImGui::TextColored(row.passed ? style().palette().good : style().palette().bad,
                                   "%s  %s", row.passed ? icon::check : icon::close,
                                   row.verdict.c_str());
            }
        ImGui::EndTable();
    }
};

}  // namespace

std::unique_ptr<Panel> make_gradient_check() { return std::make_unique<GradientCheck>(); }

}  // namespace hindcast::gui
