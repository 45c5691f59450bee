// Random bodies above all obstacles, on their way down: solids, cloth, points.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/physics/drops/obstacles.hpp"

namespace hindcast::test::drops {

// What all bodies have: where they begin, above all obstacles, and how they fall.
inline V random_start(const Space& space) { return space.place(0.8, 1.32, 1.6); }
inline std::string random_velocity(const Space& space, double fastest) {
    return R"("velocity": )" + space(space.place(1, -fastest, -4));
}

// Tetrahedra that stand on each other's faces; in the plane triangles on each other's edges.
inline std::string random_solid(int number, const Space& space) {
    Random& random = space.random;
    const std::size_t corners = space.plane ? 3 : 4;
    const V start = random_start(space);
    std::vector<V> points{start, start + V{0.2, 0, 0}, start + V{0.1, 0.18, 0}};
    if (!space.plane) points.push_back(start + V{0.1, 0.06, 0.16});
    std::vector<std::size_t> last;
    for (std::size_t c = 0; c < corners; ++c) last.push_back(c);
    std::vector<std::vector<std::size_t>> elements{last};
    const int count = 2 + random.below(5);
    for (int k = 1; k < count; ++k) {
        const auto gone = static_cast<std::size_t>(random.below(static_cast<int>(corners) - 1));
        V face{};
        for (std::size_t c = 0; c < corners; ++c)
            if (c != gone) face = face + (1.0 / static_cast<double>(corners - 1)) * points[last[c]];
        points.push_back(2.0 * face - points[last[gone]] + space.vector(0.02));
        last[gone] = last.back();
        last.back() = points.size() - 1;
        const V &o = points[last[0]], a = points[last[1]] - o, b = points[last[2]] - o;
        if ((space.plane ? cross(a, b)[2] : inner(cross(a, b), points[last[3]] - o)) < 0)
            std::swap(last[0], last[1]);
        elements.push_back(last);
    }
    V lift{};  // so that no point is lower than the start
    const std::size_t up = space.plane ? 1 : 2;
    for (const V& p : points) lift[up] = std::max(lift[up], start[up] - p[up]);
    for (V& p : points) p = p + lift;
    std::string places, numbers;
    for (const V& p : points) places += (places.empty() ? "" : ", ") + space(p);
    for (const auto& element : elements) {
        numbers += numbers.empty() ? "[" : ", [";
        for (std::size_t c = 0; c < corners; ++c)
            numbers += (c > 0 ? ", " : "") + std::to_string(element[c]);
        numbers += "]";
    }
    return R"({"type": "solid", "name": "solid)" + std::to_string(number) +
           R"(", "density": 300, "mu": 2e4, "lambda": 3e4, "material": "stable_neo_hookean",
        "mesh": {"points": [)" +
           places + R"(], ")" + (space.plane ? "triangles" : "tetrahedra") + R"(": [)" + numbers +
           "]}, " + random_velocity(space, 8) + "}";
}

inline std::string random_points(int number, const Space& space) {
    std::string places;
    for (int k = 0; k < 2; ++k) places += (k > 0 ? ", " : "") + space(random_start(space));
    return R"({"type": "particles", "name": "points)" + std::to_string(number) +
           R"(", "mass": 0.5, "positions": [)" + places + "], " + random_velocity(space, 15) + "}";
}

// A sheet of some cells that rises from its lowest corner, soft to stiff, that bends or folds.
inline std::string random_cloth(int number, const Space& space) {
    Random& random = space.random;
    const auto power = [&](double low, double high) { return std::pow(10, random(low, high)); };
    const V start = random_start(space);
    const double turn = random(0, 6.28), warp = random(0.2, 0.5), weft = random(0.2, 0.5);
    const V along = {warp * std::cos(turn), warp * std::sin(turn), random(0, 0.3)},
            across = {-weft * std::sin(turn), weft * std::cos(turn), random(0, 0.3)};
    const int n = 1 + random.below(3), m = 1 + random.below(3);
    const double stiffness = power(1.5, 3.5), density = random(0.1, 0.5);
    std::string cloth = R"({"type": "cloth", "name": "cloth)" + std::to_string(number) +
                        R"(", "area_density": )" + text(density) + R"(, "warp_stiffness": )" +
                        text(stiffness) + R"(, "mesh": {"grid": {"origin": )" + space(start) +
                        R"(, "warp": )" + space(along) + R"(, "weft": )" + space(across) +
                        R"(, "cells": [)" + std::to_string(n) + ", " + std::to_string(m) + "]}}, ";
    if (random.below(2) == 0) {
        cloth += R"("weft_stiffness": )" + text(stiffness * random(0.5, 2)) + ", ";
        cloth += R"("shear_stiffness": )" + text(stiffness * random(0.05, 0.5)) + ", ";
    }
    if (random.below(4) > 0) cloth += R"("bending_stiffness": )" + text(power(-5, -2)) + ", ";
    return cloth + random_velocity(space, 8) + "}";
}

inline std::string random_body(int number, const Space& space) {
    switch (space.random.below(space.plane ? 2 : 3)) {
        case 0: return random_solid(number, space);
        case 1: return random_points(number, space);
        default: return random_cloth(number, space);
    }
}

}  // namespace hindcast::test::drops
