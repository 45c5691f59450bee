// Memory of the backward pass: the checkpoint plan as a picture, in bytes and in words.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/draw/words.hpp"
#include "app/gui/panels/panel.hpp"
#include "app/gui/work/state/measured.hpp"
#include "app/gui/work/state/running.hpp"
#include "engine/runtime/array/memory.hpp"

namespace hindcast::gui {

namespace {

class Memory final : public Panel {
public:
    Memory()
        : Panel("Memory", icon::memory, Place::bottom,
                "What gradients and scrubbing keep: the checkpoint plan as a picture") {}

    void draw(Context& context) override {
        const session::Snapshot& now = context.work.running.now();
        if (now.run.steps == 0 ||
            (now.memory.checkpoint_plan.empty() && now.memory.frame_limit == 0)) {
            empty_state(icon::memory, "No plan yet",
                        "It is made when a gradient is computed for the first time.");
            return;
        }
        const Measured& measured = context.work.measured;
        heading("Program");
        quiet_text(fmt::format("{}, of {} at most", memory_text(measured),
                               bytes_text(static_cast<double>(measured.most_bytes))));
        heading("Gradients");
        wrapped_text(now.memory.checkpoint_plan.empty() ? "not needed: the scene has no parameters"
                                                        : now.memory.checkpoint_plan,
                     ImGui::GetStyle().Colors[ImGuiCol_Text]);
        picture(now.run, now.memory.checkpoints);
        quiet_text(bytes_text(static_cast<double>(now.memory.gradient_bytes)) + " kept");
        heading("Scrubbing");
        const float share = now.memory.frame_limit > 0
                                ? static_cast<float>(static_cast<double>(now.memory.frame_bytes) /
                                                     static_cast<double>(now.memory.frame_limit))
                                : 0;
        ImGui::ProgressBar(
            share, {-FLT_MIN, 0},
            fmt::format("{} of {}", bytes_text(static_cast<double>(now.memory.frame_bytes)),
                        bytes_text(static_cast<double>(now.memory.frame_limit)))
                .c_str());
        tip("Moments of iterations that are in memory; the others are run again when they are "
            "asked for, "
            "with the same bits");
        if (now.memory.older_scene_bytes > 0)
            quiet_text(fmt::format("{} of it for scenes before edits, which iterations belong to",
                                   bytes_text(static_cast<double>(now.memory.older_scene_bytes))));
        if (now.memory.iteration_bytes > 0)
            quiet_text(fmt::format("{} of it for the parameters and gradients of iterations",
                                   bytes_text(static_cast<double>(now.memory.iteration_bytes))));
        if (now.memory.older_simulation_bytes > 0)
            quiet_text(
                fmt::format("{} besides, for the simulation of the older scene shown",
                            bytes_text(static_cast<double>(now.memory.older_simulation_bytes))));
        if (!now.optimization.history) return;
        const auto kept = std::ranges::count(*now.optimization.history, true,
                                             &session::IterationInfo::frames_kept);
        quiet_text(fmt::format("{} of {} iterations in memory; a moment every {} step{}", kept,
                               now.optimization.history->size(), now.run.frame_every,
                               now.run.frame_every == 1 ? "" : "s"));
    }

private:
    // Time from left to right; a mark for each stored state, what lies between is computed again.
    static void picture(const session::RunSnapshot& run,
                        const std::vector<std::int64_t>& checkpoints) {
        const ImVec2 at = ImGui::GetCursorScreenPos(),
                     size{ImGui::GetContentRegionAvail().x, px(44)};
        ImGui::Dummy(size);
        ImDrawList* list = ImGui::GetWindowDrawList();
        list->AddRectFilled(at, {at.x + size.x, at.y + size.y},
                            ImGui::GetColorU32(ImGuiCol_FrameBg), px(4));
        const float inset = px(8), reach = size.x - 2 * inset, middle = at.y + size.y / 2;
        const auto x_of = [&](std::int64_t step) {
            return at.x + inset +
                   reach * static_cast<float>(step) /
                       static_cast<float>(std::max<std::int64_t>(run.steps, 1));
        };
        list->AddLine({x_of(0), middle}, {x_of(run.steps), middle},
                      ImGui::GetColorU32(ImGuiCol_FrameBgActive), px(2));
        const ImU32 color = ImGui::GetColorU32(style().palette().accent);
        const float radius =
            std::clamp(reach / static_cast<float>(std::max<std::size_t>(checkpoints.size(), 1)) / 3,
                       px(1), px(4.5F));
        for (const std::int64_t step : checkpoints)
            list->AddCircleFilled({x_of(step), middle}, radius, color);
        const float x = x_of(run.step);
        list->AddLine({x, at.y + px(5)}, {x, at.y + size.y - px(5)},
                      ImGui::GetColorU32(ImGuiCol_Text), px(1));
        tip("Simulated time from left to right. Each dot is a state that is kept; the steps "
            "between are "
            "computed again on the way back, with the same bits. The line is the moment shown.");
    }
};

}  // namespace

std::unique_ptr<Panel> make_memory() { return std::make_unique<Memory>(); }

}  // namespace hindcast::gui
