// From what was picked to an end of a distance that goes along with it.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "app/gui/looking/measuring.hpp"

namespace hindcast::gui {

namespace {

using render::cross;
using render::dot;
using render::Drawable;
using render::Frame;
using render::minus;
using render::Stage;
using render::Vec3;
using session::DistanceEnd;

// The weights of the corners of a line, a triangle or a tetrahedron that give the place, or the place
// beside it that is nearest in its line or plane. Empty where it is degenerate.
std::vector<double> weights_at(const std::vector<Vec3>& corners, const Vec3& place) {
    const Vec3 p = minus(place, corners[0]), a = minus(corners[1], corners[0]);
    std::vector<double> weights;
    if (corners.size() == 2) {
        weights = {dot(p, a) / dot(a, a)};
    } else if (corners.size() == 3) {
        const Vec3 b = minus(corners[2], corners[0]), n = cross(a, b);
        weights = {dot(cross(p, b), n) / dot(n, n), dot(cross(a, p), n) / dot(n, n)};
    } else {
        const Vec3 b = minus(corners[2], corners[0]), c = minus(corners[3], corners[0]);
        const double volume = dot(a, cross(b, c));
        weights = {dot(p, cross(b, c)) / volume, dot(a, cross(p, c)) / volume,
                   dot(a, cross(b, p)) / volume};
    }
    double rest = 1;
    for (const double weight : weights) rest -= weight;
    weights.insert(weights.begin(), rest);
    return std::isfinite(rest) ? weights : std::vector<double>();
}

// The elements that a picked part can lie in: of each its points.
std::vector<std::vector<std::int64_t>> elements_at(const Drawable& drawable, std::size_t number) {
    const auto corners = [](const std::vector<std::uint32_t>& indices, std::size_t first,
                            std::size_t count) {
        std::vector<std::int64_t> points;
        for (std::size_t k = first; k < first + count && k < indices.size(); ++k)
            points.push_back(indices[k]);
        return points;
    };
    if (drawable.kind == Drawable::Kind::segments)
        return {corners(drawable.indices, 2 * number, 2)};
    if (!drawable.tetrahedra.empty()) return {corners(drawable.tetrahedra, 4 * number, 4)};
    std::vector<std::vector<std::int64_t>> all;
    for (std::size_t t = 0; t < drawable.indices.size() / 3; ++t)
        if (drawable.cell_of(t) == number) all.push_back(corners(drawable.indices, 3 * t, 3));
    return all;
}

class Finder {
public:
    Finder(const Stage& stage, const session::PointPlaces& points, const render::Camera& camera,
           int width, int height, const std::array<double, 2>& mouse, double near)
        : stage_(stage),
          points_(points),
          camera_(camera),
          width_(width),
          height_(height),
          mouse_(mouse),
          near_(near) {}

    // These points of the scene with these weights, if they are of one body.
    std::optional<DistanceEnd> on(const std::vector<std::int64_t>& points,
                                  const std::vector<double>& weights) const {
        if (points.empty()) return std::nullopt;
        for (const Stage::Body& body : stage_.bodies) {
            if (!std::ranges::all_of(points, [&](std::int64_t p) {
                    return p >= body.first && p < body.first + body.count;
                }))
                continue;
            DistanceEnd end{.of = body.name, .points = points, .weights = weights};
            for (std::int64_t& p : end.points) p -= body.first;
            return end;
        }
        return std::nullopt;
    }

