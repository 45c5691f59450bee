#include "app/gui/panels/scene_file/completion_popup.hpp"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "app/gui/draw/widgets.hpp"

namespace hindcast::gui {

namespace {

constexpr int most_rows = 9;
constexpr const char* window_name = "##completion";

ImGuiID owner() { return ImHashStr(window_name); }

}  // namespace

bool CompletionPopup::take_keys(TextWidget& text) {
    if (!text.is_focused() && !kept_) {
        open_ = false;
        return false;
    }
    if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_Space)) {
        asked_ = true;
        return false;
    }
    if (!open_ || list_.empty()) return false;
    const auto pressed = [](ImGuiKey key) {
        ImGui::SetKeyOwner(key, owner(), ImGuiInputFlags_LockThisFrame);
        return ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, owner());
    };
    if (ImGui::GetIO().KeyCtrl || ImGui::GetIO().KeyAlt || ImGui::GetIO().KeyShift) return false;
    const std::size_t last = list_.size() - 1;
    const std::size_t before = selected_;
    if (pressed(ImGuiKey_UpArrow)) selected_ = selected_ == 0 ? last : selected_ - 1;
    if (pressed(ImGuiKey_DownArrow)) selected_ = selected_ == last ? 0 : selected_ + 1;
    if (pressed(ImGuiKey_PageUp))
        selected_ -= std::min<std::size_t>(selected_, static_cast<std::size_t>(most_rows) - 1);
    if (pressed(ImGuiKey_PageDown))
        selected_ = std::min(selected_ + static_cast<std::size_t>(most_rows) - 1, last);
    scroll_ |= selected_ != before;
    // Each is asked for, so that none goes into the text.
    bool taken = false;
    for (const ImGuiKey key : {ImGuiKey_Enter, ImGuiKey_KeypadEnter, ImGuiKey_Tab})
        taken |= pressed(key);
    if (pressed(ImGuiKey_Escape)) open_ = false;
    if (!taken || !open_) return false;
    take(text);
    return true;
}

void CompletionPopup::take(TextWidget& text) {
    text.replace(session::accepted(text.tree(), list_[selected_]));
    open_ = false;
    version_ = text.version();
    cursor_ = text.cursor();
}

// Typing goes on in the list, or opens it where a name begins.
void CompletionPopup::refresh(const TextWidget& text, const Source& source) {
    const bool changed = text.version() != version_;
    const std::size_t cursor = text.cursor();
    const bool moved = cursor != cursor_;
    version_ = text.version();
    cursor_ = cursor;
    const std::string& typed = text.typed();
    const bool begins = changed && !typed.empty() &&
                        (typed.front() == '"' || typed.front() == '_' ||
                         std::isalpha(static_cast<unsigned char>(typed.front())) != 0);
    const bool asked = std::exchange(asked_, false);
    if (!asked && !(open_ && (changed || moved)) && !begins) return;
    // A cursor that moved without typing has left the place of the list.
    if (open_ && moved && !changed && !asked) {
        open_ = false;
        return;
    }
    const session::TextTree tree(text.text(), cursor);
    list_ = session::complete(tree, cursor, source());
    // A text that is written in full is no choice any more.
    if (!asked && list_.size() == 1 &&
        tree.text().substr(list_[0].begin, list_[0].end - list_[0].begin) == list_[0].json)
        list_.clear();
    open_ = !list_.empty() || asked;
    selected_ = 0;
    scroll_ = true;
}

