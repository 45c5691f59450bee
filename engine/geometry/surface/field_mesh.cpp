#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "engine/geometry/surface/surface_mesh.hpp"

namespace hindcast::geometry {

using numeric::plus;
using numeric::scaled;
using numeric::unit;
using Vertex = SurfaceMesh::Vertex;

namespace {

class FieldMesh {
public:
    FieldMesh(const std::vector<std::int64_t>& counts, double spacing,
              const std::vector<double>& samples)
        : axes_(counts.size()), spacing_(spacing), samples_(samples) {
        std::copy(counts.begin(), counts.end(), counts_.begin());
        // The spline is defined from the second node to the last but one.
        const auto longest = static_cast<double>(*std::ranges::max_element(counts) - 3);
        const double step = longest / std::clamp(longest, 48.0, 96.0);
        for (std::size_t k = 0; k < axes_; ++k) {
            const auto length = static_cast<double>(counts_[k] - 3);
            cells_[k] = static_cast<std::int64_t>(std::ceil(length / step - 1e-9));
            step_[k] = length / static_cast<double>(cells_[k]);
        }
    }

    SurfaceMesh make() {
        values_.reserve(static_cast<std::size_t>(index({cells_[0], cells_[1], cells_[2]}) + 1));
        for_each(1, [&](const Cell& c) { values_.push_back(sampled(node(c)).value); });
        for_each(0, [&](const Cell& c) {
            std::array<std::size_t, 3> order{0, 1, 2};
            do cut(c, order);
            while (std::next_permutation(order.begin(),
                                         order.begin() + static_cast<std::ptrdiff_t>(axes_)));
        });
        return std::move(mesh_);
    }

private:
    using Cell = std::array<std::int64_t, 3>;
    struct Sample {
        double value = 0;
        numeric::Vec3 slope{};
    };

    void for_each(std::int64_t more, const auto& act) const {
        Cell c{};
        const auto end = [&](std::size_t k) { return k < axes_ ? cells_[k] + more : 1; };
        for (c[0] = 0; c[0] < end(0); ++c[0])
            for (c[1] = 0; c[1] < end(1); ++c[1])
                for (c[2] = 0; c[2] < end(2); ++c[2]) act(c);
    }
    // The index of a node of the lattice.
    std::int64_t index(const Cell& c) const {
        return (c[0] * (cells_[1] + 1) + c[1]) * (cells_[2] + 1) + c[2];
    }
    numeric::Vec3 node(const Cell& c) const {  // in spacings from the grid's first
        numeric::Vec3 u{};
        for (std::size_t k = 0; k < axes_; ++k) u[k] = 1 + step_[k] * static_cast<double>(c[k]);
        return u;
    }
    numeric::Vec3 place(const numeric::Vec3& u) const {
        numeric::Vec3 x{};
        for (std::size_t k = 0; k < axes_; ++k)
            x[k] = spacing_ * (u[k] - 0.5 * static_cast<double>(counts_[k] - 1));
        return x;
    }

    Sample sampled(const numeric::Vec3& u) const {
        std::array<std::array<double, 4>, 3> weight{}, slope{};
        std::array<std::int64_t, 3> first{};
        for (std::size_t k = 0; k < 3; ++k) {
            weight[k] = {1, 0, 0, 0};
            if (k >= axes_) continue;
            const auto cell = std::clamp(static_cast<std::int64_t>(std::floor(u[k])),
                                         std::int64_t{1}, counts_[k] - 3);
            const double f = u[k] - static_cast<double>(cell), g = 1 - f;
            weight[k] = {g * g * g / 6, (4 + f * f * (3 * f - 6)) / 6,
                         (4 + g * g * (3 * g - 6)) / 6, f * f * f / 6};
            slope[k] = {-g * g / 2, (1.5 * f - 2) * f, (2 - 1.5 * g) * g, f * f / 2};
            first[k] = cell - 1;
        }
        Sample sum;
        const auto reach = [&](std::size_t k) { return k < axes_ ? std::size_t{4} : 1; };
        for (std::size_t i = 0; i < reach(0); ++i)
            for (std::size_t j = 0; j < reach(1); ++j)
                for (std::size_t k = 0; k < reach(2); ++k) {
                    const auto at = static_cast<std::size_t>(
                        ((first[0] + static_cast<std::int64_t>(i)) * counts_[1] + first[1] +
                         static_cast<std::int64_t>(j)) *
                            counts_[2] +
                        first[2] + static_cast<std::int64_t>(k));
                    const double s = samples_.size() == 1 ? samples_.front() : samples_[at];
                    const double x = weight[0][i], y = weight[1][j], z = weight[2][k];
                    sum.value += s * x * y * z;
                    sum.slope = plus(
                        sum.slope,
                        scaled({slope[0][i] * y * z, x * slope[1][j] * z, x * y * slope[2][k]}, s));
                }
        return sum;
    }

