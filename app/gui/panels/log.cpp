// What the simulation's thread has said.
#include <fmt/format.h>
#include <imgui_internal.h>

#include "app/gui/panels/panel.hpp"

namespace hindcast::gui {

namespace {

class Log final : public Panel {
public:
    Log() : Panel("Log", icon::list, Place::bottom, "What the simulation has said, newest below") {}

    void draw(Context& context) override {
        const auto& log = context.work.now().log;
        if (!log || log->empty()) {
            empty_state(icon::list, "Nothing was said", "Messages of the simulation come here.");
            return;
        }
        ImGui::SetNextItemWidth(px(200));
        search_field("##search", search_, "Find");
        if (ImGui::BeginChild("lines", {0, 0}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
            ImGui::PushFont(look().fonts().fixed, 0);
            for (const session::LogLine& line : *log) {
                if (!matches(line.text, search_)) continue;
                quiet_text(fmt::format("{:9.3f}", line.seconds));
                ImGui::SameLine();
                const ImVec4 colour = line.level == session::LogLine::Level::error
                                          ? look().palette().bad
                                      : line.level == session::LogLine::Level::warning
                                          ? look().palette().warn
                                          : ImGui::GetStyle().Colors[ImGuiCol_Text];
                ImGui::PushStyleColor(ImGuiCol_Text, colour);
                ImGui::TextUnformatted(line.text.c_str());
                ImGui::PopStyleColor();
            }
            ImGui::PopFont();
            if (ImGui::GetScrollY() >= ImGui::GetScrollMaxY()) ImGui::SetScrollHereY(1);
        }
        ImGui::EndChild();
    }

private:
    std::string search_;
};

}  // namespace

std::unique_ptr<Panel> make_log() { return std::make_unique<Log>(); }

}  // namespace hindcast::gui
