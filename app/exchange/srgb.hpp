// sRGB (IEC 61966-2-1): the linear light of a channel, 0 .. 1.
#pragma once

#include <cmath>

namespace hindcast::render {

inline double linear_of_srgb(double channel) {
    return channel > 0.04045 ? std::pow((channel + 0.055) / 1.055, 2.4) : channel / 12.92;
}

}  // namespace hindcast::render