    std::optional<DistanceEnd> in(const std::vector<std::vector<std::int64_t>>& elements,
                                  const Vec3& place) const {
        std::optional<std::int64_t> corner;
        double closest = near_;
        std::vector<std::int64_t> best;
        std::vector<double> weights;
        double outside = 0;
        for (const std::vector<std::int64_t>& element : elements) {
            std::vector<Vec3> places;
            for (const std::int64_t point : element) {
                const std::optional<Vec3> at = points_(point);
                if (!at) return std::nullopt;
                places.push_back(*at);
                const auto seen = render::project(camera_, *at, width_, height_);
                if (!seen) continue;
                const double off = std::hypot((*seen)[0] - mouse_[0], (*seen)[1] - mouse_[1]);
                if (off > closest) continue;
                closest = off;
                corner = point;
            }
            // The element that the place lies in, or lies least outside of.
            const std::vector<double> found =
                places.size() < 2 ? std::vector<double>() : weights_at(places, place);
            if (found.empty()) continue;
            const double off = std::max(0.0, -std::ranges::min(found));
            if (!best.empty() && off >= outside) continue;
            outside = off;
            best = element;
            weights = found;
        }
        if (corner) return on({*corner}, {1});
        if (const auto end = on(best, weights)) return end;
        // Between two bodies: at the nearer end.
        const auto most = std::ranges::max_element(weights);
        return best.empty() ? std::nullopt
                            : on({best[static_cast<std::size_t>(most - weights.begin())]}, {1});
    }

private:
    const Stage& stage_;
    const session::PointPlaces& points_;
    const render::Camera& camera_;
    const int width_, height_;
    const std::array<double, 2> mouse_;
    const double near_;
};

// In the axes of a rigid body or ball.
DistanceEnd on_part(const Stage& stage, int number, const std::vector<double>& numbers,
                    const Vec3& place) {
    const Drawable& drawable = stage.drawables[static_cast<std::size_t>(number)];
    DistanceEnd end{.of = drawable.name};
    for (int k = 0; k < number; ++k) {
        const Drawable& before = stage.drawables[static_cast<std::size_t>(k)];
        end.part += !before.ghost && before.name == drawable.name &&
                    (before.kind == Drawable::Kind::solid || before.kind == Drawable::Kind::ball);
    }
    const Vec3 off = minus(place, {numbers[0], numbers[1], numbers[2]});
    end.place = off;
    if (drawable.kind == Drawable::Kind::solid)
        for (std::size_t c = 0; c < 3; ++c) {
            end.place[c] = 0;
            for (std::size_t r = 0; r < 3; ++r) end.place[c] += numbers[3 + 3 * r + c] * off[r];
        }
    return end;
}

}  // namespace

std::optional<DistanceEnd> end_at(const Stage& stage, const Frame& frame,
                                  const session::PointPlaces& points, const render::Pick& pick,
                                  const render::Camera& camera, int width, int height,
                                  const std::array<double, 2>& mouse, double near) {
    if (pick.drawable < 0) return std::nullopt;
    const auto n = static_cast<std::size_t>(pick.drawable);
    const Drawable& drawable = stage.drawables[n];
    const Finder finder(stage, points, camera, width, height, mouse, near);
    DistanceEnd resting{.place = pick.place};
    static const std::vector<double> none;
    const std::vector<double>& numbers = n < frame.numbers.size() ? frame.numbers[n] : none;
    switch (drawable.kind) {
        case Drawable::Kind::points:
            return finder.on({drawable.first + pick.element.number}, {1}).value_or(resting);
        case Drawable::Kind::arrows: {
            const auto places = static_cast<std::size_t>(drawable.places);
            if (stage.channels[places].name != "position") return resting;
            return finder.on({drawable.first + pick.element.number}, {1}).value_or(resting);
        }
        case Drawable::Kind::segments:
        case Drawable::Kind::surface:
            if (pick.element.number < 0) return resting;
            return finder
                .in(elements_at(drawable, static_cast<std::size_t>(pick.element.number)),
                    pick.place)
                .value_or(resting);
        case Drawable::Kind::solid:
            return numbers.size() >= 12 ? on_part(stage, pick.drawable, numbers, pick.place)
                                        : resting;
        case Drawable::Kind::ball:
            return numbers.size() >= 3 ? on_part(stage, pick.drawable, numbers, pick.place)
                                       : resting;
        case Drawable::Kind::markers: {
            const auto row =
                3 * static_cast<std::size_t>(std::max<std::int64_t>(pick.element.number, 0));
            if (row + 2 >= numbers.size()) return resting;
            return DistanceEnd{.place = {numbers[row], numbers[row + 1], numbers[row + 2]}};
        }
        case Drawable::Kind::field:
        case Drawable::Kind::half_space:
        case Drawable::Kind::box_edges: break;
    }
    return resting;
}

}  // namespace hindcast::gui
