// One line at the bottom: what computes, how numbers reach the screen, how long frames take.
#include <fmt/format.h>
#include <imgui_internal.h>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/window/shell.hpp"
#include "app/gui/work/edits/reports.hpp"
#include "app/gui/work/process_memory.hpp"
#include "app/gui/work/state/measured.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/topics.hpp"
#include "engine/runtime/array/memory.hpp"

namespace hindcast::gui {

void draw_status_bar(Context& context) {
    const Topics& work = context.work;
    const session::Snapshot& now = work.running.now();
    const Measured& measured = work.measured;
    const float height = ImGui::GetTextLineHeight() + px(8);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(10), px(4)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_MenuBarBg));
    const bool open = ImGui::BeginViewportSideBar(
        "##status", ImGui::GetMainViewport(), ImGuiDir_Down, height,
        ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoSavedSettings |
            ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(4);
    if (open) {
        std::string right = "frame " + duration_text(measured.frame_seconds);
        if (shows_run(work))
            right =
                fmt::format("{}x  |  {}  |  draw {}", number_text(now.run.speed_measured, 3), right,
                            duration_text(measured.device_seconds > 0 ? measured.device_seconds
                                                                      : measured.draw_seconds));
        const float width = ImGui::CalcTextSize(right.c_str()).x;
        const float left_end = ImGui::GetWindowWidth() - width - px(26);
        ImGui::SetCursorPosX(ImGui::GetWindowWidth() - width - px(10));
        quiet_text(right);
        tip(fmt::format(
            "Simulated seconds for each second, measured; time of a frame of the window "
            "(longest of late: {}); time of drawing the scene",
            duration_text(measured.longest)));
        ImGui::SameLine(px(10));
        const Palette& colors = style().palette();
        if (now.reports.error) {
            ImGui::PushStyleColor(ImGuiCol_Text, colors.bad);
            cut_text(fmt::format("{}  {}", icon::error, now.reports.error->happened()),
                     left_end - ImGui::GetCursorPosX());
            ImGui::PopStyleColor();
            tip(now.reports.error->what());
            ImGui::SameLine(0, px(16));
        }
        if (const std::size_t count = work.reports.warning_count(); count > 0) {
            ImGui::TextColored(
                colors.warn, "%s",
                fmt::format("{}  {} warning{}", icon::warning, count, count == 1 ? "" : "s")
                    .c_str());
            tip("A click shows what the simulation warns of, and what to do about it");
            if (ImGui::IsItemClicked()) context.work.requests.focus_panel = "Warnings";
            ImGui::SameLine(0, px(16));
        }
        // Items that do not fit are left out.
        const auto item = [&](const std::string& text, const std::string& help,
                              const ImVec4& color) {
            if (ImGui::GetCursorPosX() + ImGui::CalcTextSize(text.c_str()).x > left_end) return;
            ImGui::TextColored(color, "%s", text.c_str());
            tip(help);
            ImGui::SameLine(0, px(16));
        };
        const ImVec4& quiet = colors.quiet;
        if (!now.scene.device.empty())
            item(fmt::format("{}{}{}", now.scene.device, now.scene.precision.empty() ? "" : ", ",
                             now.scene.precision),
                 "What computes the simulation, and in which precision", quiet);
        if (!measured.transport.empty())
            item(fmt::format("transport: {}", measured.transport),
                 "How the solver's numbers reach the picture:\n"
                 "exported: memory of the graphics device that CUDA writes to\n"
                 "imported: memory of the processor that the graphics device reads\n"
                 "mapped: memory of the graphics device that the processor writes to\n"
                 "staging: copied for each frame",
                 quiet);
        item(measured.device, "The graphics device that draws", quiet);
        if (measured.resident_bytes > 0) {
            const bool large = is_large(measured.resident_bytes, measured.most_bytes);
            item(memory_text(measured),
                 fmt::format("Memory of the whole program, as the operating system counts it, of "
                             "the {} that it may have at most{}{}",
                             bytes_text(static_cast<double>(measured.most_bytes)),
                             measured.device_bytes > 0
                                 ? ";\nand memory of the graphics device that draws"
                                 : "",
                             large ? ".\nThis is a large part: save what is unsaved" : ""),
                 large ? colors.warn : quiet);
        }
        if (now.memory.frame_limit > 0)
            item(fmt::format("frames {} of {}",
                             bytes_text(static_cast<double>(now.memory.frame_bytes)),
                             bytes_text(static_cast<double>(now.memory.frame_limit))),
                 "Memory that keeps moments for scrubbing; the oldest iterations are run again "
                 "when they are asked for",
                 quiet);
        if (now.memory.gradient_bytes > 0)
            item("gradients " + bytes_text(static_cast<double>(now.memory.gradient_bytes)),
                 "Memory that the backward pass may take; see the Memory panel", quiet);
    }
    ImGui::End();
}

}  // namespace hindcast::gui
