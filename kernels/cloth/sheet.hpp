// Sheets: triangles in space with a direction of the warp, and the inner edges between them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/document/file_access.hpp"
#include "engine/document/node.hpp"

namespace hindcast::cloth {

struct Sheet {
    std::vector<double> points;                          // x, y, z of every point at rest, m
    std::vector<std::array<std::int64_t, 3>> triangles;  // numbers of the corners
    std::array<double, 3> warp{};                        // as written
    // Per triangle, with warp and weft as the axes of its plane, D = (X1-X0, X2-X0):
    std::vector<double> inverse;  // D^-1, row by row, 1/m
    std::vector<double> areas;    // m^2
    // Per inner edge a-b: points a, b, c, d; c is left of a-b seen from the side on which the
    // triangles are counter-clockwise, d on the right.
    std::vector<std::array<std::int64_t, 4>> hinges;
    // Between the normals at rest, positive where c and d bend toward them.
    std::vector<double> angles;

    std::vector<double> centroids() const;  // of every triangle
    std::vector<double> midpoints() const;  // of every inner edge
};

// {"grid": {"origin": [x, y, z], "warp": [x, y, z], "weft": [x, y, z], "cells": [n, m],
//           "pattern": P}}
//     points (i, j) at origin + i/n warp + j/m weft, number i (m + 1) + j. Cells are halved along
//     the diagonal from (i, j) to (i+1, j+1); with P "alternating" (default; else "diagonal") every
//     second one along the other.
// {"points": [[x, y, z], ...], "triangles": [[a, b, c], ...], "warp": [x, y, z]}
//     the warp runs as this vector (default: the x axis) is seen in each triangle's plane.
// {"file": "shirt.obj", "scale": 1e-3, "warp": [x, y, z]}
//     of the formats of engine/mesh. Places are multiplied by the scale (default 1).
// Throws Error at the node: triangles without area, edges of more than two triangles or of two that
// are not oriented alike, a warp that is perpendicular to a triangle.
Sheet read_sheet(const document::Node& node, const document::FileAccess& files = {});

}  // namespace hindcast::cloth
