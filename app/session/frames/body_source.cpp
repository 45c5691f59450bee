#include "app/session/frames/body_source.hpp"

#include <algorithm>
#include <array>

#include "app/session/frames/solid_source.hpp"
#include "engine/base/error.hpp"
#include "engine/geometry/kinds/row.hpp"

namespace hindcast::session {

namespace {

using render::Mesh;
using render::Vec3;
using BodyShape = model::DrawnBody::Shape;

// The parts of robots are many, and small: smooth normals hide that they have few sides.
constexpr int around = 24;

Mesh mesh_of(const BodyShape& shape) {
    return drawn(shape.kind == geometry::ShapeKind::mesh
                     ? geometry::flat_triangles(shape.corners)
                     : geometry::surface_of(shape.kind, shape.size, around));
}

std::vector<double> pose_of(const double* place, const double* quaternion) {
    std::vector<double> numbers(place, place + 3);
    for (const Vec3& row :
         rotation_of({quaternion[0], quaternion[1], quaternion[2], quaternion[3]}))
        numbers.insert(numbers.end(), row.begin(), row.end());
    return numbers;
}

}  // namespace

std::string published_name(const Array& array, const model::Model& model) {
    for (const auto& [name, published] : model.arrays())
        if (published.array.same_memory(array)) return name;
    return "";
}

BodySource::BodySource(const model::DrawnBody& body, const model::Model& model)
    : name_(body.name), row_(body.row) {
    if (row_ >= 0)
        arrays_ = {published_name(body.places, model), published_name(body.orientations, model)};
    if (std::ranges::find(arrays_, "") != arrays_.end())
        throw Error("internal: a body is drawn where no array of the model says");
    Mesh all;
    for (const BodyShape& shape : body.shapes) {
        const Mesh own = mesh_of(shape);
        const std::vector<double> pose = pose_of(shape.place.data(), shape.orientation.data());
        std::vector<double> turn = pose;
        std::fill_n(turn.begin(), 3, 0.0);
        for (const Vec3& p : own.places) all.places.push_back(render::placed(pose, p));
        for (const Vec3& n : own.normals) all.normals.push_back(render::placed(turn, n));
    }
    mesh_ = std::make_shared<const Mesh>(std::move(all));
}

BodySource::BodySource(const BodySource& body, const model::MeasuredMotion& motion)
    : name_(body.name_),
      arrays_{motion.name_of_places(), motion.name_of_orientations(), motion.name_of_known()},
      row_(body.row_),
      mesh_(body.mesh_) {}

std::vector<double> BodySource::pose(
    const std::function<const Array*(const std::string&)>& array) const {
    if (row_ < 0) return {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const Array *const places = array(arrays_[0]), *const turns = array(arrays_[1]);
    if (places == nullptr || turns == nullptr) return {};
    if (arrays_.size() > 2) {
        const Array* const known = array(arrays_[2]);
        if (known == nullptr || known->value(0) == 0) return {};
    }
    std::array<double, 3> place{};
    std::array<double, 4> turn{};
    for (int k = 0; k < 3; ++k) place[static_cast<std::size_t>(k)] = places->value(row_, k);
    for (int k = 0; k < 4; ++k) turn[static_cast<std::size_t>(k)] = turns->value(row_, k);
    return pose_of(place.data(), turn.data());
}

}  // namespace hindcast::session
