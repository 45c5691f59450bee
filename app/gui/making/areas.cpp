#include "app/gui/making/areas.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "app/gui/input/picking.hpp"
#include "app/render/renderer.hpp"

namespace hindcast::gui {

namespace {

using render::Drawable;
using render::Stage;
using render::Vec3;
using Kind = session::Parts::Kind;

// Elements of a thing with the points of each. An element may have several triangles.
std::map<std::int64_t, std::vector<std::int64_t>> elements_of(const Drawable& drawable) {
    std::map<std::int64_t, std::vector<std::int64_t>> elements;
    const std::size_t corners = drawable.kind == Drawable::Kind::surface    ? 3
                                : drawable.kind == Drawable::Kind::segments ? 2
                                                                            : 0;
    if (corners == 0 || drawable.ghost) return elements;
    for (std::size_t k = 0; k < drawable.indices.size(); ++k) {
        const std::size_t own = corners == 3 ? drawable.cell_of(k / 3) : k / 2;
        elements[static_cast<std::int64_t>(own)].push_back(drawable.indices[k]);
    }
    return elements;
}

const Stage::Body* body_of(const Stage& stage, std::int64_t point) {
    for (const Stage::Body& body : stage.bodies)
        if (point >= body.first && point < body.first + body.count) return &body;
    return nullptr;
}

}  // namespace

bool contains(std::span<const Pixel> polygon, const Pixel& pixel) {
    bool inside = false;
    if (polygon.size() < 3) return false;
    for (std::size_t a = 0, b = polygon.size() - 1; a < polygon.size(); b = a++) {
        const Pixel &p = polygon[a], &q = polygon[b];
        if ((p[1] > pixel[1]) == (q[1] > pixel[1])) continue;
        if (pixel[0] < p[0] + (q[0] - p[0]) * (pixel[1] - p[1]) / (q[1] - p[1])) inside = !inside;
    }
    return inside;
}

session::Parts parts_within(const Stage& stage, std::span<const Vec3> points,
                            const std::set<std::string>& hidden, const render::Camera& camera,
                            int width, int height, std::span<const Pixel> polygon, Kind kind) {
    session::Parts parts;
    parts.kind = kind;
    const auto seen_inside = [&](const Vec3& place) {
        const auto pixel = render::project(camera, place, width, height);
        return pixel && contains(polygon, *pixel);
    };
    if (kind == Kind::points) {
        for (const Stage::Body& body : stage.bodies) {
            if (hidden.contains(body.name)) continue;
            std::vector<std::int64_t> numbers;
            for (std::int64_t p = 0; p < body.count; ++p)
                if (const auto k = static_cast<std::size_t>(body.first + p);
                    k < points.size() && seen_inside(points[k]))
                    numbers.push_back(p);
            parts.add(body.name, std::move(numbers));
        }
        return parts;
    }
    for (const Drawable& drawable : stage.drawables) {
        if (hidden.contains(drawable.name)) continue;
        std::vector<std::int64_t> numbers;
        for (const auto& [number, corners] : elements_of(drawable)) {
            Vec3 middle{};
            bool known = true;
            for (const std::int64_t corner : corners) {
                known = known && static_cast<std::size_t>(corner) < points.size();
                for (std::size_t k = 0; k < 3 && known; ++k)
                    middle[k] += points[static_cast<std::size_t>(corner)][k] /
                                 static_cast<double>(corners.size());
            }
            if (known && seen_inside(middle)) numbers.push_back(number);
        }
        parts.add(drawable.name, std::move(numbers));
    }
    return parts;
}

std::vector<std::int64_t> points_of_element(const Stage& stage, const std::string& name,
                                            std::int64_t element) {
    for (const Drawable& drawable : stage.drawables) {
        if (drawable.name != name) continue;
        const auto elements = elements_of(drawable);
        if (const auto found = elements.find(element); found != elements.end())
            return found->second;
    }
    return {};
}

session::Parts picked_part(const Stage& stage, std::span<const Vec3> points,
                           const render::Pick& pick, Kind kind) {
    session::Parts parts;
    parts.kind = kind;
    if (kind == Kind::elements) {
        const Picked picked = picked_of(stage, pick);
        const bool is_one = picked.part.kind == render::ElementKind::cell ||
                            picked.part.kind == render::ElementKind::segment;
        if (is_one && picked.part.number >= 0) parts.add(picked.name, {picked.part.number});
        return parts;
    }
    double nearest = std::numeric_limits<double>::infinity();
    std::int64_t found = -1;
    for (const std::int64_t point : scene_points(stage, pick)) {
        const auto k = static_cast<std::size_t>(point);
        if (point < 0 || k >= points.size()) continue;
        const double far = std::hypot(points[k][0] - pick.place[0], points[k][1] - pick.place[1],
                                      points[k][2] - pick.place[2]);
        if (far >= nearest) continue;
        nearest = far;
        found = point;
    }
    if (const Stage::Body* const body = found < 0 ? nullptr : body_of(stage, found))
        parts.add(body->name, {found - body->first});
    return parts;
}

}  // namespace hindcast::gui
