// What was clicked on in the picture, in words of the scene: pure functions of the stage, so that
// they can be tested without a window. The renderer tells the thing and the number of the element
// within it (render::Pick).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/exchange/stage.hpp"

namespace hindcast::gui {

// The object of the scene that was picked, by its name, and the part of it. An arrow is taken for
// the point that it stands at. An empty name: nothing.
struct Picked {
    std::string name;
    render::Element part;
};
Picked picked_of(const render::Stage& stage, const render::Pick& pick);

// The points of the scene (elements of `places`) that what was picked consists of.
std::vector<std::int64_t> scene_points(const render::Stage& stage, const render::Pick& pick);

// The row of a quantity with so many rows, of the object of this name, that the part stands for;
// -1 if the quantity does not have one row for each such part.
std::int64_t selected_row(const render::Stage* stage, const std::string& name,
                          const render::Element& part, std::int64_t rows);

// "point 3", "line 2", "element 17"; "" for the whole object.
std::string element_text(const render::Element& part);

}  // namespace hindcast::gui
