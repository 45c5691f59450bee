#include "app/session/frames/solid_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "engine/geometry/kinds/row.hpp"
#include "engine/model/model.hpp"

namespace hindcast::session {

namespace {

using numeric::scaled;
using numeric::unit;
using render::dot;
using render::Mesh;
using render::plus;
using render::Vec3;
using Turn = std::array<Vec3, 3>;  // rows of a rotation

// The quaternion (cos |r|/2, sin |r|/2 r/|r|) of the rotation vector r.
std::array<double, 4> quaternion_of(const Vec3& r) {
    const double angle = std::sqrt(dot(r, r));
    const Vec3 v = scaled(unit(r), std::sin(angle / 2));
    return {std::cos(angle / 2), v[0], v[1], v[2]};
}
// The rotation of a quaternion of any length but 0.
Turn turn_of(const std::array<double, 4>& q) {
    const auto [w, x, y, z] = q;
    const double s = 2 / (w * w + x * x + y * y + z * z);
    return {Vec3{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
            Vec3{s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
            Vec3{s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}};
}
Turn product(const Turn& a, const Turn& b) {
    Turn c{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = 0; k < 3; ++k) c[i] = plus(c[i], scaled(b[k], a[i][k]));
    return c;
}

Vec3 padded(const std::vector<double>& values) {
    Vec3 v{};
    std::copy_n(values.begin(), std::min<std::size_t>(values.size(), 3), v.begin());
    return v;
}
// A rotation vector: of a number, about z.
Vec3 rotation_vector(const std::vector<double>& values) {
    return values.size() == 1 ? Vec3{0, 0, values[0]} : padded(values);
}

}  // namespace

Mesh drawn(geometry::SurfaceMesh surface) {
    return {std::move(surface.places), std::move(surface.normals)};
}

std::array<Vec3, 3> rotation_of(const std::array<double, 4>& quaternion) {
    return turn_of(quaternion);
}

SolidSource::SolidSource(const model::DrawnSolid& shape)
    : kind_(shape.kind),
      dimension_(shape.place->components),
      counts_(shape.counts),
      spacing_(shape.spacing) {
    const auto path = [](const model::Quantity* q) { return q == nullptr ? "" : q->path; };
    place_ = path(shape.place);
    extent_ = path(shape.extent);
    radius_ = path(shape.radius);
    orientation_ = path(shape.orientation);
    velocity_ = path(shape.velocity);
    angular_velocity_ = path(shape.angular_velocity);
    samples_ = path(shape.samples);
}

std::vector<double> SolidSource::pose(
    const std::function<std::vector<double>(const std::string&)>& values, double time) const {
    Vec3 center = padded(values(place_));
    if (geometry::row(kind_).has_axis())
        center = scaled(plus(center, padded(values(extent_))), 0.5);
    for (std::size_t k = 0; k < counts_.size(); ++k)
        center[k] += 0.5 * spacing_ * static_cast<double>(counts_[k] - 1);
    if (!velocity_.empty()) center = plus(center, scaled(padded(values(velocity_)), time));
    Turn turn = turn_of({1, 0, 0, 0});
    if (!orientation_.empty()) {
        const std::vector<double> q = values(orientation_);
        turn = turn_of(q.size() == 4 ? std::array{q[0], q[1], q[2], q[3]}
                                     : quaternion_of(rotation_vector(q)));
    }
    if (!angular_velocity_.empty())
        turn = product(
            turn_of(quaternion_of(scaled(rotation_vector(values(angular_velocity_)), time))), turn);
    std::vector<double> numbers(center.begin(), center.end());
    for (const Vec3& row : turn) numbers.insert(numbers.end(), row.begin(), row.end());
    return numbers;
}

std::shared_ptr<const Mesh> SolidSource::mesh(
    const std::function<Values(const std::string&)>& values) const {
    std::vector<Values> from;
    const bool axis = geometry::row(kind_).has_axis(),
               field = geometry::row(kind_).placed_by == geometry::PlacedBy::grid;
    const auto read = [&](const std::string& path) { return from.emplace_back(values(path)); };
    const std::lock_guard lock(mutex_);
    const Values samples = field ? read(samples_) : nullptr,
                 extent = !field ? read(extent_) : nullptr, start = axis ? read(place_) : nullptr,
                 radius = axis ? read(radius_) : nullptr;
    const bool same = std::ranges::equal(
        from, made_from_, [](const Values& a, const Values& b) { return a == b || *a == *b; });
    if (made_ && same) return made_;
    const auto surface = [&] {
        if (field) return geometry::field_mesh(counts_, spacing_, *samples);
        if (!axis) return geometry::surface_of(kind_, padded(*extent), 0, dimension_);
        const Vec3 half = scaled(plus(padded(*extent), scaled(padded(*start), -1)), 0.5);
        return geometry::surface_of(kind_, half, radius->front(), dimension_);
    };
    made_from_ = from;
    made_ = std::make_shared<const Mesh>(drawn(surface()));
    return made_;
}

}  // namespace hindcast::session