    Vertex vertex(const numeric::Vec3& u) const {
        return {place(u), axes_ == 3 ? unit(sampled(u).slope) : numeric::Vec3{0, 0, 1}};
    }
    // The zero of the spline between two nodes of which one is inside (false position, the Illinois
    // variant).
    const Vertex& between(const Cell& a, const Cell& b) {
        const std::pair<std::int64_t, std::int64_t> key = std::minmax(index(a), index(b));
        const auto found = found_.find(key);
        if (found != found_.end()) return found->second;
        numeric::Vec3 low = node(a), high = node(b), at = low;
        double f = value(a), g = value(b);
        for (int round = 0; round < 40; ++round) {
            at = plus(low, scaled(plus(high, scaled(low, -1)), f / (f - g)));
            const double here = sampled(at).value;
            if (std::abs(here) <= 1e-12 * spacing_) break;
            if ((here <= 0) == (g <= 0)) {
                high = at;
                g = here;
                f /= 2;
            } else {
                low = at;
                f = here;
                g /= 2;
            }
        }
        return found_.emplace(key, vertex(at)).first->second;
    }
    double value(const Cell& c) const { return values_[static_cast<std::size_t>(index(c))]; }

    // The part of a cell where u[order[0]] >= u[order[1]] >= ... from its corner.
    void cut(Cell corner, const std::array<std::size_t, 3>& order) {
        std::array<Cell, 4> corners{};
        corners[0] = corner;
        for (std::size_t k = 0; k < axes_; ++k) {
            ++corner[order[k]];
            corners[k + 1] = corner;
        }
        bool even = true;  // the corners' orientation
        for (std::size_t i = 0; i < axes_; ++i)
            for (std::size_t j = i + 1; j < axes_; ++j) even = even != (order[i] > order[j]);
        std::vector<Vertex> polygon;
        if (axes_ == 2) {
            for (std::size_t k = 0; k < 3; ++k) {
                const Cell &a = corners[k], &b = corners[(k + 1) % 3];
                if (value(a) <= 0) polygon.push_back(vertex(node(a)));
                if ((value(a) <= 0) != (value(b) <= 0)) polygon.push_back(between(a, b));
            }
        } else {
            std::vector<Cell> in, out;
            for (std::size_t k = 0; k < 4; ++k) {
                if (value(corners[k]) > 0) {
                    out.push_back(corners[k]);
                } else {
                    if (out.size() % 2 == 1) even = !even;  // brought to the front
                    in.push_back(corners[k]);
                }
            }
            if (in.size() == 2) {
                polygon = {between(in[0], out[0]), between(in[0], out[1]), between(in[1], out[1]),
                           between(in[1], out[0])};
            } else {
                for (const Cell& a : in)
                    for (const Cell& b : out) polygon.push_back(between(a, b));
            }
        }
        if (!even) std::ranges::reverse(polygon);
        mesh_.add_fan(polygon);
    }

    std::size_t axes_;
    double spacing_;
    const std::vector<double>& samples_;
    Cell counts_{1, 1, 1}, cells_{};
    numeric::Vec3 step_{};
    std::vector<double> values_;
    std::map<std::pair<std::int64_t, std::int64_t>, Vertex> found_;
    SurfaceMesh mesh_;
};

}  // namespace

SurfaceMesh field_mesh(const std::vector<std::int64_t>& counts, double spacing,
                       const std::vector<double>& samples) {
    return FieldMesh(counts, spacing, samples).make();
}

}  // namespace hindcast::geometry
