// Controls on the picture for its looks: the slice, and a popup for the thickness of tubes and for
// what the scene keeps.
#pragma once

#include "app/gui/work/context.hpp"

namespace hindcast::gui {

// True if the scene shown has springs or chains.
bool has_tubes(const Running& running);
// A button with its popup, at the cursor.
void looks_button(Context& context);
// The width of the slice's controls in pixels, and the controls themselves, at the cursor.
float slice_controls_width();
void slice_controls(Context& context);

}  // namespace hindcast::gui
