// Draws and edits a field of any form (app/session/document/fields/form.hpp): by what may be
// written there, never by which module it belongs to. Values that fit in a line stand beside the
// name; lists, objects and generators unfold below it.
#pragma once

#include <functional>
#include <string>

#include "app/gui/panels/fields/place.hpp"
#include "app/gui/work/topics.hpp"

namespace hindcast::gui {

// The width of the names before the fields: this part of the line, but never too narrow to read.
float label_width(float part = 0.42F);

struct FieldLook {
    std::string label, help;
    float part = 0.42F;     // of the line, for the name
    bool optional = false;  // it may be left out, and has no default
    bool below = false;     // without a line of its own: the name stands above already
};

// The whole field: name, controls, and what the loader says against it. A right click on the name
// offers its default.
void draw_field(FieldPlace& place, const FieldLook& look);

// The loader's message about the newest document, at this pointer or below it; "" if none.
std::string refusal_at(const Running& running, const std::string& pointer);
void draw_refusal(const Topics& work, const std::string& pointer);

// ---- the parts; `below`: a pointer within the field ----
// In what is left of the line; may unfold below it.
void draw_value(FieldPlace& place, const std::string& below, const session::Form& form,
                const std::string& help, bool optional = false);
// A combo of the alternatives; what the new one has a place for is kept. `optional`: also none.
void draw_choice_of_form(FieldPlace& place, const std::string& below, const session::Form& form,
                         const std::string& help, bool optional);
// A small button with the alternatives in a menu, for where the value itself stands in the line.
void draw_ways(FieldPlace& place, const std::string& below, const session::Form& form,
               bool optional = false);
// On lines of its own.
void draw_block(FieldPlace& place, const std::string& below, const session::Form& form,
                const std::string& help);
// One line of controls (scalars.cpp). `width`: 0 for what is left of the line; `bare`: numbers
// without their unit.
void draw_scalar(FieldPlace& place, const std::string& below, const session::Form& form,
                 const std::string& help, float width = 0, bool bare = false);
// `keep`: room that stays free at the end of its first line.
void draw_vector(FieldPlace& place, const std::string& below, const session::Form& form,
                 const std::string& help, float keep = 0);
// Lists of scalars or of rows (sheet.cpp).
void draw_sheet(FieldPlace& place, const std::string& below, const session::Form& form,
                const std::string& help);
// A button with the files below the scene's folder; the chosen one, relative to it, or "" (files).
std::string choose_file(const FieldPlace& place, const session::Form& form,
                        std::function<void(const std::string& name)> then);

}  // namespace hindcast::gui
