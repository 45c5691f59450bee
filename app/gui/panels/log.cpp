// Messages of the simulation's thread, the program and its libraries.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "app/gui/panels/panel.hpp"
#include "app/gui/work/state/messages.hpp"
#include "app/gui/work/state/process_log.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/text_view.hpp"

namespace hindcast::gui {

namespace {

using session::LogLine;

class Log final : public Panel {
public:
    Log()
        : Panel("Log", icon::list, Place::bottom,
                "What the simulation and the program have said, newest below") {}

    void draw(Context& context) override {
        Topics& work = context.work;
        gather(work);
        if (lines_.empty()) {
            empty_state(icon::list, "Nothing was said",
                        "Messages of the simulation and of the program come here.");
            return;
        }
        static constexpr const char* levels[][2] = {
            {"Notes", "What was done"},
            {"Warnings", "What may not be as it was meant"},
            {"Errors", "What has failed, with what to do about it"}};
        for (std::size_t k = 0; k < std::size(levels); ++k) {
            const auto count = std::ranges::count_if(lines_, [k](const LogLine& line) {
                return line.level == static_cast<LogLine::Level>(k);
            });
            ImGui::Checkbox(fmt::format("{} ({})###{}", levels[k][0], count, levels[k][0]).c_str(),
                            &shown_[k]);
            tip(levels[k][1]);
            ImGui::SameLine();
        }
        ImGui::SetNextItemWidth(std::max(ImGui::GetContentRegionAvail().x - px(152), px(60)));
        ImGui::InputTextWithHint("##search", "Find", search_.data(), search_.size(),
                                 ImGuiInputTextFlags_EscapeClearsAll);
        tip("Shows only lines with these words");
        beside(px(64), 8);
        if (text_button(nullptr, "Copy", "Puts the lines shown on the clipboard", true, false,
                        px(64)))
            ImGui::SetClipboardText(text().c_str());
        beside(px(64), 8);
        if (text_button(
                nullptr, "Save",
                "Writes the lines shown into " + beside_scene(work.scene, file_name).string(), true,
                false, px(64)))
            save_beside_scene(work.scene, work.messages, file_name, text());
        draw_lines();
    }

private:
    static constexpr const char* file_name = "hindcast_log.txt";

    // Merges the lines of both sources by time, only when there is something new.
    void gather(Topics& work) {
        const auto& session = work.running.now().reports.log;
        const std::uint64_t serial = work.messages.log ? work.messages.log->serial() : 0;
        if (session == session_ && serial == serial_) return;
        session_ = session;
        serial_ = serial;
        lines_ = session ? *session : std::vector<LogLine>();
        if (work.messages.log)
            std::ranges::copy(work.messages.log->lines(), std::back_inserter(lines_));
        std::ranges::stable_sort(lines_, {}, &LogLine::seconds);
    }

    bool is_shown(const LogLine& line) const {
        return shown_[static_cast<std::size_t>(line.level)] && matches(line.text, search_.data());
    }

    std::string text() const {
        static constexpr const char* words[] = {"note", "warning", "error"};
        std::string all;
        for (const LogLine& line : lines_)
            if (is_shown(line))
                all += fmt::format("{:9.3f} {}: {}\n", line.seconds,
                                   words[static_cast<std::size_t>(line.level)], line.text);
        return all;
    }

    void draw_lines() const {
        if (ImGui::BeginChild("lines")) {
            ImGui::PushFont(style().fonts().fixed, 0);
            const ImVec4 colors[] = {ImGui::GetStyle().Colors[ImGuiCol_Text],
                                     style().palette().warn, style().palette().bad};
            for (const LogLine& line : lines_) {
                if (!is_shown(line)) continue;
                quiet_text(fmt::format("{:9.3f}", line.seconds));
                ImGui::SameLine();
                wrapped_text(line.text, colors[static_cast<std::size_t>(line.level)]);
            }
            ImGui::PopFont();
            if (ImGui::GetScrollY() >= ImGui::GetScrollMaxY()) ImGui::SetScrollHereY(1);
        }
        ImGui::EndChild();
    }

    std::array<char, 200> search_{};
    std::array<bool, 3> shown_{true, true, true};
    std::vector<LogLine> lines_;
    std::shared_ptr<const std::vector<LogLine>> session_;
    std::uint64_t serial_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_log() { return std::make_unique<Log>(); }

}  // namespace hindcast::gui
