// The two axes of what is shown: simulated time, and the iteration of the optimization. Both can be
// scrubbed at any moment; the bar under each slider says what is computed.
#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/input/actions.hpp"
#include "app/gui/places/labels.hpp"
#include "app/gui/window/shell.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/topics.hpp"
#include "app/gui/work/view/camera_track.hpp"

namespace hindcast::gui {

namespace {

constexpr float speed_width = 64;

struct Mark {
    double at;  // 0 .. 1
    ImVec4 color;
};

// A slider over whole numbers with what is there already shown in its track. True while moved.
bool scrub(const char* id, std::int64_t& value, std::int64_t first, std::int64_t last,
           double computed, const std::vector<Mark>& marks, const std::string& tooltip) {
    const float height = ImGui::GetFrameHeight(), width = ImGui::GetContentRegionAvail().x;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton(id, {std::max(width, px(20)), height});
    const bool active = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
    const float inset = px(7), reach = std::max(width - 2 * inset, 1.0F);
    bool moved = false;
    if (active && last > first) {
        const double part = std::clamp(
            static_cast<double>((ImGui::GetIO().MousePos.x - at.x - inset) / reach), 0.0, 1.0);
        const std::int64_t wanted =
            first +
            static_cast<std::int64_t>(std::llround(part * static_cast<double>(last - first)));
        moved = wanted != value;
        value = wanted;
    }
    ImDrawList* list = ImGui::GetWindowDrawList();
    const Palette& colors = style().palette();
    const float middle = std::floor(at.y + height / 2), thick = px(4);
    const auto x_of = [&](double part) { return at.x + inset + reach * static_cast<float>(part); };
    list->AddRectFilled({x_of(0), middle - thick / 2}, {x_of(1), middle + thick / 2},
                        ImGui::GetColorU32(ImGuiCol_FrameBgActive), thick / 2);
    ImVec4 there = colors.accent;
    there.w = 0.45F;
    if (computed > 0)
        list->AddRectFilled({x_of(0), middle - thick / 2},
                            {x_of(std::min(computed, 1.0)), middle + thick / 2},
                            ImGui::GetColorU32(there), thick / 2);
    for (const Mark& mark : marks)
        list->AddLine({x_of(mark.at), middle - px(7)}, {x_of(mark.at), middle + px(7)},
                      ImGui::GetColorU32(mark.color), px(2));
    const double part =
        last > first ? static_cast<double>(value - first) / static_cast<double>(last - first) : 0;
    const float knob = active ? px(8) : hovered ? px(7.5F) : px(6.5F);
    list->AddCircleFilled({x_of(std::clamp(part, 0.0, 1.0)), middle}, knob,
                          ImGui::GetColorU32(colors.accent));
    tip(tooltip);
    return moved;
}

// A value that was set stays shown until the simulation's thread has taken it up.
struct Held {
    std::int64_t value = 0;
    double until = 0;
    std::int64_t show(std::int64_t newest) const {
        if (ImGui::GetTime() >= until) return newest;
        frame_wishes().want(FrameReason::timer, until - ImGui::GetTime());
        return value;
    }
    void set(std::int64_t wanted) {
        value = wanted;
        until = ImGui::GetTime() + 0.25;
    }
};

std::string speed_text(double speed) {
    return speed == 0 ? "fastest" : number_text(speed, 3) + "x";
}

// Simulated seconds for each second: any number, and those that are wanted most.
void speed(Running& running) {
    const session::Snapshot& now = running.now();
    const auto lasts = [&](double at) {
        return now.run.steps > 0 ? "\nThe scene lasts " + duration_text(running.duration() / at)
                                 : "";
    };
    const double asked = running.speed();
    NumberField field{.value = asked == 0 ? 1 : asked,
                      .low = 1e-5,
                      .high = 1e3,
                      .width = px(speed_width),
                      .tooltip = fmt::format(
                          "Speed: simulated seconds for each second of yours{}\nMeasured: {}x",
                          asked == 0 ? "" : lasts(asked), number_text(now.run.speed_measured, 3)),
                      .logarithmic = true,
                      .shown = speed_text(asked)};
    if (const Edited edited = number_field("##speed", field); edited != Edited::no) {
        // Dragged, to three digits.
        const double digits = std::pow(10, std::floor(std::log10(field.value)) - 2);
        running.set_speed(edited == Edited::dragging ? std::round(field.value / digits) * digits
                                                     : field.value);
    }
    ImGui::SameLine(0, 0);
    if (ImGui::BeginCombo("##speeds", "", ImGuiComboFlags_NoPreview)) {
        const double fitting = session::fitting_speed(running.duration());
        std::vector<double> all{0.1, 0.25, 0.5, 1, 2, 4};
        if (std::ranges::find(all, fitting) == all.end())
            all.insert(std::ranges::upper_bound(all, fitting), fitting);
        all.push_back(0);
        for (const double s : all) {
            if (ImGui::Selectable(s == 0 ? "as fast as possible" : speed_text(s).c_str(),
                                  s == asked))
                running.set_speed(s);
            tip(s == 0 ? "Shows what is computed as it comes; a complete run passes in a second at "
                         "most, and never slower than in real time"
                       : "Simulated seconds for each second of yours" + lasts(s));
        }
        ImGui::EndCombo();
    }
    tip("Speeds to choose from");
}

// The text beside the sliders: in full, in short, or only in the tooltips, so that the sliders
// stay long enough to be dragged.
enum class Beside { full, brief, nothing };

struct Layout {
    Beside beside = Beside::full;
    float label = 0, left = 0;  // width of the text, where sliders begin
    bool all = true;            // all buttons
};

Layout layout() {
    constexpr float least_slider = 120;
    const float row = ImGui::GetFrameHeight(), width = ImGui::GetWindowWidth();
    const auto wide = [](const char* text) { return ImGui::CalcTextSize(text).x; };
    Layout found;
    const auto begin = [&](int buttons) {
        return px(8) + static_cast<float>(buttons) * (row + px(4) + px(2)) - px(2) + px(6) +
               px(speed_width) + row + px(8);
    };
    found.left = begin(7);
    found.label = wide("888.888 ms  |  step 888888 of 888888");
    const auto fits = [&] { return width - found.left - found.label - px(18) >= px(least_slider); };
    if (fits()) return found;
    found.beside = Beside::brief;
    found.label = wide("888.888 ms");
    if (fits()) return found;
    found.all = false;
    found.left = begin(3);
    if (fits()) return found;
    found.beside = Beside::nothing;
    found.label = 0;
    return found;
}

void more_of_time(Context& context) {
    Topics& work = context.work;
    if (icon_button("loop", icon::repeat, "Loop\nPlaying begins again at the end", true,
                    work.running.looping)) {
        work.running.looping = !work.running.looping;
        work.running.send(session::Repeat{work.running.looping});
    }
    ImGui::SameLine(0, px(2));
    context.actions.button("camera_key", work);
    ImGui::SameLine(0, px(6));
}

void time_axis(Context& context, const Layout& layout) {
    const float label_width = layout.label;
    Topics& work = context.work;
    const session::Snapshot& now = work.running.now();
    const std::vector<const char*> all{"home", "step_back", "play", "step", "end"};
    const std::vector<const char*> few{"step_back", "play", "step"};
    for (const char* id : layout.all ? all : few) {
        context.actions.button(id, work);
        ImGui::SameLine(0, layout.all || id != few.back() ? px(2) : px(6));
    }
    if (layout.all) more_of_time(context);
    speed(work.running);
    ImGui::SameLine();

    static Held held;
    const bool between = !now.run.playing && now.run.step != now.run.step_asked;
    std::int64_t step =
        std::min(held.show(now.run.playing ? now.run.step : now.run.step_asked), now.run.steps);
    const double seconds = static_cast<double>(step) * now.run.step_seconds;
    // A step that is not kept is computed; until then the one before it stands in the picture.
    const std::string text =
        between ? fmt::format("step {}, coming: {}", now.run.step, now.run.step_asked)
                : fmt::format("{}  |  step {} of {}", moment_text(seconds, work.running.duration()),
                              step, now.run.steps);
    const float slider =
        ImGui::GetContentRegionAvail().x - (label_width > 0 ? label_width + px(10) : 0);
    ImGui::BeginChild("##time", {slider, ImGui::GetFrameHeight()}, 0,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoBackground);
    const double computed = now.run.steps > 0 ? static_cast<double>(now.run.steps_computed) /
                                                    static_cast<double>(now.run.steps)
                                              : 0;
    std::vector<Mark> keys;
    const double end = work.running.duration();
    for (const session::CameraKey& key : work.camera.path().keys())
        if (end > 0 && key.time <= end) keys.push_back({key.time / end, style().palette().warn});
    if (scrub("time slider", step, 0, now.run.steps, computed, keys,
              fmt::format(
                  "{}\n\nSimulated time\nDrag to any moment. Computed up to {}.{}", text,
                  moment_text(static_cast<double>(now.run.steps_computed) * now.run.step_seconds,
                              work.running.duration()),
                  keys.empty() ? "" : "\nYellow: keys of the camera path."))) {
        held.set(step);
        if (now.run.playing) work.running.play(false);
        work.running.send(session::Seek{step});
    }
    ImGui::EndChild();
    if (layout.beside == Beside::nothing) return;
    ImGui::SameLine(0, px(10));
    ImGui::AlignTextToFramePadding();
    cut_text(layout.beside == Beside::full ? text : moment_text(seconds, work.running.duration()),
             ImGui::GetContentRegionAvail().x);
}

void iteration_axis(Context& context, const Layout& layout) {
    const float label_width = layout.label;
    Topics& work = context.work;
    const session::Snapshot& now = work.running.now();
    for (const char* id : {"ghost", "branch", "accept"}) {
        context.actions.button(id, work);
        ImGui::SameLine(0, px(2));
    }
    ImGui::AlignTextToFramePadding();
    ImGui::SameLine(0, px(8));
    cut_text("Iteration", layout.left - ImGui::GetCursorPosX() - px(8));
    tip("The second axis: every iteration of the optimization in this session can be shown again, "
        "also those from before an edit of the scene");
    ImGui::SameLine(layout.left);
    const bool any = now.optimization.history && !now.optimization.history->empty();
    const float width =
        ImGui::GetContentRegionAvail().x - (label_width > 0 ? label_width + px(10) : 0);
    if (!any) {
        ImGui::AlignTextToFramePadding();
        ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
        cut_text(now.values.present_parameters().empty()
                     ? "Nothing to optimize yet: lock a quantity of the inspector into the "
                       "optimization"
                     : "No iterations yet: press O to optimize",
                 ImGui::GetContentRegionAvail().x);
        ImGui::PopStyleColor();
        return;
    }
    const auto& history = *now.optimization.history;
    const std::int64_t first = history.front().iteration, last = history.back().iteration;
    const std::int64_t planned = std::max(last, now.optimization.iterations_planned);
    static Held held;
    std::int64_t shown =
        held.show(now.optimization.shown_iteration < 0 ? last : now.optimization.shown_iteration);
    // The state shown belongs to no iteration.
    const bool none =
        now.optimization.shown_iteration < 0 && !work.running.is_optimizing() && held.show(-1) < 0;
    std::vector<Mark> marks;
    const auto part = [&](std::int64_t i) {
        return planned > first
                   ? static_cast<double>(i - first) / static_cast<double>(planned - first)
                   : 0;
    };
    for (std::size_t k = 1; k < history.size(); ++k)
        if (history[k].build != history[k - 1].build)
            marks.push_back({part(history[k].iteration), style().palette().quiet});
    const bool edited = !marks.empty();
    if (now.optimization.best_iteration >= 0)
        marks.push_back({part(now.optimization.best_iteration), style().palette().good});
    if (now.optimization.ghost_iteration >= 0)
        marks.push_back({part(now.optimization.ghost_iteration), style().palette().ghost});
    const auto row = std::ranges::find(history, shown, &session::IterationInfo::iteration);
    const std::string text =
        none ? fmt::format("{}  |  loss {}", no_iteration_word(now), number_text(now.run.loss, 4))
             : fmt::format("{} of {}  |  loss {}", shown, planned,
                           number_text(row != history.end() ? row->loss : now.run.loss, 4));
    ImGui::BeginChild("##iterations", {width, ImGui::GetFrameHeight()}, 0,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoBackground);
    if (scrub("iteration slider", shown, first, planned, part(last), marks,
              fmt::format(
                  "{}\n\nIteration of the optimization\nDrag to look at an earlier one.{}{}", text,
                  now.optimization.best_iteration >= 0
                      ? fmt::format(" Best: {} (green).", now.optimization.best_iteration)
                      : "",
                  edited ? "\nGray: from there on of an edited scene. Iterations before "
                           "an edit are shown as the scene was then."
                         : ""))) {
        shown = std::min(shown, last);
        held.set(shown);
        work.running.send(session::ShowIteration{shown == last && work.running.is_optimizing()
                                                     ? std::nullopt
                                                     : std::optional<std::int64_t>(shown)});
    }
    ImGui::EndChild();
    if (layout.beside == Beside::nothing) return;
    ImGui::SameLine(0, px(10));
    ImGui::AlignTextToFramePadding();
    cut_text(layout.beside == Beside::full ? text
             : none                        ? no_iteration_word(now)
                                           : std::to_string(shown),
             ImGui::GetContentRegionAvail().x);
    if (none) tip(no_iteration_text(now));
}

}  // namespace

void draw_timeline(Context& context) {
    const float row = ImGui::GetFrameHeight();
    const float height = 2 * row + 2 * px(7) + px(5);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(8), px(7)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(8), px(5)});
    const bool open = ImGui::BeginViewportSideBar(
        "##timeline", ImGui::GetMainViewport(), ImGuiDir_Down, height,
        ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoSavedSettings |
            ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleVar(3);
    if (open) {
        const Layout place = layout();
        time_axis(context, place);
        iteration_axis(context, place);
    }
    ImGui::PopStyleVar();
    ImGui::End();
}

}  // namespace hindcast::gui
