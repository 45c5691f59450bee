#include "kernels/cloth/patches.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace hindcast::cloth {

namespace {

using Triangle = std::array<std::int64_t, 3>;
using Triple = std::array<double, 3>;

// The neighbor across an edge of a triangle.
struct Across {
    std::int64_t triangle, apex, edge;
};

class Finder {
public:
    Finder(const Sheet& sheet, std::span<const char> fixed) : sheet_(sheet) {
        std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> sides, hinges;
        for (std::size_t t = 0; t < sheet.triangles.size(); ++t)
            for (std::size_t c = 0; c < 3; ++c)
                sides[side(t, c)] = static_cast<std::int64_t>(3 * t + c);
        for (std::size_t h = 0; h < sheet.hinges.size(); ++h)
            hinges[{sheet.hinges[h][0], sheet.hinges[h][1]}] = static_cast<std::int64_t>(h);
        for (std::size_t t = 0; t < sheet.triangles.size(); ++t) {
            clamps_.push_back(std::ranges::all_of(sheet.triangles[t], [&](std::int64_t p) {
                return fixed[static_cast<std::size_t>(p)] != 0;
            }));
            for (std::size_t c = 0; c < 3; ++c) {
                const auto [a, b] = side(t, c);
                const auto other = sides.find({b, a});
                across_.emplace_back();
                if (other == sides.end()) continue;
                const auto there = static_cast<std::size_t>(other->second);
                across_.back() =
                    Across{other->second / 3, sheet.triangles[there / 3][(there + 2) % 3],
                           hinges.at({std::min(a, b), std::max(a, b)})};
            }
        }
    }

    struct Patch {
        std::array<std::int64_t, patch_places> places;
        std::array<std::int64_t, patch_edges> edges;
        std::array<bool, patch_places> there;
        PatchNumbers<double> numbers;
        std::array<Triple, patch_places> coefficients;
    };
    Patch patch(std::size_t t) const {
        Patch p{};
        const Triangle& corner = sheet_.triangles[t];
        std::array<bool, patch_edges> usable{};
        for (std::size_t c = 0; c < 3; ++c) p.places[c] = corner[c], p.there[c] = true;
        p.numbers.bends.fill(1.0);
        for (std::size_t c = 0; c < 3; ++c) {
            const std::int64_t a = corner[c], b = corner[(c + 1) % 3];
            p.places[3 + c] = corner[(c + 2) % 3];  // where nothing is: the mirrored triangle
            p.places[6 + 2 * c] = b, p.places[7 + 2 * c] = a;
            const std::optional<Across>& one = across(t, c);
            if (!one) continue;
            p.places[3 + c] = one->apex, p.there[3 + c] = true, p.edges[c] = one->edge;
            const auto next = static_cast<std::size_t>(one->triangle);
            usable[c] = sees(t, next);
            p.numbers.bends[c] = clamps_[next] == clamps_[t] ? 1 : 0;
            // The neighbor is (b, a, apex) in some order: its edges a-apex and apex-b.
            const Triangle& n = sheet_.triangles[next];
            const auto at = static_cast<std::size_t>(std::ranges::find(n, a) - n.begin());
            for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
                const std::optional<Across>& two = across(next, (at + k) % 3);
                const std::size_t f = 3 + 2 * c + k;
                if (!two) continue;
                const auto last = static_cast<std::size_t>(two->triangle);
                p.places[6 + 2 * c + k] = two->apex, p.there[6 + 2 * c + k] = true;
                p.edges[f] = two->edge;
                usable[f] = usable[c] && clamps_[next] == clamps_[t] && sees(next, last);
                p.numbers.bends[f] = clamps_[last] == clamps_[next] ? 1 : 0;
            }
        }
        std::array<Triple, patch_places> at_rest{};
        for (std::size_t k = 0; k < patch_places; ++k) at_rest[k] = point(p.places[k]);
        const PatchShape<double> shape(at_rest, p.numbers);
        for (std::size_t c = 0; c < 3; ++c) choose(t, c, usable, shape, p.numbers);
        p.coefficients = PatchShape<double>(at_rest, p.numbers).coefficients();
        return p;
    }
    // The points of a triangle's wider surroundings.
    std::vector<std::int64_t> near(std::size_t t, std::size_t wanted) const {
        std::vector<std::size_t> triangles{t};
        std::vector<std::int64_t> points;
        for (std::size_t k = 0; k < triangles.size(); ++k) {
            for (const std::int64_t p : sheet_.triangles[triangles[k]])
                if (std::ranges::find(points, p) == points.end()) points.push_back(p);
            if (points.size() >= wanted) break;
            for (std::size_t c = 0; c < 3; ++c)
                if (const auto& next = across(triangles[k], c)) {
                    const auto n = static_cast<std::size_t>(next->triangle);
                    if (std::ranges::find(triangles, n) == triangles.end()) triangles.push_back(n);
                }
        }
        return points;
    }

private:
    std::pair<std::int64_t, std::int64_t> side(std::size_t t, std::size_t c) const {
        return {sheet_.triangles[t][c], sheet_.triangles[t][(c + 1) % 3]};
    }
    const std::optional<Across>& across(std::size_t t, std::size_t c) const {
        return across_[3 * t + c];
    }
    // The jump at the edge to `next` says something about how t bends.
    bool sees(std::size_t t, std::size_t next) const { return !clamps_[t] || clamps_[next]; }
    Triple point(std::int64_t p) const {
        const auto k = static_cast<std::size_t>(3 * p);
        return {sheet_.points[k], sheet_.points[k + 1], sheet_.points[k + 2]};
    }

