// What the simulation spends its time on: one row for each launch and direction.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/panels/panel.hpp"

namespace hindcast::gui {

namespace {

class Launches final : public Panel {
public:
    Launches()
        : Panel("Launches", icon::speed, Place::bottom,
                "Time and bandwidth of every kernel launch") {}

    void draw(Context& context) override {
        Workspace& work = context.work;
        if (ImGui::Checkbox("Measure", &measure_)) work.send(session::Profile{measure_});
        tip("Times every launch; costs a few per cent");
        const auto& launches = work.now().launches;
        if (launches.empty()) {
            empty_state(icon::speed, "Nothing measured yet",
                        "Switch measuring on, then simulate or optimise.");
            return;
        }
        double total = 0;
        for (const session::LaunchInfo& l : launches) total += l.seconds;
        ImGui::SameLine();
        quiet_text(fmt::format("{} in all", duration_text(total)));
        if (!ImGui::BeginTable("launches", 7,
                               ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                   ImGuiTableFlags_Sortable | ImGuiTableFlags_Resizable))
            return;
        ImGui::TableSetupColumn("Launch");
        ImGui::TableSetupColumn("Direction", ImGuiTableColumnFlags_WidthFixed, px(80));
        ImGui::TableSetupColumn("Runs", ImGuiTableColumnFlags_WidthFixed, px(64));
        ImGui::TableSetupColumn("Total",
                                ImGuiTableColumnFlags_WidthFixed |
                                    ImGuiTableColumnFlags_DefaultSort |
                                    ImGuiTableColumnFlags_PreferSortDescending,
                                px(76));
        ImGui::TableSetupColumn("Each", ImGuiTableColumnFlags_WidthFixed, px(70));
        ImGui::TableSetupColumn("Share", ImGuiTableColumnFlags_WidthFixed, px(90));
        ImGui::TableSetupColumn("GB/s", ImGuiTableColumnFlags_WidthFixed, px(56));
        ImGui::TableSetupScrollFreeze(0, 1);
        ImGui::TableHeadersRow();
        std::vector<const session::LaunchInfo*> rows;
        for (const session::LaunchInfo& l : launches) rows.push_back(&l);
        if (const ImGuiTableSortSpecs* sort = ImGui::TableGetSortSpecs();
            sort != nullptr && sort->SpecsCount > 0) {
            const int column = sort->Specs[0].ColumnIndex;
            const bool up = sort->Specs[0].SortDirection == ImGuiSortDirection_Ascending;
            const auto each = [](const session::LaunchInfo& l) {
                return l.runs > 0 ? l.seconds / static_cast<double>(l.runs) : 0;
            };
            std::ranges::stable_sort(rows, [&](const auto* a, const auto* b) {
                if (!up) std::swap(a, b);
                switch (column) {
                    case 0: return a->name < b->name;
                    case 1: return a->direction < b->direction;
                    case 2: return a->runs < b->runs;
                    case 4: return each(*a) < each(*b);
                    default: return a->seconds < b->seconds;
                }
            });
        }
        for (const session::LaunchInfo* l : rows) {
            const double each = l->runs > 0 ? l->seconds / static_cast<double>(l->runs) : 0;
            const float share = total > 0 ? static_cast<float>(l->seconds / total) : 0;
            ImGui::TableNextRow();
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(l->name.c_str());
            ImGui::TableNextColumn();
            if (l->direction == "forward")
                quiet_text(l->direction);
            else
                ImGui::TextColored(look().palette().gradient, "%s", l->direction.c_str());
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(fmt::format("{}", l->runs).c_str());
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(duration_text(l->seconds).c_str());
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(duration_text(each).c_str());
            ImGui::TableNextColumn();
            ImGui::ProgressBar(share, {-FLT_MIN, ImGui::GetTextLineHeight()},
                               fmt::format("{:.0f} %", share * 100).c_str());
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(
                each > 0 && l->bytes > 0 ? number_text(l->bytes / each / 1e9, 3).c_str() : "-");
            tip(fmt::format("{} read and written by one run", bytes_text(l->bytes)));
        }
        ImGui::EndTable();
    }

private:
    bool measure_ = false;
};

}  // namespace

std::unique_ptr<Panel> make_launches() { return std::make_unique<Launches>(); }

}  // namespace hindcast::gui
