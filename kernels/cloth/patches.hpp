// The patches of a sheet's triangles (kernels/cloth/plate.hpp): which points and edges each has, and
// which of them its curvature depends on.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cloth/plate.hpp"
#include "kernels/cloth/sheet.hpp"

namespace hindcast::cloth {

struct Patches {
    int size = 0;  // points of an item, N; the first three are the triangle's corners
    // Per triangle:
    std::vector<std::int64_t> points;  // N, all different
    std::vector<std::int64_t> places;  // patch_places points; one that is missing is mirrored
    std::vector<std::int64_t> slots;   // of every place: which of `points`, or -1
    std::vector<std::int64_t> edges;   // patch_edges inner edges; 0 where there is none
    std::vector<double> numbers;       // PatchNumbers<double>::count
    std::vector<double> shape;         // 3 (N - 1), of the flat sheet
};

// fixed: of every point, whether it is. any_shape: points that have no part in the shape at rest
// may get one with another.
Patches find_patches(const Sheet& sheet, std::span<const char> fixed, bool any_shape);

}  // namespace hindcast::cloth
