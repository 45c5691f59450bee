// Translates what was clicked on in the picture into objects of the scene. Pure functions of the
// stage, so that they can be tested without a window. The renderer gives the drawable and the
// number of the element within it (render::Pick).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"

namespace hindcast::gui {

// The name of the picked object and the picked part of it. An arrow counts as the point that it
// starts at. An empty name: nothing was picked.
struct Picked {
    std::string name;
    render::Element part;
};
Picked picked_of(const render::Stage& stage, const render::Pick& pick);

// The points of the scene (elements of the channel `places`) that the picked element consists of.
std::vector<std::int64_t> scene_points(const render::Stage& stage, const render::Pick& pick);

// The row that belongs to the part, of a quantity with `rows` rows of the object of this name; -1
// if the quantity does not have one row for each such part.
std::int64_t selected_row(const render::Stage* stage, const std::string& name,
                          const render::Element& part, std::int64_t rows);

// "point 3", "line 2", "element 17"; "" for the whole object.
std::string element_text(const render::Element& part);

}  // namespace hindcast::gui
