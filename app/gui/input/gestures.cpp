#include "app/gui/input/gestures.hpp"

#include <imgui_internal.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace hindcast::gui {

namespace {

using How = GestureRow::How;
using In = GestureRow::In;

constexpr GestureRow table[] = {
    {Gesture::pull, How::pull, ImGuiMouseButton_Left, ImGuiMod_Ctrl, In::any, "",
     "Pull on a point of a body with a spring, while time runs; its path becomes a force of the "
     "scene. Escape lets go without a trace"},
    {Gesture::move, How::drag, ImGuiMouseButton_Left, ImGuiMod_Shift, In::any, "", "Move the view"},
    {Gesture::turn, How::drag, ImGuiMouseButton_Left, 0, In::space, "", "Turn the view"},
    {Gesture::move, How::drag, ImGuiMouseButton_Left, 0, In::plane, "in the plane",
     "Move the view"},
    {Gesture::move, How::drag, ImGuiMouseButton_Right, 0, In::any, "", "Move the view"},
    {Gesture::move, How::drag, ImGuiMouseButton_Middle, 0, In::any, "", "Move the view"},
    {Gesture::zoom, How::wheel, 0, 0, In::any, "", "Zoom to the cursor"},
    {Gesture::choose_part, How::click, ImGuiMouseButton_Left, ImGuiMod_Shift, In::any, "",
     "Choose the point under the cursor besides others, or let it go: to pin them, connect them "
     "and "
     "more"},
    {Gesture::select, How::click, ImGuiMouseButton_Left, 0, In::any, "",
     "Select what is under the cursor"},
    {Gesture::center, How::double_click, ImGuiMouseButton_Left, 0, In::any, "",
     "Center the view on what is under the cursor"},
    {Gesture::view_menu, How::click, ImGuiMouseButton_Right, 0, In::any, "",
     "What can be done with what is chosen, and what can be added"},
    {Gesture::quantity_menu, How::click, ImGuiMouseButton_Right, 0, In::any, "on a quantity",
     "Sweep it, plot it, reset it, optimize it"},
};

// Those of which only one can happen at a time.
bool excludes(How a, How b) { return a == How::drag && b == How::drag; }

}  // namespace

std::string GestureRow::name() const {
    static constexpr const char* buttons[] = {"left ", "right ", "middle "};
    std::string text;
    if ((with & ImGuiMod_Ctrl) != 0) text += "Ctrl + ";
    if ((with & ImGuiMod_Shift) != 0) text += "Shift + ";
    if (how != How::wheel) text += buttons[button];
    text += how == How::wheel          ? "wheel"
            : how == How::click        ? "click"
            : how == How::double_click ? "double click"
                                       : "drag";
    if (*where != 0) text += std::string(" ") + where;
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

bool GestureRow::happens(bool plane) const {
    const ImGuiIO& io = ImGui::GetIO();
    if ((io.KeyMods & with) != with) return false;
    if (in != In::any && (in == In::plane) != plane) return false;
    switch (how) {
        case How::drag:  // a click of the left button selects: it may move a little
            return ImGui::IsMouseDragging(button, button == ImGuiMouseButton_Left ? -1.0F : 0.0F);
        case How::pull: return ImGui::IsMouseClicked(button);
        case How::wheel: return io.MouseWheel != 0;
        case How::click:
            return ImGui::IsMouseReleased(button) && !ImGui::IsMouseDragPastThreshold(button) &&
                   // Moved and released within one frame.
                   std::hypot(io.MousePos.x - io.MouseClickedPos[button].x,
                              io.MousePos.y - io.MouseClickedPos[button].y) < io.MouseDragThreshold;
        case How::double_click: return ImGui::IsMouseDoubleClicked(button);
    }
    return false;
}

std::span<const GestureRow> gestures() { return table; }

bool happens(Gesture gesture, bool plane) {
    for (const GestureRow& row : table) {
        if (row.does != gesture || !row.happens(plane)) continue;
        const bool other_first =
            std::any_of(std::begin(table), &row, [&](const GestureRow& before) {
                return before.does != gesture && excludes(before.how, row.how) &&
                       before.happens(plane);
            });
        if (!other_first) return true;
    }
    return false;
}

}  // namespace hindcast::gui