bool CompletionPopup::draw(TextWidget& text, const Source& source) {
    if (text.is_focused())
        refresh(text, source);
    else
        asked_ = false;
    if (!open_) {
        kept_ = false;
        return false;
    }
    const ImGuiViewport* const viewport = ImGui::GetMainViewport();
    const float row = ImGui::GetTextLineHeightWithSpacing();
    const float width = std::min(px(430), viewport->WorkSize.x - px(16));
    const float shown =
        static_cast<float>(std::clamp<std::size_t>(list_.size(), 1, std::size_t{most_rows}));
    const float explained = list_.empty() ? 0 : ImGui::GetTextLineHeight() * 3 + px(8);
    const float height = row * shown + explained + ImGui::GetStyle().WindowPadding.y * 2;
    const std::size_t at = list_.empty() ? cursor_ : std::min(list_.front().begin, cursor_);
    ImVec2 place = text.below(at);
    if (place.y + height > viewport->WorkPos.y + viewport->WorkSize.y)
        place.y = std::max(place.y - text.line_height() - height, viewport->WorkPos.y);
    place.x = std::clamp(
        place.x, viewport->WorkPos.x,
        std::max(viewport->WorkPos.x, viewport->WorkPos.x + viewport->WorkSize.x - width - px(4)));
    ImGui::SetNextWindowPos(place);
    ImGui::SetNextWindowSize({width, height});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyleColorVec4(ImGuiCol_PopupBg));
    clicked_ = false;
    ImGui::Begin(window_name, nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                     ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    if (list_.empty()) {
        quiet_text("Nothing is known that could stand here");
    } else {
        rows(width, row * shown);
        explain(width);
    }
    const bool focused = ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows);
    kept_ = focused || ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows |
                                              ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
    ImGui::End();
    ImGui::PopStyleColor();
    if (!clicked_) return false;
    take(text);
    text.focus();
    return true;
}

void CompletionPopup::rows(float width, float height) {
    ImGui::BeginChild("rows", {0, height}, ImGuiChildFlags_None, ImGuiWindowFlags_NoNav);
    const float row = ImGui::GetTextLineHeightWithSpacing();
    if (std::exchange(scroll_, false)) {
        const float top = static_cast<float>(selected_) * row, seen = ImGui::GetScrollY();
        if (top < seen) ImGui::SetScrollY(top);
        if (top + row > seen + height) ImGui::SetScrollY(top + row - height);
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(list_.size()), row);
    while (clipper.Step())
        for (int k = clipper.DisplayStart; k < clipper.DisplayEnd; ++k) {
            const session::Suggestion& s = list_[static_cast<std::size_t>(k)];
            ImGui::PushID(k);
            const bool selected = static_cast<std::size_t>(k) == selected_;
            if (ImGui::Selectable(("##" + s.label).c_str(), selected)) {
                selected_ = static_cast<std::size_t>(k);
                clicked_ = true;
            }
            ImGui::SameLine(px(6));
            ImGui::PushFont(s.required ? style().fonts().bold : style().fonts().regular, 0);
            ImGui::TextUnformatted(s.label.c_str());
            ImGui::PopFont();
            const std::string facts = (s.required ? "required, " : "") + s.facts;
            ImGui::SameLine(0, px(14));
            const float room = width - ImGui::GetCursorPosX() - px(24);
            if (room > px(30) && !facts.empty()) {
                ImGui::PushStyleColor(ImGuiCol_Text, style().palette().quiet);
                const float wide = std::min(ImGui::CalcTextSize(facts.c_str()).x, room);
                ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room - wide);
                const ImVec2 at = ImGui::GetCursorScreenPos();
                ImGui::RenderTextEllipsis(ImGui::GetWindowDrawList(), at,
                                          {at.x + wide + 1, at.y + row}, at.x + wide + 1,
                                          facts.c_str(), nullptr, nullptr);
                ImGui::PopStyleColor();
            }
            ImGui::NewLine();
            ImGui::PopID();
        }
    ImGui::EndChild();
}

// The meaning of the selected suggestion, in at most three lines.
void CompletionPopup::explain(float width) const {
    const session::Suggestion& s = list_[selected_];
    const std::string& text = s.documentation.empty() ? s.facts : s.documentation;
    ImGui::Separator();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float bottom = at.y + ImGui::GetTextLineHeight() * 3;
    ImGui::PushClipRect(at, {at.x + width, bottom}, true);
    wrapped_text(text, style().palette().quiet);
    ImGui::PopClipRect();
}

}  // namespace hindcast::gui
