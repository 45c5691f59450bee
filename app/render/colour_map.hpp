// The colour maps as tables of 256 sRGB colours, for the shaders and the colour bar.
#pragma once

#include <array>
#include <cstdint>

#include "app/exchange/stage.hpp"

namespace hindcast::render {

using ColourTable = std::array<std::array<std::uint8_t, 4>, 256>;

const ColourTable& colour_table(ColourMap map);
// The position in the map, 0 .. 1, of the colour of a number in this range, as the shaders compute
// it. On a logarithmic scale see smallest_log_part.
double part_of_range(const std::array<double, 2>& range, bool logarithmic, double value);
// The number whose colour is there; if there are several (on a logarithmic scale), the largest one,
// or 0.
double number_at(const std::array<double, 2>& range, bool logarithmic, double part);
// t: 0 .. 1, clamped.
Colour colour_at(ColourMap map, double t);

}  // namespace hindcast::render
