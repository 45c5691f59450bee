#include "app/gui/panels/scene_file/text_widget.hpp"

#include <imgui_internal.h>

#include <algorithm>

#include "app/gui/draw/widgets.hpp"

namespace hindcast::gui {

namespace {

using Editor = TextEditor;

bool is_blank(ImWchar c) { return c == ' ' || c == '\t'; }
bool is_letter(ImWchar c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool in_number(ImWchar c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// Keys look different from texts: a string is a key if a colon follows on its line.
Editor::Iterator token(Editor::Iterator start, Editor::Iterator end, Editor::Color& color) {
    Editor::Iterator at = start;
    if (*at == '"') {
        for (++at; at < end && *at != '"'; ++at)
            if (*at == '\\') {
                Editor::Iterator next = at;
                if (++next < end) at = next;
            }
        if (at < end) ++at;
        Editor::Iterator behind = at;
        while (behind < end && is_blank(*behind)) ++behind;
        const bool key = behind < end && *behind == ':';
        color = key ? Editor::Color::identifier : Editor::Color::string;
    } else if (is_letter(*at)) {
        while (at < end && is_letter(*at)) ++at;
        color = Editor::Color::keyword;
    } else if (in_number(*at)) {
        while (at < end && in_number(*at)) ++at;
        color = Editor::Color::number;
    } else if (*at != '/') {
        ++at;
        color = Editor::Color::punctuation;
    }
    return at;
}

const Editor::Language* scene_language() {
    static const Editor::Language language = [] {
        Editor::Language l;
        l.name = "Scene";
        l.singleLineComment = "//";
        l.commentStart = "/*";
        l.commentEnd = "*/";
        l.customTokenizer = token;
        return l;
    }();
    return &language;
}

}  // namespace

TextWidget::TextWidget() {
    editor_.SetLanguage(scene_language());
    editor_.SetTabSize(4);
    editor_.SetInsertSpacesOnTabs(true);
    editor_.SetShowWhitespacesEnabled(false);
    editor_.SetShowScrollbarMiniMapEnabled(false);
    // A partner typed by hand would stand there twice.
    editor_.SetCompletePairedGlyphs(false);
    editor_.SetFindReplaceEnabled(false);  // that has a fixed width: find_bar.hpp
    editor_.SetTransactionCallback([this](const std::vector<Editor::Change>& changes) {
        ++version_;
        const bool one = changes.size() == 1 && changes.front().insert;
        typed_ = one && changes.front().text.size() == 1 ? changes.front().text : std::string();
    });
}

const std::string& TextWidget::text() const {
    if (read_version_ != version_) {
        read_version_ = version_;
        text_ = editor_.GetText();
    }
    return text_;
}

const session::TextTree& TextWidget::tree() const {
    if (tree_version_ != version_) {
        tree_version_ = version_;
        tree_ = session::TextTree(text());
    }
    return tree_;
}

void TextWidget::set_text(const std::string& text, bool keep_place) {
    if (text != this->text()) {
        const Editor::DocPos at = editor_.GetMainCursorPosition();
        const std::size_t top = editor_.GetFirstVisibleRow();
        editor_.SetText(text);
        if (keep_place) {
            editor_.SetCursor(at);
            editor_.ScrollToLine(top, Editor::Scroll::alignTop);
        }
        marked_.clear();
        ++version_;
    }
    typed_.clear();
    set_clean();
}

Editor::DocPos TextWidget::place(std::size_t offset) const {
    const session::TextPosition p = tree().position(offset);
    return {p.line, p.column};
}

std::size_t TextWidget::cursor() const {
    const Editor::DocPos start = editor_.GetMainCursorSelection().start,
                         end = editor_.GetMainCursorSelection().end;
    const Editor::DocPos first = std::min(start, end);
    return tree().offset({first.line, first.index});
}

void TextWidget::go_to(std::size_t offset) {
    const Editor::DocPos at = place(offset);
    editor_.SetCursor(at);  // which scrolls as little as it must
    const std::size_t column = editor_.DocPos2VisPos(at).column;
    if (column >= editor_.GetFirstVisibleColumn() && column + 3 < editor_.GetLastVisibleColumn())
        editor_.ScrollToLine(at.line);
}

std::string TextWidget::selected() const {
    return editor_.GetSectionText(editor_.GetMainCursorSelection());
}

void TextWidget::select(std::size_t begin, std::size_t end) {
    editor_.SetCursor(place(end));
    editor_.SelectRegion(place(begin), place(end));
}

void TextWidget::replace(const session::TextChange& change) {
    editor_.ReplaceSectionText(place(change.begin), place(change.end), change.text);
    typed_.clear();
    if (change.select_begin == change.select_end)
        editor_.SetCursor(place(change.select_end));
    else
        editor_.SelectRegion(place(change.select_begin), place(change.select_end));
}

void TextWidget::mark(std::vector<session::SceneFault> faults) {
    marked_ = std::move(faults);
    editor_.ClearMarkers();
    editor_.ClearSquiggles();
    const ImU32 bad = ImGui::GetColorU32(style().palette().bad);
    ImVec4 pale = style().palette().bad, number = pale;
    pale.w = 0.14F;
    number.w = 0.5F;  // it can be read
    for (const session::SceneFault& fault : marked_) {
        if (fault.end <= fault.begin) continue;
        editor_.AddMarker(fault.line, ImGui::GetColorU32(number), ImGui::GetColorU32(pale), "", "");
        editor_.AddSquiggle(place(fault.begin), place(fault.end), 0, bad);
    }
}

void TextWidget::set_palette() {
    const Palette& p = style().palette();
    const ImVec4 text = ImGui::GetStyleColorVec4(ImGuiCol_Text);
    const auto with = [](ImVec4 color, float alpha) {
        color.w = alpha;
        return ImGui::ColorConvertFloat4ToU32(color);
    };
    const auto full = [&](const ImVec4& color) { return with(color, 1); };
    using Color = Editor::Color;
    Editor::Palette palette =
        style().theme->dark() ? Editor::GetDarkPalette() : Editor::GetLightPalette();
    const auto set = [&](Color color, ImU32 value) {
        palette[static_cast<std::size_t>(color)] = value;
    };
    set(Color::text, full(text));
    set(Color::keyword, full(p.ghost));
    set(Color::number, full(p.ghost));
    set(Color::string, full(p.good));
    set(Color::identifier, full(p.accent));
    set(Color::punctuation, full(p.quiet));
    set(Color::comment, full(p.quiet));
    set(Color::background, full(ImGui::GetStyleColorVec4(ImGuiCol_WindowBg)));
    set(Color::cursor, full(text));
    set(Color::selection, with(p.accent, 0.30F));
    set(Color::matchingBracketBackground, with(p.accent, 0.25F));
    set(Color::matchingBracketActive, full(p.accent));
    for (const Color level :
         {Color::matchingBracketLevel1, Color::matchingBracketLevel2, Color::matchingBracketLevel3})
        set(level, full(p.quiet));
    set(Color::matchingBracketError, full(p.bad));
    set(Color::lineNumber, full(p.quiet));
    set(Color::currentLineNumber, full(text));
    set(Color::currentLineHighlight, with(text, 0.04F));
    set(Color::currentLineHighlightBorder, with(text, 0.07F));
    if (palette != editor_.GetPalette()) {
        editor_.SetPalette(palette);
        if (!marked_.empty()) mark(marked_);
    }
}

void TextWidget::draw(const ImVec2& size, bool takes_keys, bool tells_faults) {
    ImGui::PushFont(style().fonts().fixed, 0);
    set_palette();
    // Things that appear below the text must not cover the line that is being typed.
    if (size.y < height_ && focused_ && !editor_.AnyCursorHasSelection() &&
        editor_.IsDocPosVisible(editor_.GetMainCursorPosition()))
        editor_.SetCursor(editor_.GetMainCursorPosition());
    height_ = size.y;
    editor_.SetReadOnlyEnabled(!takes_keys);
    editor_.Render("text", size, false);
    editor_.SetReadOnlyEnabled(false);
    ImGui::PopFont();
    const ImGuiWindow* const focus = ImGui::GetCurrentContext()->NavWindow;
    focused_ = focus != nullptr && focus->ParentWindow == ImGui::GetCurrentWindow() &&
               focus->ChildId == ImGui::GetItemID();
    if (tells_faults && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem))
        tell_fault_at_mouse();
}

void TextWidget::tell_fault_at_mouse() const {
    if (marked_.empty()) return;
    const ImVec2 mouse = ImGui::GetMousePos();
    const bool in_text = editor_.IsMousePosOverTextArea(mouse);
    const Editor::DocPos at = editor_.GetDocPosAtMousePos(mouse);
    const std::size_t offset = tree().offset({at.line, at.index});
    for (const session::SceneFault& fault : marked_) {
        if (fault.end <= fault.begin || fault.line != at.line) continue;
        if (in_text && (offset < fault.begin || offset > fault.end)) continue;
        ImGui::PushFont(style().fonts().regular, 0);
        if (ImGui::BeginTooltip()) {
            ImGui::PushTextWrapPos(ImGui::GetFontSize() * 26);
            ImGui::TextUnformatted(fault.happened.c_str());
            if (!fault.remedy.empty())
                ImGui::TextColored(style().palette().quiet, "%s", fault.remedy.c_str());
            ImGui::PopTextWrapPos();
            ImGui::EndTooltip();
        }
        ImGui::PopFont();
        return;
    }
}

ImVec2 TextWidget::below(std::size_t offset) const {
    ImVec2 at = editor_.DocPos2ScreenPos(place(offset));
    at.y += editor_.GetLineHeight();
    return at;
}

}  // namespace hindcast::gui
