// The labels on the picture of a scene: names of objects, the colour bar, a time stamp. They are
// the same in the window, in exports and in `hindcast render`, drawn with ImGui's current font and
// style into the current window's draw list.
#pragma once

#include <imgui.h>

#include <array>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "app/session/snapshot.hpp"
#include "engine/document/document.hpp"
#include "engine/model/registry.hpp"

namespace hindcast::render {
class Renderer;
}

namespace hindcast::gui {

// A name and its position in the world, m.
struct PlacedName {
    render::Vec3 place{};
    std::string text;
};

// The names at the positions of the frame drawn last: obstacles and targets by their numbers,
// bodies in the middle of their bounding box. Other bodies and objective terms get the position in
// the document. Waits for the drawing.
std::vector<PlacedName> names_in(render::Renderer& renderer, const render::Stage& stage,
                                 const document::Document& document, const Registry& registry);

struct ColourBar {
    std::string title;  // "speed (m/s)"
    std::array<double, 2> range{};
    render::ColourMap map = render::ColourMap::viridis;
};
// "speed (m/s)"; the name alone if the field has no unit or does not exist.
std::string colour_title(const std::vector<session::ShownField>& fields, const std::string& name);
// A time in a scene that lasts `duration` seconds, in a suitable unit: "0.500 s", "0.850 ms".
std::string moment_text(double seconds, double duration);
// "0.500 s", "0.500 s, iteration 12".
std::string time_text(double seconds, std::int64_t iteration, double duration);

// `at` is the picture's upper left corner, width and height its size, all in pixels. Labels that do
// not fit are left out.
void draw_names(ImVec2 at, int width, int height, const render::Camera& camera,
                const std::vector<PlacedName>& names);
struct BarPlace {
    ImVec2 at{}, size{};  // size 0: there was no room and nothing was drawn
};
BarPlace draw_colour_bar(ImVec2 at, int width, int height, const ColourBar& bar);
void draw_time(ImVec2 at, int height, const std::string& text);

}  // namespace hindcast::gui
