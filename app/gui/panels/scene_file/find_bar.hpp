// Find and replace, above the text: opened by Ctrl+F with what is selected, left with Escape.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/gui/panels/scene_file/text_widget.hpp"

namespace hindcast::gui {

class FindBar {
public:
    void open(const TextWidget& text);
    // The keys Ctrl+F, Ctrl+G (the next one) and Escape, while the panel has the keyboard.
    void take_keys(TextWidget& text);
    void draw(TextWidget& text);

private:
    void close(TextWidget& text);
    void look(const TextWidget& text);
    void next(TextWidget& text, int by);
    bool is_selected(const TextWidget& text) const;

    bool open_ = false, focus_ = false, match_case_ = false;
    std::string word_, by_;
    // Places found in the text, then the version, word and case that they were found for.
    std::vector<std::size_t> found_;
    std::uint64_t version_ = 0;
    std::string found_word_;
    bool found_case_ = false;
};

}  // namespace hindcast::gui