    // Chooses the kind and the weights of edge c.
    void choose(std::size_t t, std::size_t c, const std::array<bool, patch_edges>& usable,
                const PatchShape<double>& shape, PatchNumbers<double>& numbers) const {
        std::array<double, 3>& kind = numbers.kind[c];
        std::array<double, patch_edges>& weight = numbers.weight[c];
        if (!usable[c]) {
            kind = {0, 1, 0};
            for (const int f : edges_at_border(usable, shape))
                weight[static_cast<std::size_t>(f)] = 1;
        } else if (!clamps_[t] && clamps_[static_cast<std::size_t>(across(t, c)->triangle)]) {
            kind = {1, 0, 0};
        } else {
            kind = {0.5, 0.5, -0.5};
            for (const int f : edges_beside(t, c, usable, shape))
                weight[static_cast<std::size_t>(f)] = 1;
        }
    }
    // Those of the triangle and of its neighbor across edge c; if they do not see all curvatures, as
    // where three triangles meet at a point beside the border, all that both have in their patches.
    std::vector<int> edges_beside(std::size_t t, std::size_t c,
                                  const std::array<bool, patch_edges>& usable,
                                  const PatchShape<double>& shape) const {
        std::vector<int> edges;
        double gram[3][3] = {};
        for (const std::size_t f :
             {std::size_t{0}, std::size_t{1}, std::size_t{2}, 3 + 2 * c, 4 + 2 * c}) {
            if (!usable[f]) continue;
            edges.push_back(static_cast<int>(f));
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    gram[i][j] += shape.jump(static_cast<int>(f))[static_cast<std::size_t>(i)] *
                                  shape.jump(static_cast<int>(f))[static_cast<std::size_t>(j)];
        }
        const double determinant =
            gram[0][0] * (gram[1][1] * gram[2][2] - gram[1][2] * gram[2][1]) -
            gram[0][1] * (gram[1][0] * gram[2][2] - gram[1][2] * gram[2][0]) +
            gram[0][2] * (gram[1][0] * gram[2][1] - gram[1][1] * gram[2][0]);
        if (determinant > 1e-4 * std::pow(gram[0][0] + gram[1][1] + gram[2][2], 3)) return edges;
        edges.clear();
        const auto theirs = edges_of(static_cast<std::size_t>(across(t, c)->triangle));
        const auto own = edges_of(t);
        for (std::size_t f = 0; f < patch_edges; ++f)
            if (usable[f] && std::ranges::find(own, own[f]) == own.begin() + static_cast<int>(f) &&
                std::ranges::find(theirs, own[f]) != theirs.end())
                edges.push_back(static_cast<int>(f));
        return edges;
    }
    // The inner edges of a triangle's patch, -1 where there is none.
    std::array<std::int64_t, patch_edges> edges_of(std::size_t t) const {
        std::array<std::int64_t, patch_edges> edges;
        edges.fill(-1);
        for (std::size_t c = 0; c < 3; ++c) {
            if (!across(t, c)) continue;
            edges[c] = across(t, c)->edge;
            const auto next = static_cast<std::size_t>(across(t, c)->triangle);
            const Triangle& n = sheet_.triangles[next];
            const auto at =
                static_cast<std::size_t>(std::ranges::find(n, sheet_.triangles[t][c]) - n.begin());
            for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
                if (const auto& two = across(next, (at + k) % 3)) edges[3 + 2 * c + k] = two->edge;
        }
        return edges;
    }
    // Three edges that see all curvatures well, those of the triangle itself first; or else all.
    static std::vector<int> edges_at_border(const std::array<bool, patch_edges>& usable,
                                            const PatchShape<double>& shape) {
        std::vector<int> all, best;
        for (int f = 0; f < patch_edges; ++f)
            if (usable[static_cast<std::size_t>(f)]) all.push_back(f);
        double most = 0;
        for (const int i : all)
            for (const int j : all)
                for (const int k : all) {
                    if (!(i < j && j < k)) continue;
                    const Triple &a = shape.jump(i), &b = shape.jump(j), &d = shape.jump(k);
                    const double volume = std::abs(a[0] * (b[1] * d[2] - b[2] * d[1]) -
                                                   a[1] * (b[0] * d[2] - b[2] * d[0]) +
                                                   a[2] * (b[0] * d[1] - b[1] * d[0]));
                    const auto squared = [](const Triple& v) {
                        return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
                    };
                    const double seen =
                        volume / std::sqrt(squared(a) * squared(b) * squared(d) + 1e-300);
                    const int own = static_cast<int>(i < 3) + static_cast<int>(j < 3);
                    // An edge of its own is worth more than a better angle, if both are fair.
                    const double worth = seen < 0.05 ? 0.0 : seen + own;
                    if (worth > most * (1 + 1e-9)) most = worth, best = {i, j, k};
                }
        return best.empty() ? all : best;
    }

