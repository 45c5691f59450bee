// What the mouse does, in one table: the picture and the inspector ask it what happens, the help
// page lists it. Keys have a table of their own (actions.hpp).
#pragma once

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace hindcast::gui {

enum class Gesture : std::uint8_t { turn, move, zoom, pull, select, centre, quantity_menu };

struct GestureRow {
    Gesture does = Gesture::turn;
    enum class How : std::uint8_t { drag, pull, wheel, click, double_click } how = How::drag;
    ImGuiMouseButton button = ImGuiMouseButton_Left;
    ImGuiKeyChord with = 0;  // keys that are held; more may be
    enum class In : std::uint8_t { any, space, plane } in = In::any;
    const char* where = "";  // added to the name: "on a quantity"
    const char* help = "";

    std::string name() const;  // "Ctrl + left drag"
    bool happens(bool plane) const;
};

// Of two rows that happen at once, the first counts.
std::span<const GestureRow> gestures();

// Whether it happens in this frame, wherever the mouse is. `plane`: the view is of a scene in the
// plane, or seen without perspective.
bool happens(Gesture gesture, bool plane = false);

}  // namespace hindcast::gui
