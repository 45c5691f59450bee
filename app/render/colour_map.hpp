// The colour maps, as tables of 256 sRGB colours: the ones that the shaders use, and the colour
// bar.
#pragma once

#include <array>
#include <cstdint>

#include "app/exchange/stage.hpp"

namespace hindcast::render {

using ColourTable = std::array<std::array<std::uint8_t, 4>, 256>;

const ColourTable& colour_table(ColourMap map);
// t: 0 .. 1, clamped.
Colour colour_at(ColourMap map, double t);

}  // namespace hindcast::render
