// Axes of bodies and geoms on the host, where constants are made before any kernel runs.
#pragma once

#include <array>
#include <span>

namespace hindcast::articulated {

using HostMatrix = std::array<std::array<double, 3>, 3>;

// The matrix, in rows, of a unit quaternion w, x, y, z; its columns are the axes.
inline HostMatrix axes_of(std::span<const double> quaternion) {
    const double w = quaternion[0], x = quaternion[1], y = quaternion[2], z = quaternion[3];
    return {{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
             {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
             {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

}  // namespace hindcast::articulated
