// How things are drawn, chosen on the picture: the slice, and a popup for the thickness of tubes and
// for what the scene keeps.
#pragma once

#include "app/gui/work/context.hpp"

namespace hindcast::gui {

// Whether the scene shown has springs or chains.
bool has_tubes(const Running& running);
// A button with its popup, at the cursor.
void looks_button(Context& context);
// How wide the controls of the slice are, and the controls, at the cursor.
float slice_controls_width();
void slice_controls(Context& context);

}  // namespace hindcast::gui
