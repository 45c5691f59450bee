// The color maps as tables of 256 sRGB colors, for the shaders and the color bar.
#pragma once

#include <array>
#include <cstdint>

#include "app/exchange/stage.hpp"

namespace hindcast::render {

using ColorTable = std::array<std::array<std::uint8_t, 4>, 256>;

const ColorTable& color_table(ColorMap map);
// The position in the map, 0 .. 1, of the color of a number in this range, as the shaders compute
// it. On a logarithmic scale see smallest_log_part.
double part_of_range(const std::array<double, 2>& range, bool logarithmic, double value);
// The number whose color is there; if there are several (on a logarithmic scale), the largest one,
// or 0.
double number_at(const std::array<double, 2>& range, bool logarithmic, double part);
// t: 0 .. 1, clamped.
Color color_at(ColorMap map, double t);

}  // namespace hindcast::render
