// Suggestions for the text at the cursor, in a list under it: opened by Ctrl+Space or by typing,
// walked with the arrows, taken with Enter, Tab or a click, left with Escape. The keys are the
// list's while it is open; everything else goes on into the text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/gui/panels/scene_file/text_widget.hpp"
#include "app/session/text/completion.hpp"

namespace hindcast::gui {

class CompletionPopup {
public:
    bool is_open() const { return open_; }
    void close() { open_ = false; }
    // Before the text is drawn: takes the keys that are the list's. True once for a choice that was
    // made with them.
    bool take_keys(TextWidget& text);
    // After the text is drawn: follows the cursor and what was typed, and draws the list. True once
    // for a choice that was clicked.
    // `source` is asked for only when a list is made.
    using Source = std::function<session::CompletionSource()>;
    bool draw(TextWidget& text, const Source& source);

private:
    void refresh(const TextWidget& text, const Source& source);
    void take(TextWidget& text);
    void rows(float width, float height);
    void explain(float width) const;

    bool open_ = false, asked_ = false, scroll_ = false, clicked_ = false;
    bool kept_ = false;  // the mouse is in the list, or has focused it
    std::uint64_t version_ = 0;
    std::size_t cursor_ = 0, selected_ = 0;
    std::vector<session::Suggestion> list_;
};

}  // namespace hindcast::gui
