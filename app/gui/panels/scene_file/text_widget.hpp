// The text editor of the window with what a scene's text needs: colors of keys, values and comments
// in the theme, places in bytes, and faults that are marked and say themselves at the mouse. Line
// numbers, matching brackets, comments (Ctrl+/) and undo are the library's.
#pragma once

#include <TextEditor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "app/session/text/completion.hpp"
#include "app/session/text/scene_faults.hpp"
#include "app/session/text/text_tree.hpp"

namespace hindcast::gui {

class TextWidget {
public:
    TextWidget();
    TextWidget(const TextWidget&) = delete;
    TextWidget& operator=(const TextWidget&) = delete;

    // ---- the text ----
    const std::string& text() const;
    const session::TextTree& tree() const;  // of the text
    // Another one: nothing can be undone. `keep_place`: cursor and scrolling stay where they are.
    void set_text(const std::string& text, bool keep_place = false);
    std::uint64_t version() const { return version_; }  // another one after each change
    // True if the text differs from that at the last call of set_clean().
    bool changed() const { return editor_.GetUndoIndex() != clean_; }
    void set_clean() { clean_ = editor_.GetUndoIndex(); }
    // As one step of undo; the change's part is selected then.
    void replace(const session::TextChange& change);
    // The character that the last change typed, if it was one of ASCII; "" for any other change.
    const std::string& typed() const { return typed_; }

    // ---- the cursor, in bytes of the text ----
    std::size_t cursor() const;                       // where a selection begins, if there is one
    void go_to(std::size_t offset);                   // and scrolls there
    std::string selected() const;                     // the text that is
    void select(std::size_t begin, std::size_t end);  // and scrolls there
    void focus() { editor_.SetFocus(); }

    // ---- faults ----
    // Underlined, their lines' numbers marked.
    void mark(std::vector<session::SceneFault> faults);
    const std::vector<session::SceneFault>& marked() const { return marked_; }

    // `takes_keys`: false while the keys that are down mean something else than text. `tells_faults`:
    // false while something else is told there.
    void draw(const ImVec2& size, bool takes_keys, bool tells_faults);
    bool is_focused() const { return focused_; }  // when it was drawn last
    // On the screen, below the line: where something about this place may be shown.
    ImVec2 below(std::size_t offset) const;
    float line_height() const { return editor_.GetLineHeight(); }

private:
    TextEditor::DocPos place(std::size_t offset) const;
    void set_palette();
    void tell_fault_at_mouse() const;

    TextEditor editor_;
    std::uint64_t version_ = 1;
    mutable std::uint64_t read_version_ = 0, tree_version_ = 0;
    mutable std::string text_;
    mutable session::TextTree tree_{""};
    std::size_t clean_ = 0;
    std::string typed_;
    std::vector<session::SceneFault> marked_;
    bool focused_ = false;
    float height_ = 0;  // when it was drawn last
};

}  // namespace hindcast::gui
