// Five steps through the window at the first start. A step is over when the user has done what it
// says, or at the press of a button; nothing is locked meanwhile.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <array>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/window/shell.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/requests.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/state/settings.hpp"
#include "app/gui/work/topics.hpp"

namespace hindcast::gui {

namespace {

struct Step {
    const char* title;
    const char* text;
    bool (*done)(const Topics&);
};

constexpr int steps = 5;

const std::array<Step, steps>& all_steps() {
    static const std::array<Step, steps> all{{
        {"Open a scene",
         "Each card is a small experiment. Begin with the spring cage: a ball hangs in eight "
         "springs, and is wanted at the cross.",
         [](const Topics& w) { return w.scene.is_open() && w.running.has_run(); }},
        {"Look around",
         "Drag in the picture to turn it, use the wheel to zoom, Space to play. The line below is "
         "time: drag it to any moment.",
         [](const Topics&) { return false; }},
        {"Optimize",
         "Press O, or the blue button. Hindcast runs the scene, goes backwards through it for the "
         "exact gradient, and changes the springs so that the loss falls.",
         [](const Topics& w) {
             return w.running.now().optimization.history &&
                    w.running.now().optimization.history->size() > 5;
         }},
        {"Go back",
         "The second line is the iteration: drag it to see earlier attempts. The inspector on the "
         "right shows every quantity with its gradient in orange.",
         [](const Topics&) { return false; }},
        {"Change what is wanted",
         "Click the target in the scene tree, press W and drag its arrows: the picture and the "
         "loss follow at once. Then press O again: from where it stands, the optimization looks "
         "for the new place. What it finds is not in the scene yet: Ctrl+Enter accepts it, Ctrl+S "
         "saves the scene.",
         [](const Topics&) { return false; }},
    }};
    return all;
}

}  // namespace

void draw_tour(Context& context) {
    Topics& work = context.work;
    if (!work.requests.show_tour) return;
    const auto finish = [&work] {
        work.requests.show_tour = false;
        work.settings.tour_done = true;
        work.settings.save();
    };
    const Step& step = all_steps()[static_cast<std::size_t>(work.requests.tour_step)];
    const ImGuiViewport* screen = ImGui::GetMainViewport();
    ImGui::SetNextWindowPos({screen->WorkPos.x + screen->WorkSize.x - px(16),
                             screen->WorkPos.y + screen->WorkSize.y - px(16)},
                            ImGuiCond_Always, {1, 1});
    ImGui::SetNextWindowSize({px(310), 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(14), px(12)});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyle().Colors[ImGuiCol_PopupBg]);
    ImGui::PushStyleColor(ImGuiCol_Border, style().palette().accent);
    ImGui::Begin("Tour", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoDocking |
                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_AlwaysAutoResize);
    ImGui::PopStyleColor(2);
    ImGui::PopStyleVar();
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    ImGui::PushFont(style().fonts().bold, 0);
    ImGui::TextUnformatted(step.title);
    ImGui::PopFont();
    ImGui::SameLine(right_edge() - px(34));
    quiet_text(fmt::format("{} of {}", work.requests.tour_step + 1, steps));
    wrapped_text(step.text, ImGui::GetStyle().Colors[ImGuiCol_Text]);
    ImGui::Spacing();
    const bool last = work.requests.tour_step + 1 == steps, done = step.done(work);
    if (text_button(nullptr, "Leave the tour", "It can be had again from the menu Help")) finish();
    ImGui::SameLine(right_edge() - px(90));
    if (text_button(nullptr, last ? "Done" : "Next",
                    last ? "Ends the tour" : "The next step of the tour", true, true, px(90)) ||
        done) {
        if (last)
            finish();
        else
            ++work.requests.tour_step;
    }
    ImGui::End();
}

}  // namespace hindcast::gui
