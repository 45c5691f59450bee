#include "app/gui/panels/view_controls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/draw/labels.hpp"

namespace hindcast::gui {

namespace {

using render::ColourMap;

struct MapRow {
    const char* name;
    const char* help;
};
constexpr MapRow maps[] = {
    {"viridis", "Dark blue to yellow: evenly lighter, also for the colour-blind and in grey"},
    {"magma", "Black to pale yellow: evenly lighter"},
    {"turbo", "A rainbow: many colours to tell values apart by, not evenly light"},
    {"coolwarm", "Blue through grey to red: for numbers of both signs, symmetric about 0"}};

// Of the scene's size: the longest arrow, and the highest height, that are fitted.
constexpr double arrow_part = 0.12, height_part = 0.15;

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

bool has_field(const Workspace& work) {
    return work.now().stage != nullptr &&
           std::ranges::any_of(work.now().stage->drawables, [](const render::Drawable& drawable) {
               return drawable.kind == render::Drawable::Kind::field;
           });
}

// A length in metres per unit, over many decades.
bool scale_field(const char* id, double& scale, const std::string& tooltip) {
    NumberField field{.value = scale,
                      .low = 1e-12,
                      .high = 1e12,
                      .width = px(84),
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
    ImGui::SetCursorScreenPos({at.x + px(10), at.y + px(10)});
    ImVec4 back = ImGui::GetStyle().Colors[ImGuiCol_WindowBg];
    back.w = 0.8F;
    ImGui::PushStyleColor(ImGuiCol_FrameBg, back);
    colours(context);
    if (static_cast<float>(width) > px(420)) {
        arrows(context);
        heights(context);
    }
    ImGui::PopStyleColor();
    remarks(context.work, {at.x + px(12), at.y + px(14) + ImGui::GetFrameHeight()});
    colour_bar(context, at, width, height);
}

// The longest arrow since the field was chosen has a length that fits the scene: an arrow that
// grows from nothing does not fill the picture at first.
void ViewControls::fit_arrows(Context& context) {
    Workspace& work = context.work;
    const auto& stage = work.now().stage;
    if (!stage || work.arrows.empty()) {
        longest_of_.clear();
        return;
    }
    if (longest_of_ != work.arrows || stage_ != stage) {
        longest_of_ = work.arrows;
        stage_ = stage;
        longest_ = 0;
    }
    const render::Renderer::Longest measured = context.picture.longest_arrow();
    if (measured.arrows == work.arrows && std::isfinite(measured.length))
        longest_ = std::max(longest_, measured.length);
    if (!work.fit_arrows || !(longest_ > 0)) return;
    work.view.arrow_scale = arrow_part * diagonal_of(*stage) / (work.view.arrow_log ? 1 : longest_);
}

void ViewControls::colours(Context& context) {
    Workspace& work = context.work;
    const session::Snapshot& now = work.now();
    if (now.colours.empty()) return;
    if (choice("##colour", names_of(now.colours), work.colour,
               "Colour: what the elements are coloured by; gradients are of the loss", px(168),
               "plain colours"))
        work.colour_by(std::string(work.colour));
    ImGui::SameLine(0, px(6));
}

void ViewControls::arrows(Context& context) {
    Workspace& work = context.work;
    const session::Snapshot& now = work.now();
    if (now.arrows.empty()) return;
    if (choice("##arrows", names_of(now.arrows), work.arrows,
               "Arrows: a vector field at the points; gradients are of the loss\nforce "
               "gradient (1/N): by a force that is held for one step, where no constraint "
               "changes velocities",
               px(168), "no arrows")) {
        work.send_frame_contents();
        work.fit_arrows = true;
    }
    ImGui::SameLine(0, px(6));
    if (work.arrows.empty()) return;
    const std::string unit = unit_of(now.arrows, work.arrows);
    const std::string of_unit = unit.empty() ? "for each unit of the field" : "per " + unit;
    if (scale_field("##arrow scale", work.view.arrow_scale,
                    work.view.arrow_log ? "Length of the longest arrow, m"
                                        : fmt::format("Length of the arrows: m {}", of_unit)))
        work.fit_arrows = false;
    ImGui::SameLine(0, px(4));
    if (icon_button("fit arrows", icon::frame,
                    work.fit_arrows
                        ? "Fit: the longest arrow so far is an eighth of the scene's size. A drag "
                          "of the number beside ends that"
                        : "Fit: makes the longest arrow an eighth of the scene's size",
                    true, work.fit_arrows)) {
        work.fit_arrows = true;
        longest_ = 0;
    }
    ImGui::SameLine(0, px(4));
    if (ImGui::Checkbox("log", &work.view.arrow_log)) work.fit_arrows = true;
    tip("Length by the logarithm: small arrows stay visible beside large ones");
    ImGui::SameLine(0, px(6));
}

void ViewControls::heights(Context& context) {
    Workspace& work = context.work;
    if (!work.view.heights || !has_field(work)) return;
    scale_field("##height scale", work.view.height_scale,
                "Height of the fields: m for each unit of the field");
    ImGui::SameLine(0, px(4));
    if (icon_button("fit heights", icon::frame,
                    "Fit: makes the largest value that is shown now as high as a seventh of the "
                    "scene's size")) {
        const auto range = work.view.range ? *work.view.range : context.picture.colour_range();
        const double largest = std::max(std::abs(range[0]), std::abs(range[1]));
        if (largest > 0)
            work.view.height_scale = height_part * diagonal_of(*work.now().stage) / largest;
    }
    ImGui::SameLine(0, px(6));
}

void ViewControls::remarks(const Workspace& work, ImVec2 at) {
    const session::Snapshot& now = work.now();
    const auto say = [&](const ImVec4& colour, const std::string& text) {
        ImGui::SetCursorScreenPos(at);
        ImGui::PushTextWrapPos(0);  // at the window's edge
        ImGui::TextColored(colour, "%s", text.c_str());
        ImGui::PopTextWrapPos();
        at.y = ImGui::GetItemRectMax().y + ImGui::GetStyle().ItemSpacing.y;
    };
    if (now.ghost_iteration >= 0)
        say(style().palette().ghost,
            fmt::format("ghost: iteration {}{}", now.ghost_iteration,
                        now.ghost_problem.empty() ? "" : " is not drawn: " + now.ghost_problem));
    if (now.shows_older_scene())
        say(style().palette().warn,
            fmt::format("iteration {}, of the scene before an edit", now.shown_iteration));
    if (!work.tool_problem.empty()) say(style().palette().warn, work.tool_problem);
    // A run that takes its time.
    const bool runs =
        now.activity == session::Activity::simulating && now.steps_computed < now.steps;
    if (!runs) runs_since_ = ImGui::GetTime();
    if (ImGui::GetTime() > runs_since_ + patience)
        say(style().palette().quiet,
            fmt::format("{}: {} of {} steps", now.activity_text, now.steps_computed, now.steps));
}

void ViewControls::colour_bar(Context& context, ImVec2 at, int width, int height) {
    Workspace& work = context.work;
    if (work.colour.empty() || work.now().colours.empty()) return;
    const auto range = work.view.range ? *work.view.range : context.picture.colour_range();
    const BarPlace bar = draw_colour_bar(
        at, width, height, {colour_title(work.now().colours, work.colour), range, work.view.map});
    if (bar.size.y <= 0) return;
    ImGui::SetCursorScreenPos(bar.at);
    if (ImGui::InvisibleButton("colour bar", bar.size)) ImGui::OpenPopup("colours");
    tip("Colour map and range: click to change");
    if (!ImGui::BeginPopup("colours")) return;
    for (int k = 0; k < 4; ++k) {
        if (ImGui::RadioButton(maps[k].name, static_cast<int>(work.view.map) == k))
            work.view.map = static_cast<ColourMap>(k);
        tip(maps[k].help);
    }
    ImGui::Separator();
    ImGui::Checkbox("Symmetric about 0", &work.view.symmetric);
    tip("For numbers of both signs, such as gradients");
    bool fixed = work.view.range.has_value();
    if (ImGui::Checkbox("Fixed range", &fixed)) {
        if (fixed)
            work.view.range = range;
        else
            work.view.range.reset();
    }
    tip("Otherwise the range is that of what is shown");
    const std::string unit = unit_of(work.now().colours, work.colour);
    for (std::size_t k = 0; work.view.range && k < 2; ++k) {
        NumberField end{
            .value = (*work.view.range)[k],
            .unit = unit,
            .width = px(150),
            .tooltip = k == 0 ? "Least value of the range" : "Largest value of the range"};
        if (number_field(k == 0 ? "##low" : "##high", end) != Edited::no)
            (*work.view.range)[k] = end.value;
    }
    ImGui::EndPopup();
}

}  // namespace hindcast::gui
