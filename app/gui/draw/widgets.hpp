// The controls that all panels share, so that they look and behave alike. Each has a tooltip,
// numbers are dragged or typed with units, and empty lists say that they are empty.
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

// The style of the current frame, set by the window before the panels are drawn.
struct Style {
    const Theme* theme = nullptr;
    const Palette& palette() const { return theme->palette(); }
    const Fonts& fonts() const { return theme->fonts(); }
    float scale() const { return theme->scale(); }
};
const Style& style();
void set_style(const Theme* theme);

// A length at scale 1, in pixels.
float px(float length);
// The right edge of the window's content, in window coordinates.
float right_edge();

// The tooltip of the last item.
void tip(const std::string& text);

void quiet_text(const std::string& text);
void wrapped_text(const std::string& text, const ImVec4& color);
void heading(const char* text);
// The text, or its beginning and end with "…" between them so that it is at most that wide.
std::string cut_to(const std::string& text, float width);
// The next item, so wide, goes beside the last one or, without room there, below it.
void beside(float width, float spacing = 6);
// Text cut to the width; its tooltip is then the whole text.
void cut_text(const std::string& text, float width);

// The words for an identifier of scene files: "gradient descent", "L-BFGS". Names that users give
// are shown as they are.
std::string label_of(const std::string& identifier);
// Likewise a path, whose first part is a name: "my_cage.rest length", "robot.body mass[left_foot]".
std::string path_label(const std::string& path);

// The header row of the current table, each header with its help.
void table_headers(std::span<const char* const> helps);

// A square button with an icon only.
bool icon_button(const char* id, const char* icon, const std::string& tooltip, bool enabled = true,
                 bool pressed = false);
// A button with an icon and words; `strong` marks the next thing to do.
bool text_button(const char* icon, const std::string& label, const std::string& tooltip,
                 bool enabled = true, bool strong = false, float width = 0);
// The popup that is begun next opens below the item that was drawn last.
void popup_below();

// An icon in the middle of the remaining window, with a text that says what is missing and a hint
// how to get it.
void empty_state(const char* icon, const std::string& text, const std::string& hint);

// A field for one number: dragged sideways, or clicked and typed ("3 cm", "2*pi").
struct NumberField {
    double value = 0;  // in and out
    std::string unit = {};
    double low = -INFINITY, high = INFINITY;
    float width = 0;  // 0: the remaining width
    bool whole = false;
    std::string tooltip = {};
    bool mixed = false;        // shows a dash
    bool logarithmic = false;  // dragged by factors; `low` must be positive
    std::string shown = {};    // text instead of the number and its unit
};
enum class Edited { no, dragging, done };
// Throws nothing: invalid input stays in the field and is marked.
Edited number_field(const char* id, NumberField& field);

// A choice of words. `shown`: what is shown for each, label_of() or path_label().
bool choice(const char* id, const std::vector<std::string>& words, std::string& chosen,
            const std::string& tooltip, float width = 0, const char* none = nullptr,
            std::string (*shown)(const std::string&) = nullptr);

// A window in the middle that everything else waits for. True: its content follows, then EndPopup().
bool begin_modal(const char* id, float width);

// A name that is typed where it stands, over the rest of the line. `fresh`: it has just come, and takes
// the keyboard; false from then on.
enum class Typed : std::uint8_t { goes_on, entered, left };
Typed name_field(const char* id, std::string& name, bool& fresh, const std::string& tooltip);

bool search_field(const char* id, std::string& text, const char* hint);
// True if all words of `search` occur in the text, ignoring case.
bool matches(const std::string& text, const std::string& search);

// A number of the document: integer, real or fraction.
std::optional<double> plain_number(const document::Node& node);

}  // namespace hindcast::gui
