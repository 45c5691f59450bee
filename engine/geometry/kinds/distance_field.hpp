// Solids given by distances: a cubic B-spline whose coefficients stand at the nodes of a grid,
// twice continuously differentiable. It equals the given function f where f is linear, and
// otherwise f + spacing^2 / 6 (Laplacian of f), to fourth order: a ball of radius r becomes smaller
// by (dimension - 1) spacing^2 / (6 r). A point at b from the grid has the distance
// sqrt(d^2 + b^2), with d that of the nearest place in the grid.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/geometry/kinds/kind.hpp"
#include "engine/lang/control.hpp"

namespace hindcast::geometry {

// The nodes of a grid in D dimensions; its center is the origin.
struct FieldGrid {
    std::vector<std::int64_t> counts;  // of nodes along each axis; the last axis runs fastest
    double spacing = 0;                // m

    // The spline's slope along an axis is at most that of the values, which is 1.
    double steepest() const { return 1.000002 * std::sqrt(static_cast<double>(counts.size())); }
    double half_extent(std::size_t axis) const {  // m
        return 0.5 * spacing * static_cast<double>(counts[axis] - 1);
    }
    double half_diagonal() const {  // m
        double square = 0;
        for (const std::int64_t n : counts)
            square += std::pow(0.5 * spacing * static_cast<double>(n - 1), 2);
        return std::sqrt(square);
    }
};

namespace kinds {

struct DistanceField {
    static constexpr KindRow row{
        .kind = ShapeKind::distance_field,
        .name = "distance_field",
        .title = "Solid by its distances",
        .placed_by = PlacedBy::grid,
        .obstacle_text =
            "A solid by its distance at the nodes of a grid, negative inside, in between a cubic "
            "B-spline with these coefficients: twice continuously differentiable; exact where the "
            "distance is linear, elsewhere it is f + spacing^2/6 (Laplacian of f), so that a ball "
            "of radius r in space is smaller by spacing^2/(3 r). Beyond the grid no point is met. "
            "It turns about the grid's center."};
};

}  // namespace kinds

// The distance at a point, in the grid's axes, from its center.
template <int D>
class FieldDistance {
public:
    using V = Vec<Float, D>;
    using Sample = std::function<Float(Int)>;  // the value at a node

    FieldDistance(const FieldGrid& grid, const Sample& sample, const V& p)
        : grid_(grid), sample_(sample) {
        const V local = p / grid.spacing;
        V off;
        for (int k = 0; k < D; ++k) {
            const auto last = static_cast<double>(grid.counts[static_cast<std::size_t>(k)] - 1);
            const Float u = local[k] + 0.5 * last;
            within_[k] = clamp(u, 1.0, last - 1.0);
            off[k] = u - within_[k];
        }
        beyond_ = norm(off) * grid.spacing;
        there_ = spline(within_);
    }

    Float distance() const { return at_least(there_); }
    // A lower bound of the distance: no part of the solid is nearer.
    Float clearance() const { return at_least(there_ / grid_.steepest()); }

private:
    Float at_least(const Float& there) const {
        return select(beyond_ > 0.0, norm(Vec2(there, beyond_)), there);
    }
    Float spline(const V& u) const {
        std::array<std::array<Float, 4>, D> weights;
        std::array<Int, D> first;
        for (int k = 0; k < D; ++k) {
            const auto n = static_cast<std::int32_t>(grid_.counts[static_cast<std::size_t>(k)]);
            const Int cell = clamp(Int(floor(u[k])), 1, n - 3);
            const Float f = u[k] - Float(cell), g = 1.0 - f;
            weights[k] = {g * g * g / 6.0, (4.0 + f * f * (3.0 * f - 6.0)) / 6.0,
                          (4.0 + g * g * (3.0 * g - 6.0)) / 6.0, f * f * f / 6.0};
            first[k] = cell - 1;
        }
        return sum(weights, first, 0, Int(0));
    }
    Float sum(const std::array<std::array<Float, 4>, D>& weights, const std::array<Int, D>& first,
              int axis, const Int& before) const {
        if (axis == D) return sample_(before);
        const auto k = static_cast<std::size_t>(axis);
        Float total = 0;
        for (int j = 0; j < 4; ++j) {
            const Int index = before * static_cast<std::int32_t>(grid_.counts[k]) + first[k] + j;
            total += weights[k][static_cast<std::size_t>(j)] * sum(weights, first, axis + 1, index);
        }
        return total;
    }

    const FieldGrid& grid_;
    const Sample& sample_;
    V within_;  // in spacings from the first node
    Float beyond_, there_;
};

}  // namespace hindcast::geometry
