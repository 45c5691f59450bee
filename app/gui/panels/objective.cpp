// The terms of the loss: weight, value and share of each.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <cmath>

#include "app/gui/panels/panel.hpp"

namespace hindcast::gui {

namespace {

class Objective final : public Panel {
public:
    Objective()
        : Panel("Objective", icon::target, Place::left_bottom,
                "What is wanted: the terms whose weighted sum is the loss") {}

    void draw(Context& context) override {
        Workspace& work = context.work;
        const session::Snapshot& now = work.now();
        if (now.terms.empty()) {
            empty_state(icon::target, "Nothing is wanted yet",
                        "Add an objective in the scene tree; its terms make the loss.");
            return;
        }
        ImGui::PushFont(look().fonts().bold, font_size * 1.5F);
        ImGui::TextUnformatted(number_text(now.loss, 5).c_str());
        ImGui::PopFont();
        ImGui::SameLine();
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(6));
        quiet_text("loss of what is shown");
        double total = 0;
        for (const session::TermInfo& term : now.terms) total += std::abs(term.weight * term.value);
        if (!ImGui::BeginTable("terms", 3, ImGuiTableFlags_ScrollY)) return;
        ImGui::TableSetupColumn("Term");
        ImGui::TableSetupColumn("Weight", ImGuiTableColumnFlags_WidthFixed, px(76));
        ImGui::TableSetupColumn("Value", ImGuiTableColumnFlags_WidthFixed, px(72));
        ImGui::TableSetupScrollFreeze(0, 1);
        ImGui::TableHeadersRow();
        for (const session::TermInfo& term : now.terms) {
            const std::string pointer = work.pointer_of(term.name);
            ImGui::PushID(term.name.c_str());
            ImGui::TableNextRow();
            ImGui::TableNextColumn();
            ImGui::AlignTextToFramePadding();
            if (ImGui::Selectable(term.name.c_str(), work.selection().pointer == pointer))
                work.select({pointer, -1, ""});
            tip("Shows this term in the inspector");
            ImGui::TableNextColumn();
            NumberField weight{.value = term.weight,
                               .unit = "",
                               .low = 0,
                               .tooltip = "Factor of this term in the loss"};
            const Edited edited = number_field("##weight", weight);
            if (edited != Edited::no && !pointer.empty())
                work.set(pointer + "/weight", document::Node(weight.value),
                         "Weight of " + term.name, "weight");
            if (edited == Edited::done) work.edit([](session::Editor& e) { e.end_merge(); });
            ImGui::TableNextColumn();
            const ImVec2 at = ImGui::GetCursorScreenPos();
            const float share =
                total > 0 ? static_cast<float>(std::abs(term.weight * term.value) / total) : 0;
            ImVec4 colour = look().palette().accent;
            colour.w = 0.3F;
            ImGui::GetWindowDrawList()->AddRectFilled(
                at,
                {at.x + share * ImGui::GetContentRegionAvail().x, at.y + ImGui::GetFrameHeight()},
                ImGui::GetColorU32(colour), px(3));
            ImGui::AlignTextToFramePadding();
            ImGui::SetCursorPosX(ImGui::GetCursorPosX() + px(4));
            ImGui::TextUnformatted(number_text(term.value, 4).c_str());
            tip(fmt::format("{}: value {}, {:.0f} % of the loss", term.name,
                            number_text(term.value, 9), share * 100));
            ImGui::PopID();
        }
        ImGui::EndTable();
    }
};

}  // namespace

std::unique_ptr<Panel> make_objective() { return std::make_unique<Objective>(); }

}  // namespace hindcast::gui
