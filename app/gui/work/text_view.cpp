#include "app/gui/work/text_view.hpp"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "app/gui/work/state/messages.hpp"
#include "engine/base/files.hpp"

namespace hindcast::gui {

namespace {

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

std::size_t occurrences(const std::string& text, const std::string& words) {
    if (words.empty()) return 0;
    const std::string all = lower(text), sought = lower(words);
    std::size_t count = 0;
    for (std::size_t at = all.find(sought); at != std::string::npos;
         at = all.find(sought, at + sought.size()))
        ++count;
    return count;
}

}  // namespace

std::filesystem::path beside_scene(const EditedScene& scene, const std::string& file_name) {
    std::string name = file_name;
    std::ranges::replace_if(
        name, [](unsigned char c) { return c < 32 || c == '/' || c == '\\' || c == ':'; }, '_');
    return scene.output_folder() / name;
}

void save_beside_scene(const EditedScene& scene, Messages& messages, const std::string& file_name,
                       const std::string& text) {
    const std::filesystem::path target = beside_scene(scene, file_name);
    const auto write = [&messages, target, text] {
        try {
            write_file_atomically(target, text);
            messages.tell("Saved " + target.string(), Notice::Kind::success);
        } catch (const Error& error) {
            messages.fail(error);
        }
    };
    std::error_code error;
    if (!std::filesystem::exists(target, error)) {
        write();
        return;
    }
    messages.ask({"Replace what is there?",
                  target.filename().string() + " is there already.",
                  target.string(),
                  {{"Replace", "Writes over it", write}, {"Cancel", "Nothing is written", [] {}}}});
}

TextView::TextView() {
    editor_.SetReadOnlyEnabled(true);
    editor_.SetFindReplaceEnabled(false);
    editor_.SetShowWhitespacesEnabled(false);
    editor_.SetShowScrollbarMiniMapEnabled(false);
    editor_.SetShowMatchingBrackets(false);
}

void TextView::set(const std::string& text, Language language) {
    text_ = text;
    editor_.SetLanguage(language == Language::cpp ? TextEditor::Language::Cpp() : nullptr);
    editor_.SetText(text);
    search(true);
}

void TextView::search(bool from_start) {
    found_ = occurrences(text_, sought_);
    if (found_ == 0) return;
    if (from_start)
        editor_.SelectFirstOccurrenceOf(sought_, false);
    else
        editor_.SelectNextOccurrenceOf(sought_, false);
}

void TextView::draw(const EditedScene& scene, Messages& messages, const std::string& file_name) {
    ImGui::SetNextItemWidth(std::max(ImGui::GetContentRegionAvail().x - px(300), px(90)));
    const bool entered = ImGui::InputTextWithHint(
        "##find", "Find in the text", &sought_,
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_EscapeClearsAll);
    const bool changed = ImGui::IsItemEdited();
    tip("Marks these words in the text, in any case\nEnter: the next place");
    if (entered) {
        search(false);
        ImGui::SetKeyboardFocusHere(-1);
    } else if (changed) {
        search(true);
    }
    ImGui::SameLine();
    if (icon_button("next", icon::arrow_right, "The next place", found_ > 0)) search(false);
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    quiet_text(sought_.empty() ? fmt::format("{} lines", editor_.GetLineCount())
                               : fmt::format("{} found", found_));
    ImGui::SameLine();
    ImGui::SetCursorPosX(std::max(right_edge() - px(136), ImGui::GetCursorPosX()));
    if (text_button(nullptr, "Copy", "Puts the whole text on the clipboard", !text_.empty(), false,
                    px(64)))
        ImGui::SetClipboardText(text_.c_str());
    ImGui::SameLine();
    if (text_button(nullptr, "Save",
                    "Writes the text into " + beside_scene(scene, file_name).string(),
                    !text_.empty(), false, px(64)))
        save_beside_scene(scene, messages, file_name, text_);
    ImGui::PushFont(style().fonts().fixed, 0);
    editor_.SetPalette(style().theme->dark() ? TextEditor::GetDarkPalette()
                                             : TextEditor::GetLightPalette());
    editor_.Render("##text", ImGui::GetContentRegionAvail(), false);
    ImGui::PopFont();
}

}  // namespace hindcast::gui
