// Choosing points and elements in the picture: Shift + click, a box, a lasso. The chosen parts are
// marked; a bar shows their number and the actions for them.
#pragma once

#include <imgui.h>

#include <vector>

#include "app/gui/making/areas.hpp"
#include "app/gui/work/context.hpp"

namespace hindcast::gui {

class PartTools {
public:
    // Call it once a frame after the picture's item, as Pulling::update(). True while a box or a
    // lasso has the mouse.
    bool update(Context& context, ImVec2 at, int width, int height, bool pressed, bool active);
    // Shift + click: what is under it comes in, or goes out.
    static void click(Context& context, ImVec2 at);
    // The marks, and the bar below them.
    void draw(Context& context, ImVec2 at, int width, int height) const;

private:
    void take(Context& context, int width, int height);

    bool on_ = false;
    std::vector<Pixel> line_;  // a box: its first corner and the mouse
};

// The menu of the right mouse button in the picture: the chosen parts, the selected object, and
// what can be added.
void view_menu(Context& context, bool asked);

}  // namespace hindcast::gui
