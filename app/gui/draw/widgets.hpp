// The controls that all panels share, so that they look and behave alike: every one has a tooltip,
// numbers are dragged, or clicked and typed with units, and lists without content say so.
#pragma once

#include <imgui.h>

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/gui/draw/theme.hpp"
#include "engine/document/node.hpp"

namespace hindcast::gui {

// What the frame is drawn with: set by the window before the panels are drawn.
struct Look {
    const Theme* theme = nullptr;
    const Palette& palette() const { return theme->palette(); }
    const Fonts& fonts() const { return theme->fonts(); }
    float scale() const { return theme->scale(); }
};
const Look& look();
void set_look(const Theme* theme);

// Pixels of a length at scale 1.
float px(float length);
// Where the window's content ends, in its own coordinates.
float right_edge();

// For the last item.
void tip(const std::string& text);

void quiet_text(const std::string& text);
void wrapped_text(const std::string& text, const ImVec4& colour);
void heading(const char* text);
// Text that is cut with "..." where the width ends; the whole of it is its tooltip.
void cut_text(const std::string& text, float width);

// The row of headers of the table that was begun, each with its help.
void table_headers(std::span<const char* const> helps);

// A button with an icon alone, square.
bool icon_button(const char* id, const char* icon, const std::string& tooltip, bool enabled = true,
                 bool pressed = false);
// An icon and words; `strong` is the one thing to do next.
bool text_button(const char* icon, const std::string& label, const std::string& tooltip,
                 bool enabled = true, bool strong = false, float width = 0);

// In the middle of what is left of the window: an icon, what is not there, and what would make it
// be there.
void empty_state(const char* icon, const std::string& text, const std::string& hint);

// A place for one number: dragged sideways, or clicked and typed ("3 cm", "2*pi").
struct NumberField {
    double value = 0;  // in and out
    std::string unit = {};
    double low = -INFINITY, high = INFINITY;
    float width = 0;  // 0: what is left
    bool whole = false;
    std::string tooltip = {};
    bool mixed = false;        // shows a dash
    bool logarithmic = false;  // dragged by factors; `low` must be positive
    std::string shown = {};    // instead of the number and its unit
};
enum class Edited { no, dragging, done };
// Throws nothing: a wrong input is shown in the field and kept there.
Edited number_field(const char* id, NumberField& field);

// A choice of words.
bool choice(const char* id, const std::vector<std::string>& words, std::string& chosen,
            const std::string& tooltip, float width = 0, const char* none = nullptr);

bool search_field(const char* id, std::string& text, const char* hint);
// Whether all words of `search` occur in the text, in any case.
bool matches(const std::string& text, const std::string& search);

// A number of the document: integer, real or fraction.
std::optional<double> plain_number(const document::Node& node);

}  // namespace hindcast::gui
