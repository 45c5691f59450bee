#include "app/gui/panels/view_controls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/looking/looks_popup.hpp"
#include "app/gui/places/labels.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/frame_wishes.hpp"
#include "app/gui/work/state/running.hpp"
#include "app/gui/work/view/looks.hpp"
#include "app/render/color_map.hpp"

namespace hindcast::gui {

namespace {

using render::ColorMap;

struct MapRow {
    const char* name;
    const char* help;
};
// In the order of ColorMap.
constexpr MapRow maps[] = {
    {"viridis", "Dark blue to yellow: evenly lighter, also for the color-blind and in gray"},
    {"magma", "Black to pale yellow: evenly lighter"},
    {"turbo", "A rainbow: many colors to tell values apart by, not evenly light"},
    {"cool to warm", "Blue through gray to red: for numbers of both signs, symmetric about 0"},
    {"cubehelix", "Black to white with a turn of hue: evenly lighter, also in gray"},
    {"gray", "Black to white in even steps of lightness"},
    {"purple to orange", "Through gray: for numbers of both signs, symmetric about 0"}};
static_assert(std::size(maps) == render::color_maps);

// Fitted lengths as parts of the scene's size: the longest arrow, and the largest height.
constexpr double arrow_part = 0.12, height_part = 0.15;

constexpr float scale_width = 84;  // of the fields of scales
constexpr float most_width = 120;  // of the slider of arrows

constexpr std::int64_t few_arrows = 40;  // are never too many

constexpr double patience = 0.4;  // s, after which it is said that something is computed

double diagonal_of(const render::Stage& stage) {
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += std::pow(stage.high[c] - stage.low[c], 2);
    return sum > 0 ? std::sqrt(sum) : 1;
}

std::vector<std::string> names_of(const std::vector<session::ShownField>& fields) {
    std::vector<std::string> names;
    for (const session::ShownField& field : fields) names.push_back(field.name);
    return names;
}

std::string unit_of(const std::vector<session::ShownField>& fields, const std::string& name) {
    const auto field = std::ranges::find(fields, name, &session::ShownField::name);
    return field == fields.end() ? "" : field->unit;
}

bool has_field(const Running& running) {
    return running.now().scene.stage != nullptr &&
           std::ranges::any_of(running.now().scene.stage->drawables,
                               [](const render::Drawable& drawable) {
                                   return drawable.kind == render::Drawable::Kind::field;
                               });
}

// A length in meters per unit, over many decades.
bool scale_field(const char* id, double& scale, const std::string& tooltip) {
    NumberField field{.value = scale,
                      .low = 1e-12,
                      .high = 1e12,
                      .width = px(scale_width),
                      .tooltip = tooltip,
                      .logarithmic = true,
                      .shown = "x " + number_text(scale, 3)};
    if (number_field(id, field) == Edited::no) return false;
    scale = field.value;
    return true;
}

}  // namespace

void ViewControls::draw(Context& context, ImVec2 at, int width, int height) {
    fit_arrows(context);
    at_ = pen_ = {at.x + px(10), at.y + px(10)};
    right_ = at.x + static_cast<float>(width) - px(10);
    reached_ = at_.x;
    ImVec4 back = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
    back.w = 0.8F;
    ImGui::PushStyleColor(ImGuiCol_FrameBg, back);
    colors(context);
    arrows(context);
    heights(context);
    looks(context);
    ImGui::PopStyleColor();
    // The legend is at the right, below what reaches there; remarks are at the left of it.
    const Topics& work = context.work;
    const bool legend = !work.looks.colors.by.empty() && !work.running.now().view.colors.empty();
    const std::string title =
        legend ? color_title(work.running.now().view.colors, work.looks.colors.by) : "";
    const float wide =
        legend ? std::max(ImGui::CalcTextSize(title.c_str()).x + px(30), px(110)) : 0;
    const float below = pen_.y + ImGui::GetFrameHeight() + px(4);
    const bool collides = reached_ > right_ + px(10) - wide;
    const float down = collides ? below - px(4) - at.y : 0;
    remarks(work, {at.x + px(12), below}, right_ - wide);
    if (legend) color_bar(context, {at.x, at.y + down}, width, height - static_cast<int>(down));
}

// Moves the pen to the place of the next control, of this width: beside the one before or, where
// the picture ends, below.
void ViewControls::place(float width) {
    if (pen_.x > at_.x && pen_.x + width > right_) {
        pen_.x = at_.x;
        pen_.y += ImGui::GetFrameHeight() + px(4);
    }
    ImGui::SetCursorScreenPos(pen_);
    reached_ = std::max(reached_, pen_.x + width);
    pen_.x += width + px(5);
}

float ViewControls::choice_width() const { return std::min(px(168), right_ - at_.x); }

// The longest arrow since the field was chosen has a length that fits the scene: an arrow that
// grows from nothing does not fill the picture at first.
void ViewControls::fit_arrows(Context& context) {
    Topics& work = context.work;
    const auto& stage = work.running.now().scene.stage;
    if (!stage || work.looks.arrows.empty()) {
        longest_of_.clear();
        return;
    }
    if (longest_of_ != work.looks.arrows || stage_ != stage) {
        longest_of_ = work.looks.arrows;
        stage_ = stage;
        longest_ = 0;
    }
    const render::Renderer::Longest measured = context.picture.longest_arrow();
    if (measured.arrows == work.looks.arrows && std::isfinite(measured.length))
        longest_ = std::max(longest_, measured.length);
    if (!work.looks.fit_arrows || !(longest_ > 0)) return;
    work.looks.view.arrow_scale =
        arrow_part * diagonal_of(*stage) / (work.looks.view.arrow_log ? 1 : longest_);
}

void ViewControls::colors(Context& context) {
    Topics& work = context.work;
    const session::Snapshot& now = work.running.now();
    if (now.view.colors.empty()) return;
    std::string chosen = work.looks.colors.by;
    place(choice_width());
    if (choice("##color", names_of(now.view.colors), chosen,
               "Color: what the elements are colored by; gradients are of the loss", choice_width(),
               "plain colors", path_label))
        work.looks.color_by(chosen);
}

void ViewControls::arrows(Context& context) {
    Topics& work = context.work;
    const session::Snapshot& now = work.running.now();
    if (now.view.arrows.empty()) return;
    place(choice_width());
    if (choice("##arrows", names_of(now.view.arrows), work.looks.arrows,
               "Arrows: a vector field at the points; gradients are of the loss\nforce "
               "gradient (1/N): by a force that is held for one step, where no constraint "
               "changes velocities",
               choice_width(), "no arrows", path_label)) {
        work.looks.send_frame_contents();
        work.looks.fit_arrows = true;
    }
    if (work.looks.arrows.empty()) return;
    const std::string unit = unit_of(now.view.arrows, work.looks.arrows);
    const std::string of_unit = unit.empty() ? "for each unit of the field" : "per " + unit;
    const float button = ImGui::GetFrameHeight() + px(4);
    place(px(scale_width) + px(4) + button);  // together
    if (scale_field("##arrow scale", work.looks.view.arrow_scale,
                    work.looks.view.arrow_log ? "Length of the longest arrow, m"
                                              : fmt::format("Length of the arrows: m {}", of_unit)))
        work.looks.fit_arrows = false;
    ImGui::SameLine(0, px(4));
    if (icon_button("fit arrows", icon::frame,
                    work.looks.fit_arrows
                        ? "Fit: the longest arrow so far is an eighth of the scene's size. A drag "
                          "of the number beside ends that"
                        : "Fit: makes the longest arrow an eighth of the scene's size",
                    true, work.looks.fit_arrows)) {
        work.looks.fit_arrows = true;
        longest_ = 0;
    }
    place(ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x +
          ImGui::CalcTextSize("log").x);
    if (ImGui::Checkbox("log", &work.looks.view.arrow_log)) work.looks.fit_arrows = true;
    tip("Length by the logarithm: small arrows stay visible beside large ones");
    most_arrows(work);
}

// The control for the number of arrows drawn, where there are many.
void ViewControls::most_arrows(Topics& work) {
    std::int64_t count = 0;
    for (const render::Drawable& drawable : work.running.now().scene.stage->drawables)
        if (drawable.kind == render::Drawable::Kind::arrows)
            count = std::max(count, drawable.count);
    if (count <= few_arrows) return;
    place(px(most_width));
    std::int64_t most = std::min(work.looks.view.most_arrows, count);
    const std::int64_t least = 10;
    ImGui::SetNextItemWidth(px(most_width));
    if (ImGui::SliderScalar("##most arrows", ImGuiDataType_S64, &most, &least, &count,
                            fmt::format("%lld of {}", count).c_str(),
                            ImGuiSliderFlags_Logarithmic | ImGuiSliderFlags_AlwaysClamp))
        work.looks.view.most_arrows = most;
    tip("Arrows: at most so many, spread evenly over the bodies as they start. Ctrl + click to "
        "type");
}

void ViewControls::looks(Context& context) {
    Topics& work = context.work;
    if (work.running.now().scene.stage == nullptr) return;
    place(ImGui::GetFrameHeight() + px(4));
    looks_button(context);
    if (!work.looks.view.slice || work.looks.is_flat()) return;
    place(slice_controls_width());
    slice_controls(context);
}

void ViewControls::heights(Context& context) {
    Topics& work = context.work;
    if (!work.looks.view.heights || !has_field(work.running)) return;
    place(px(scale_width) + px(4) + ImGui::GetFrameHeight() + px(4));
    scale_field("##height scale", work.looks.view.height_scale,
                "Height of the fields: m for each unit of the field");
    ImGui::SameLine(0, px(4));
    if (icon_button("fit heights", icon::frame,
                    "Fit: makes the largest value that is shown now as high as a seventh of the "
                    "scene's size")) {
        const auto range =
            work.looks.view.range ? *work.looks.view.range : context.picture.color_range();
        const double largest = std::max(std::abs(range[0]), std::abs(range[1]));
        if (largest > 0)
            work.looks.view.height_scale =
                height_part * diagonal_of(*work.running.now().scene.stage) / largest;
    }
}

void ViewControls::remarks(const Topics& work, ImVec2 at, float right) {
    const session::Snapshot& now = work.running.now();
    const auto say = [&](const ImVec4& color, const std::string& text) {
        ImGui::SetCursorScreenPos(at);
        ImGui::PushTextWrapPos(std::max(right - ImGui::GetWindowPos().x, px(80)));
        ImGui::TextColored(color, "%s", text.c_str());
        ImGui::PopTextWrapPos();
        at.y = ImGui::GetItemRectMax().y + ImGui::GetStyle().ItemSpacing.y;
    };
    if (now.optimization.ghost_iteration >= 0)
        say(style().palette().ghost,
            fmt::format("ghost: iteration {}{}", now.optimization.ghost_iteration,
                        now.optimization.ghost_problem.empty()
                            ? ""
                            : " is not drawn: " + now.optimization.ghost_problem));
    if (now.shows_older_scene())
        say(style().palette().warn, fmt::format("iteration {}, of the scene before an edit",
                                                now.optimization.shown_iteration));
    if (!work.looks.tool_problem.empty()) say(style().palette().warn, work.looks.tool_problem);
    if (!work.looks.distance_problem.empty())
        say(style().palette().warn, work.looks.distance_problem);
    // A run that takes its time.
    const bool runs = now.reports.activity == session::Activity::simulating &&
                      now.run.steps_computed < now.run.steps;
    if (!runs) runs_since_ = ImGui::GetTime();
    if (const double left = runs_since_ + patience - ImGui::GetTime(); runs && left > 0)
        frame_wishes().want(FrameReason::timer, left);
    else if (runs)
        say(style().palette().quiet, fmt::format("{}: {} of {} steps", now.reports.activity_text,
                                                 now.run.steps_computed, now.run.steps));
}

void ViewControls::color_bar(Context& context, ImVec2 at, int width, int height) {
    Topics& work = context.work;
    const auto range =
        work.looks.view.range ? *work.looks.view.range : context.picture.color_range();
    const BarPlace bar =
        draw_color_bar(at, width, height,
                       {color_title(work.running.now().view.colors, work.looks.colors.by), range,
                        work.looks.view.map, work.looks.view.log_colors,
                        work.looks.colors.words(work.running.now().view)});
    if (bar.size.y <= 0) return;
    ImGui::SetCursorScreenPos(bar.at);
    if (ImGui::InvisibleButton("color bar", bar.size)) ImGui::OpenPopup("colors");
    tip("Colors " + work.looks.colors.words(work.running.now().view) +
        ": click to choose map, range and scale");
    if (!ImGui::BeginPopup("colors")) return;
    choose_map(work.looks);
    choose_range(work, range);
    ImGui::Separator();
    if (ImGui::Button("Keep with the scene")) {
        work.looks.keep_colors();
        ImGui::CloseCurrentPopup();
    }
    tip("Writes these colors into the scene's view: the next start and hindcast render begin with "
        "them");
    ImGui::EndPopup();
}

void ViewControls::choose_map(Looks& looks) {
    std::optional<ColorMap>& map = looks.colors.map;
    quiet_text("Color map");
    if (ImGui::RadioButton("automatic", !map)) map.reset();
    tip("cool to warm where the numbers have both signs, else viridis");
    for (std::size_t k = 0; k < render::color_maps; ++k) {
        const auto one = static_cast<ColorMap>(k);
        if (ImGui::RadioButton(maps[k].name, map == one)) map = one;
        tip(maps[k].help);
        // A sample of the color map, at the right.
        const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
        const float left = low.x + px(150), wide = px(64), inset = px(4);
        constexpr int parts = 24;
        for (int p = 0; p < parts; ++p) {
            const render::Color c = render::color_at(one, (p + 0.5) / parts);
            ImGui::GetWindowDrawList()->AddRectFilled(
                {left + wide * static_cast<float>(p) / parts, low.y + inset},
                {left + wide * static_cast<float>(p + 1) / parts, high.y - inset},
                ImGui::ColorConvertFloat4ToU32({c[0], c[1], c[2], 1}));
        }
        ImGui::SameLine(0, 0);
        ImGui::SetCursorScreenPos({left, low.y});
        ImGui::Dummy({wide, high.y - low.y});
    }
}

void ViewControls::choose_range(Topics& work, const std::array<double, 2>& shown) {
    using Range = session::ColorLook::Range;
    session::ColorLook& look = work.looks.colors;
    ImGui::Spacing();
    quiet_text("Range");
    if (ImGui::RadioButton("whole run", look.range == Range::run)) look.range = Range::run;
    tip("From the least to the largest number of all recorded moments: colors mean the same at "
        "all "
        "of them");
    if (ImGui::RadioButton("each moment", look.range == Range::frame)) look.range = Range::frame;
    tip("Fits what is shown now: the same number has another color at another moment");
    if (ImGui::RadioButton("by hand", look.range == Range::hand)) {
        look.range = Range::hand;
        look.ends = shown;
        if (!(shown[0] < shown[1])) look.ends = {shown[0] - 1, shown[0] + 1};
    }
    tip("Two numbers; what is outside has the first or the last color");
    const std::string unit = unit_of(work.running.now().view.colors, look.by);
    for (std::size_t k = 0; look.range == Range::hand && k < 2; ++k) {
        NumberField end{
            .value = look.ends[k],
            .unit = unit,
            .width = px(150),
            .tooltip = k == 0 ? "Least value of the range" : "Largest value of the range"};
        if (k == 0)
            end.high = std::nextafter(look.ends[1], -INFINITY);
        else
            end.low = std::nextafter(look.ends[0], INFINITY);
        if (number_field(k == 0 ? "##low" : "##high", end) != Edited::no) look.ends[k] = end.value;
    }
    ImGui::Checkbox("logarithmic", &look.logarithmic);
    tip("Colors by the logarithm, down to a ten-thousandth of the largest number; on both sides "
        "of 0 "
        "where the numbers have both signs");
}

}  // namespace hindcast::gui
