// All mouse gestures in one table, which the picture, the inspector and the help page read. Keys
// are in another table (actions.hpp).
#pragma once

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace hindcast::gui {

enum class Gesture : std::uint8_t {
    turn,
    move,
    zoom,
    pull,
    choose_part,
    select,
    center,
    view_menu,
    quantity_menu
};

struct GestureRow {
    Gesture does = Gesture::turn;
    enum class How : std::uint8_t { drag, pull, wheel, click, double_click } how = How::drag;
    ImGuiMouseButton button = ImGuiMouseButton_Left;
    ImGuiKeyChord with = 0;  // keys that must be held; others may be
    enum class In : std::uint8_t { any, space, plane } in = In::any;
    const char* where = "";  // added to the name: "on a quantity"
    const char* help = "";

    std::string name() const;  // "Ctrl + left drag"
    bool happens(bool plane) const;
};

// If two rows match at once, the first counts.
std::span<const GestureRow> gestures();

// True if the gesture happens in this frame, wherever the mouse is. `plane`: the scene is
// two-dimensional, or seen without perspective.
bool happens(Gesture gesture, bool plane = false);

}  // namespace hindcast::gui
