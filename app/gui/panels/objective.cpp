// The terms of the loss: weight, value and share of each.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/words.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/work/state/chosen.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/running.hpp"

namespace hindcast::gui {

namespace {

class Objective final : public Panel {
public:
    Objective()
        : Panel("Objective", icon::target, Place::left_bottom,
                "What is wanted: the terms whose weighted sum is the loss") {}

    void draw(Context& context) override {
        Topics& work = context.work;
        const session::Snapshot& now = work.running.now();
        if (now.run.terms.empty()) {
            empty_state(icon::target, "Nothing is wanted yet",
                        "Add an objective in the scene tree; its terms make the loss.");
            return;
        }
        ImGui::PushFont(style().fonts().bold, font_size * 1.5F);
        ImGui::TextUnformatted(number_text(now.run.loss, 5).c_str());
        ImGui::PopFont();
        const char* const what = "loss of what is shown";
        ImGui::SameLine();
        if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(what).x)
            ImGui::NewLine();
        else
            ImGui::SetCursorPosY(ImGui::GetCursorPosY() + px(6));
        quiet_text(what);
        double total = 0;
        for (const session::TermInfo& term : now.run.terms)
            total += std::abs(term.weight * term.value);
        if (!ImGui::BeginTable("terms", 3, ImGuiTableFlags_ScrollY)) return;
        // Numbers first: a name that is cut is its own tooltip.
        const float padding = 2 * ImGui::GetStyle().CellPadding.x;
        const float room = ImGui::GetContentRegionAvail().x - 3 * padding;
        const float value_width = ImGui::CalcTextSize("-8.88e-88").x + px(8);
        const float weight_width =
            std::min(ImGui::CalcTextSize("88888").x + 2 * ImGui::GetStyle().FramePadding.x,
                     (room - value_width) * 0.5F);
        ImGui::TableSetupColumn("Term");
        ImGui::TableSetupColumn("Weight", ImGuiTableColumnFlags_WidthFixed, weight_width);
        ImGui::TableSetupColumn("Value", ImGuiTableColumnFlags_WidthFixed, value_width);
        ImGui::TableSetupScrollFreeze(0, 1);
        static constexpr const char* helps[] = {
            "What is wanted; a click shows it in the inspector", "Factor of the term in the loss",
            "The term as it is, before its weight; the bar is its share of the loss"};
        table_headers(helps);
        for (const session::TermInfo& term : now.run.terms) {
            const std::string pointer = work.scene.pointer_of(term.name);
            ImGui::PushID(term.name.c_str());
            ImGui::TableNextRow();
            ImGui::TableNextColumn();
            ImGui::AlignTextToFramePadding();
            if (ImGui::Selectable(term.name.c_str(), work.chosen.object.pointer == pointer))
                work.chosen.select({pointer, -1, ""});
            tip(term.name + "\nShows this term in the inspector");
            ImGui::TableNextColumn();
            NumberField weight{.value = term.weight,
                               .unit = "",
                               .low = 0,
                               .tooltip = "Factor of this term in the loss"};
            const Edited edited = number_field("##weight", weight);
            if (edited != Edited::no && !pointer.empty())
                work.scene.set(pointer + "/weight", document::Node(weight.value),
                               "Weight of " + term.name, "weight");
            if (edited == Edited::done) work.scene.edit([](session::Editor& e) { e.end_merge(); });
            ImGui::TableNextColumn();
            const ImVec2 at = ImGui::GetCursorScreenPos();
            const float share =
                total > 0 ? static_cast<float>(std::abs(term.weight * term.value) / total) : 0;
            ImVec4 color = style().palette().accent;
            color.w = 0.3F;
            ImGui::GetWindowDrawList()->AddRectFilled(
                at,
                {at.x + share * ImGui::GetContentRegionAvail().x, at.y + ImGui::GetFrameHeight()},
                ImGui::GetColorU32(color), px(3));
            ImGui::AlignTextToFramePadding();
            ImGui::SetCursorPosX(ImGui::GetCursorPosX() + px(4));
            ImGui::TextUnformatted(number_text(term.value, 3).c_str());
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
