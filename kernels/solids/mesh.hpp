// Meshes of simplices: tetrahedra in space, triangles in the plane. Generated, or points and
// elements as written, and what the elements know of their shape at rest.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/document/file_access.hpp"
#include "engine/document/node.hpp"

namespace hindcast::solids {

struct Mesh {
    int dimension = 3;
    std::vector<double> points;         // of every point at rest, in meters
    std::vector<std::int64_t> corners;  // numbers of the points, dimension + 1 per element
    std::vector<double>
        inverse;  // per element D^-1, row by row: D = (X1-X0, X2-X0, ...) as columns
    std::vector<double> volumes;  // |det D| / dimension!, in m^3 (plane: m^2)

    std::int64_t point_count() const {
        return static_cast<std::int64_t>(points.size()) / dimension;
    }
    std::int64_t element_count() const {
        return static_cast<std::int64_t>(corners.size()) / (dimension + 1);
    }
    std::vector<double> centroids() const;  // of every element

    // The triangles that belong to one element only, counter-clockwise as seen from outside at
    // rest, in the order of their elements. In the plane: all elements.
    struct Surface {
        std::vector<std::array<std::int64_t, 3>> triangles;  // numbers of the corners
        std::vector<std::int64_t> element_of;
    };
    Surface surface() const;
};

// {"box": {"min": [x, y, z], "max": [x, y, z], "cells": [nx, ny, nz]}}
//     points (i, j, k), i = 0..nx and so on, at min + (i, j, k) * (max - min) / cells; the last
//     index runs fastest. Each cell, in the same order, is split into six tetrahedra around its
//     diagonal (Kuhn 1960): for the axis orders xyz xzy yxz yzx zxy zyx the corners are c, c + e_a,
//     c + e_a + e_b, c + (1, 1, 1). In the plane likewise: two triangles, orders xy and yx.
// {"points": [[x, y, z], ...], "tetrahedra": [[a, b, c, d], ...]}, in the plane "triangles"
// {"file": "bracket.msh", "scale": 1e-3}
//     of the formats of engine/mesh; in the plane, triangles whose places have one z. Places are
//     multiplied by the scale (default 1).
// Throws Error at the node; an element without volume is one.
Mesh read_mesh(const document::Node& node, int dimension, const document::FileAccess& files = {});

}  // namespace hindcast::solids
