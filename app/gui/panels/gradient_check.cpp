// The gradient against finite differences of the loss, entry by entry.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/panels/panel.hpp"

namespace hindcast::gui {

namespace {

class GradientCheck final : public Panel {
public:
    GradientCheck()
        : Panel("Gradient check", icon::check, Place::bottom,
                "Is the gradient right? Against finite differences of the loss") {}

    void draw(Context& context) override {
        Workspace& work = context.work;
        const session::Snapshot& now = work.now();
        const Action& action = context.actions["check"];
        if (text_button(icon::check, "Check the gradient", action.help, action.enabled(work)))
            action.run(work);
        if (!now.check || now.check->empty()) {
            empty_state(icon::check, "Not checked yet",
                        "Each entry of the gradient is compared with (L(p+h) - L(p-h)) / 2h.");
            return;
        }
        const auto failed = std::ranges::count(*now.check, false, &session::CheckRow::passed);
        ImGui::SameLine();
        ImGui::AlignTextToFramePadding();
        if (failed == 0)
            ImGui::TextColored(look().palette().good, "%s  %s", icon::check,
                               fmt::format("all {} agree", now.check->size()).c_str());
        else
            ImGui::TextColored(look().palette().bad, "%s  %s", icon::warning,
                               fmt::format("{} of {} differ", failed, now.check->size()).c_str());
        if (!ImGui::BeginTable(
                "rows", 5,
                ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable))
            return;
        ImGui::TableSetupColumn("Entry");
        ImGui::TableSetupColumn("Gradient");
        ImGui::TableSetupColumn("Differences");
        ImGui::TableSetupColumn("Relative error");
        ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, px(28));
        ImGui::TableSetupScrollFreeze(0, 1);
        static constexpr const char* helps[] = {
            "A number that is optimised", "dLoss / d(it), by the adjoints",
            "(L(p+h) - L(p-h)) / 2h, from two runs",
            "Their difference, relative to the larger of the two",
            "Whether they agree, within what rounding explains"};
        table_headers(helps);
        ImGuiListClipper clipper;
        clipper.Begin(static_cast<int>(now.check->size()));
        while (clipper.Step())
            for (int k = clipper.DisplayStart; k < clipper.DisplayEnd; ++k) {
                const session::CheckRow& row = (*now.check)[static_cast<std::size_t>(k)];
                ImGui::TableNextRow();
                ImGui::TableNextColumn();
                ImGui::TextUnformatted(row.name.c_str());
                ImGui::TableNextColumn();
                ImGui::TextColored(look().palette().gradient, "%s",
                                   number_text(row.gradient, 8).c_str());
                ImGui::TableNextColumn();
                ImGui::TextUnformatted(number_text(row.difference, 8).c_str());
                ImGui::TableNextColumn();
                ImGui::TextUnformatted(number_text(row.error, 3).c_str());
                ImGui::TableNextColumn();
                ImGui::TextColored(row.passed ? look().palette().good : look().palette().bad, "%s",
                                   row.passed ? icon::check : icon::close);
                tip(row.passed ? "They agree" : "They differ by more than rounding explains");
            }
        ImGui::EndTable();
    }
};

}  // namespace

std::unique_ptr<Panel> make_gradient_check() { return std::make_unique<GradientCheck>(); }

}  // namespace hindcast::gui
