#include "app/gui/work/state/frame_wishes.hpp"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>

namespace hindcast::gui {

namespace {

// After what may change the layout: ImGui knows some sizes only when it has drawn once, and opens
// popups in the frame after.
constexpr int frames_to_settle = 4;
constexpr double late = 2e-3;  // s: ImGui's clocks are sums of rounded numbers

bool changes_layout(FrameReason reason) {
    switch (reason) {
        case FrameReason::input:
        case FrameReason::screen:
        case FrameReason::news:
        case FrameReason::tooltip:
        case FrameReason::timer: return true;
        default: return false;
    }
}

}  // namespace

const char* name_of(FrameReason reason) {
    constexpr const char* names[] = {"input", "screen",   "news",    "motion",    "picture",
                                     "work",  "settling", "tooltip", "animation", "timer"};
    return names[static_cast<std::size_t>(reason)];
}

FrameWishes& frame_wishes() {
    static FrameWishes wishes;
    return wishes;
}

void FrameWishes::want(FrameReason reason, double in_seconds) {
    double& due = due_[index(reason)];
    due = std::min(due, in_seconds > 0 ? now_ + in_seconds + late : now_);
}

double FrameWishes::left() const { return std::max(*std::ranges::min_element(due_) - now_, 0.0); }

void FrameWishes::begin() {
    for (std::size_t k = 0; k < count; ++k)
        if (due_[k] <= now_ && changes_layout(static_cast<FrameReason>(k)))
            settling_ = frames_to_settle;
    if (const auto first = std::ranges::min_element(due_); *first <= now_)
        ++granted_[static_cast<std::size_t>(first - due_.begin())];
    due_ = none();
    picture_ = false;
}

void FrameWishes::end() {
    if (settling_ > 0 && --settling_ > 0) want(FrameReason::settling);
}

std::string FrameWishes::reasons() const {
    std::string text;
    for (std::size_t k = 0; k < count; ++k)
        if (granted_[k] > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", granted_[k],
                                name_of(static_cast<FrameReason>(k)));
    return text;
}

namespace {

// The first of these times that has not come yet, from now; none: -1.
double until_next(double timer, std::initializer_list<float> times) {
    for (const float time : times)
        if (timer < static_cast<double>(time)) return static_cast<double>(time) - timer;
    return -1;
}

bool scrolls(const ImGuiTabBar* bar) {
    return bar != nullptr && bar->CurrFrameVisible == ImGui::GetFrameCount() &&
           bar->ScrollingAnim != bar->ScrollingTarget;
}

bool tabs_scroll() {
    ImGuiContext& g = *GImGui;
    for (int k = 0; k < g.TabBars.GetMapSize(); ++k)
        if (scrolls(g.TabBars.TryGetMapData(k))) return true;
    for (const auto& pair : g.DockContext.Nodes.Data)
        if (const auto* node = static_cast<const ImGuiDockNode*>(pair.val_p);
            node != nullptr && scrolls(node->TabBar))
            return true;
    return false;
}

// A window that is measured before it is shown, or has not come to its place. (One that is clipped
// or behind another tab is hidden as well, for good.)
bool is_unfinished(const ImGuiWindow* window) {
    return window->Active && (window->HiddenFramesCannotSkipItems > 0 || window->Appearing ||
                              window->ScrollTarget.y < FLT_MAX || window->ScrollTarget.x < FLT_MAX);
}

}  // namespace

void want_what_imgui_does(FrameWishes& frames) {
    const ImGuiContext& g = *GImGui;
    const ImGuiStyle& style = g.Style;
    if (g.HoverItemDelayId != 0) {
        // The mouse must rest, and that counts from the frame after.
        if (g.HoverItemUnlockedStationaryId != g.HoverItemDelayId)
            frames.want(FrameReason::tooltip,
                        std::max(style.HoverStationaryDelay - g.MouseStationaryTimer, 0.0F));
        const double left =
            until_next(g.HoverItemDelayTimer, {style.HoverDelayShort, style.HoverDelayNormal});
        if (left > 0) frames.want(FrameReason::tooltip, left);
    }
    // A menu within a menu opens where the mouse rests on it.
    constexpr float menu_delay = 0.3F;
    if (g.HoveredId != 0 && g.OpenPopupStack.Size > 0) {
        const double left =
            until_next(std::min(g.HoveredIdTimer, g.MouseStationaryTimer), {menu_delay});
        if (left > 0) frames.want(FrameReason::tooltip, left);
    }
    const bool dims = ImGui::GetTopMostPopupModal() != nullptr ||
                      (g.NavWindowingTarget != nullptr && g.NavWindowingHighlightAlpha > 0);
    if (dims ? g.DimBgRatio < 1 : g.DimBgRatio > 0) frames.want(FrameReason::animation);
    if (g.NavWindowingTargetAnim != nullptr || tabs_scroll()) frames.want(FrameReason::animation);
    if (g.NavHighlightActivatedTimer > 0)
        frames.want(FrameReason::timer, g.NavHighlightActivatedTimer);
    // It writes the layout into its file in a frame.
    if (g.SettingsDirtyTimer > 0 && g.IO.IniFilename != nullptr)
        frames.want(FrameReason::settling, g.SettingsDirtyTimer);
    if (std::ranges::any_of(g.Windows, is_unfinished)) frames.want(FrameReason::settling);
}

}  // namespace hindcast::gui
