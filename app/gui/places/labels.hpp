// The labels on the picture of a scene: names of objects, the color bar, a time stamp, distances. They are
// the same in the window, in exports and in `hindcast render`, drawn with ImGui's current font and
// style into the current window's draw list.
#pragma once

#include <imgui.h>

#include <array>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"
#include "app/session/link/view.hpp"
#include "app/session/view/view_look.hpp"
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

// The names of the fields that objectives want, above the places where they are drawn.
std::vector<PlacedName> wanted_fields(const render::Stage& stage, const render::Frame& frame);

struct ColorBar {
    std::string title;  // "speed (m/s)"
    std::array<double, 2> range{};
    render::ColorMap map = render::ColorMap::viridis;
    bool logarithmic = false;
    std::string words = {};  // what the range is: "of the whole run"
};
// "speed (m/s)"; the name alone if the field has no unit or does not exist.
std::string color_title(const std::vector<session::ShownField>& fields, const std::string& name);
// A time in a scene that lasts `duration` seconds, in a suitable unit: "0.500 s", "0.850 ms".
std::string moment_text(double seconds, double duration);
// "0.500 s", "0.500 s, iteration 12".
std::string time_text(double seconds, std::int64_t iteration, double duration);

// A distance between two places of the world, m.
struct PlacedDistance {
    render::Vec3 from{}, to{};
};
// The distances where their ends are in the frame. Those that have no end there are left out, and
// `problem` says why.
std::vector<PlacedDistance> distances_in(const std::vector<session::Distance>& distances,
                                         const render::Stage& stage, const render::Frame& frame,
                                         const session::PointPlaces& points, std::string& problem);
// "0.5 m"; "x 0.3  y 0  z -0.4": the way from the first place to the other; z in space alone.
std::string distance_text(const PlacedDistance& distance);
std::string way_text(const PlacedDistance& distance, int dimension);

// `at` is the picture's upper left corner, width and height its size, all in pixels. Labels that do
// not fit are left out.
void draw_names(ImVec2 at, int width, int height, const render::Camera& camera,
                const std::vector<PlacedName>& names);
struct BarPlace {
    ImVec2 at{}, size{};  // of the colors; size 0: there was no room and nothing was drawn
};
// At the right edge; where there is no height for that, lying at the lower right.
BarPlace draw_color_bar(ImVec2 at, int width, int height, const ColorBar& bar);
void draw_time(ImVec2 at, int height, const std::string& text);
// A line from place to place with the distance at its middle, and the way along x, then y, then z.
// Lines behind the eye are left out.
void draw_distances(ImVec2 at, int width, int height, const render::Camera& camera,
                    const std::vector<PlacedDistance>& distances, int dimension);

}  // namespace hindcast::gui