    const Sheet& sheet_;
    std::vector<std::optional<Across>> across_;  // per triangle and edge
    std::vector<bool> clamps_;                   // per triangle: all corners are fixed
};

// The sizes of items that kernels are made for.
int size_of_items(std::size_t most, std::size_t points) {
    const std::size_t size = most <= 6 ? 6 : most <= 8 ? 8 : 12;
    return static_cast<int>(std::min(size, points));
}

}  // namespace

Patches find_patches(const Sheet& sheet, std::span<const char> fixed, bool any_shape) {
    const Finder finder(sheet, fixed);
    std::vector<Finder::Patch> all;
    std::vector<std::vector<std::int64_t>> points;
    std::size_t most = 3;
    for (std::size_t t = 0; t < sheet.triangles.size(); ++t) {
        all.push_back(finder.patch(t));
        const Finder::Patch& p = all.back();
        std::map<std::int64_t, Triple> parts;
        for (std::size_t k = 0; k < patch_places; ++k)
            for (std::size_t i = 0; i < 3; ++i) parts[p.places[k]][i] += p.coefficients[k][i];
        std::vector<std::int64_t>& own =
            points.emplace_back(p.places.begin(), p.places.begin() + 3);
        for (std::size_t k = 3; k < patch_places; ++k) {
            double part = 0;
            for (const double x : parts[p.places[k]]) part += std::abs(x) * sheet.areas[t];
            if (p.there[k] && (any_shape || part > 1e-9) &&
                std::ranges::find(own, p.places[k]) == own.end())
                own.push_back(p.places[k]);
        }
        most = std::max(most, own.size());
    }
    Patches result;
    result.size = size_of_items(most, sheet.points.size() / 3);
    const auto size = static_cast<std::size_t>(result.size);
    for (std::size_t t = 0; t < all.size(); ++t) {
        std::vector<std::int64_t>& own = points[t];
        const auto fill = [&](std::int64_t p) {
            if (own.size() < size && std::ranges::find(own, p) == own.end()) own.push_back(p);
        };
        if (own.size() < size)
            for (const std::int64_t p : finder.near(t, 2 * size)) fill(p);
        for (std::int64_t p = 0; own.size() < size; ++p) fill(p);
        std::vector<double> shape(3 * size, 0.0);
        for (std::size_t k = 0; k < patch_places; ++k) {
            const auto slot = std::ranges::find(own, all[t].places[k]) - own.begin();
            const bool has = static_cast<std::size_t>(slot) < size;
            result.slots.push_back(has ? slot : -1);
            for (std::size_t i = 0; i < 3 && has; ++i)
                shape[3 * static_cast<std::size_t>(slot) + i] += all[t].coefficients[k][i];
        }
        result.points.insert(result.points.end(), own.begin(), own.end());
        result.places.insert(result.places.end(), all[t].places.begin(), all[t].places.end());
        result.edges.insert(result.edges.end(), all[t].edges.begin(), all[t].edges.end());
        for (const auto& row : all[t].numbers.kind)
            result.numbers.insert(result.numbers.end(), row.begin(), row.end());
        for (const auto& row : all[t].numbers.weight)
            result.numbers.insert(result.numbers.end(), row.begin(), row.end());
        result.numbers.insert(result.numbers.end(), all[t].numbers.bends.begin(),
                              all[t].numbers.bends.end());
        result.shape.insert(result.shape.end(), shape.begin() + 3, shape.end());
    }
    return result;
}

}  // namespace hindcast::cloth
