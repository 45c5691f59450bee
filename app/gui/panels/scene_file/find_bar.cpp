#include "app/gui/panels/scene_file/find_bar.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "app/gui/draw/widgets.hpp"
#include "app/session/text/find_text.hpp"

namespace hindcast::gui {

void FindBar::open(const TextWidget& text) {
    open_ = focus_ = true;
    const std::string selected = text.selected();
    if (!selected.empty() && selected.find('\n') == std::string::npos) word_ = selected;
}

void FindBar::close(TextWidget& text) {
    open_ = false;
    text.focus();
}

void FindBar::take_keys(TextWidget& text) {
    if (!ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows)) return;
    if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_F)) open(text);
    if (!open_) return;
    if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_G)) next(text, 1);
    if (text.is_focused() && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) close(text);
}

void FindBar::look(const TextWidget& text) {
    if (version_ == text.version() && found_word_ == word_ && found_case_ == match_case_) return;
    version_ = text.version();
    found_word_ = word_;
    found_case_ = match_case_;
    found_ = session::occurrences(text.text(), word_, match_case_);
}

bool FindBar::is_selected(const TextWidget& text) const {
    return std::ranges::binary_search(found_, text.cursor()) &&
           text.selected().size() == word_.size();
}

// The one behind the cursor, or before it; round at the ends of the text.
void FindBar::next(TextWidget& text, int by) {
    look(text);
    if (found_.empty()) return;
    const std::size_t at = text.cursor();
    std::size_t k = 0;
    if (by > 0) {
        const auto behind = is_selected(text) ? std::ranges::upper_bound(found_, at)
                                              : std::ranges::lower_bound(found_, at);
        k = behind == found_.end() ? 0 : static_cast<std::size_t>(behind - found_.begin());
    } else {
        const auto before = std::ranges::lower_bound(found_, at);
        k = static_cast<std::size_t>(before - found_.begin());
        k = k == 0 ? found_.size() - 1 : k - 1;
    }
    text.select(found_[k], found_[k] + word_.size());
}

void FindBar::draw(TextWidget& text) {
    if (!open_) return;
    look(text);
    const float side = ImGui::GetFrameHeight(), space = ImGui::GetStyle().ItemSpacing.x;
    const float right = (side + px(4) + space) * 4;
    const float field = std::max(ImGui::GetContentRegionAvail().x - right, px(60));
    ImGui::PushID("find");
    if (std::exchange(focus_, false)) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(field);
    if (ImGui::InputTextWithHint("##find", "Find", &word_, ImGuiInputTextFlags_AutoSelectAll)) {
        look(text);
        if (!is_selected(text)) next(text, 1);
    }
    tip(word_.empty()
            ? "Enter goes to the next one, Escape closes"
            : fmt::format("{} found. Enter goes to the next one, Escape closes", found_.size()));
    if (ImGui::IsItemDeactivated()) {
        if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) close(text);
        if (ImGui::IsKeyPressed(ImGuiKey_Enter, false) ||
            ImGui::IsKeyPressed(ImGuiKey_KeypadEnter, false)) {
            next(text, ImGui::GetIO().KeyShift ? -1 : 1);
            focus_ = true;  // typing goes on here
        }
    }
    ImGui::SameLine();
    const bool any = !found_.empty();
    if (icon_button("before", icon::up, "The one before (Shift+Enter)", any)) next(text, -1);
    ImGui::SameLine();
    if (icon_button("next", icon::arrow_right, "The next one (Enter, Ctrl+G)", any)) next(text, 1);
    ImGui::SameLine();
    if (icon_button("case", "Aa", "Capital letters are other letters", true, match_case_))
        match_case_ = !match_case_;
    ImGui::SameLine();
    if (icon_button("close", icon::close, "Closes this (Escape)")) close(text);

    ImGui::SetNextItemWidth(field);
    const bool enter =
        ImGui::InputTextWithHint("##by", "Replace by", &by_, ImGuiInputTextFlags_EnterReturnsTrue);
    tip("Enter replaces the one that is selected");
    ImGui::SameLine();
    if ((icon_button("replace", icon::repeat, "Replaces the one that is selected, and goes on",
                     any) ||
         (enter && any))) {
        if (is_selected(text)) {
            const std::size_t at = text.cursor();
            text.replace({at, at + word_.size(), by_, at + by_.size(), at + by_.size()});
        }
        next(text, 1);
    }
    ImGui::SameLine();
    if (icon_button("all", icon::list,
                    fmt::format("Replaces all {}, as one step of undo", found_.size()), any))
        text.replace({0, text.text().size(),
                      session::replaced(text.text(), word_, by_, match_case_), found_.front(),
                      found_.front() + by_.size()});
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    if (!word_.empty()) {
        const std::string said = any ? fmt::format("{}", found_.size()) : "none";
        ImGui::TextColored(any ? style().palette().quiet : style().palette().bad, "%s",
                           said.c_str());
        tip(any ? "So many are in the text" : "It is not in the text");
    } else {
        ImGui::NewLine();
    }
    ImGui::PopID();
}

}  // namespace hindcast::gui
