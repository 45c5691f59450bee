#include "app/session/shapes/sizes_rigid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "app/session/frames/solid_source.hpp"
#include "app/session/shapes/shapes_table.hpp"
#include "engine/document/read.hpp"

namespace hindcast::session {

namespace {

using document::Node;

constexpr double least_part = 1e-3;  // of a size is kept

// A shape as it lies at the start.
struct RigidShape {
    Node object;                      // all of the body
    std::size_t number;               // of the shape in it
    std::optional<std::size_t> qpos;  // where its place stands in the body's qpos
    Place center{};
    std::array<Place, 3> axes{};  // unit vectors

    const Node& node() const { return object.find("model")->find("shapes")->item(number); }

    // With these changes of the shape, and its centre moved.
    Node with(const std::string& key, Node value, const Place& moved) const {
        Node changed = object;
        Node& shape = changed.find("model")->find("shapes")->item(number);
        shape.set(key, std::move(value));
        if (moved == Place{}) return changed;
        // Where qpos says where it lies, the shape's own place is of no effect.
        if (qpos) {
            Node& list = *changed.find("qpos");
            for (std::size_t k = 0; k < 3; ++k) list.item(*qpos + k) = tidy(center[k] + moved[k]);
            return changed;
        }
        Node place = Node::array();
        for (std::size_t k = 0; k < 3; ++k) place.push_back(tidy(center[k] + moved[k]));
        shape.set("position", std::move(place));
        return changed;
    }
};

Place scaled(const Place& v, double by) { return {v[0] * by, v[1] * by, v[2] * by}; }
Place sum(const Place& a, const Place& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

std::optional<double> number_in(const Node& node, const char* key) {
    const Node* const found = node.find(key);
    if (found == nullptr || !document::is_number(*found)) return std::nullopt;
    const double value = document::number_of(*found);
    return value > 0 ? std::optional(value) : std::nullopt;
}

// None: it is not written in numbers.
std::optional<RigidShape> shape_at(const Node& object, std::size_t number,
                                   const std::optional<std::size_t>& qpos) {
    RigidShape shape{object, number, qpos, {}, {}};
    const Node& node = shape.node();
    std::array<double, 4> turn{1, 0, 0, 0};
    if (qpos) {
        const Node& list = *object.find("qpos");
        if (list.size() < *qpos + 7) return std::nullopt;
        for (std::size_t k = 0; k < 7; ++k) {
            const Node& entry = list.item(*qpos + k);
            if (!document::is_number(entry)) return std::nullopt;
            (k < 3 ? shape.center[k] : turn[k - 3]) = document::number_of(entry);
        }
    } else {
        const auto place = node.find("position") == nullptr
                               ? std::optional(std::vector<double>(3, 0.0))
                               : numbers_in(node.find("position"), 3);
        const auto written = node.find("orientation") == nullptr
                                 ? std::optional(std::vector<double>{1, 0, 0, 0})
                                 : numbers_in(node.find("orientation"), 4);
        if (!place || !written) return std::nullopt;
        std::ranges::copy(*place, shape.center.begin());
        std::ranges::copy(*written, turn.begin());
    }
    if (std::ranges::all_of(turn, [](double q) { return q == 0; })) return std::nullopt;
    const auto rows = rotation_of(turn);
    for (std::size_t k = 0; k < 3; ++k) shape.axes[k] = {rows[0][k], rows[1][k], rows[2][k]};
    return shape;
}

// A face of a box or an end of an ellipsoid, whose other one stays.
void add_lengths(const std::shared_ptr<const RigidShape>& shape, std::vector<RigidSize>& all) {
    static constexpr std::array<const char*, 3> names{"x", "y", "z"};
    const auto size = numbers_in(shape->node().find("size"), 3);
    if (!size || std::ranges::any_of(*size, [](double s) { return !(s > 0); })) return;
    for (std::size_t k = 0; k < 3; ++k)
        for (const double sign : {-1.0, 1.0}) {
            const Place along = scaled(shape->axes[k], sign);
            all.push_back(
                {{names[k], sum(shape->center, scaled(along, (*size)[k] / 2)), along},
                 [shape, k, along, size = *size](double by) {
                     std::vector<double> s = size;
                     s[k] = std::max(size[k] + by, least_part * size[k]);
                     Node list = Node::array();
                     for (const double c : s) list.push_back(tidy(c));
                     return std::pair(
                         shape->with("size", std::move(list), scaled(along, (s[k] - size[k]) / 2)),
                         fmt::format("{:.4g} x {:.4g} x {:.4g} m", s[0], s[1], s[2]));
                 }});
        }
}

void add_radius(const std::shared_ptr<const RigidShape>& shape, std::size_t axis,
                std::vector<RigidSize>& all) {
    const auto radius = number_in(shape->node(), "radius");
    if (!radius) return;
    const Place along = shape->axes[axis];
    all.push_back({{"radius", sum(shape->center, scaled(along, *radius)), along},
                   [shape, radius = *radius](double by) {
                       const double r = std::max(radius + by, least_part * radius);
                       return std::pair(shape->with("radius", tidy(r), {}),
                                        fmt::format("radius {:.4g} m", r));
                   }});
}

void add_length(const std::shared_ptr<const RigidShape>& shape, bool round,
                std::vector<RigidSize>& all) {
    const auto radius = number_in(shape->node(), "radius"),
               length = number_in(shape->node(), "length");
    if (!radius || !length) return;
    for (const double sign : {-1.0, 1.0}) {
        const Place along = scaled(shape->axes[2], sign);
        all.push_back(
            {{"length", sum(shape->center, scaled(along, *length / 2 + (round ? *radius : 0))),
              along},
             [shape, along, length = *length](double by) {
                 const double l = std::max(length + by, least_part * length);
                 return std::pair(shape->with("length", tidy(l), scaled(along, (l - length) / 2)),
                                  fmt::format("length {:.4g} m", l));
             }});
    }
}

}  // namespace

std::vector<RigidSize> rigid_sizes(const Node& object) {
    std::vector<RigidSize> all;
    const Node* const model = object.find("model");
    const Node* const shapes =
        model != nullptr && model->is_object() ? model->find("shapes") : nullptr;
    if (shapes == nullptr || !shapes->is_array()) return all;
    const Node* const qpos = object.find("qpos");
    if (qpos != nullptr && !qpos->is_array()) return all;  // by names, or from a file
    std::size_t at = 0;
    for (std::size_t k = 0; k < shapes->size(); ++k) {
        const Node& node = shapes->item(k);
        if (!node.is_object()) continue;
        const Node* const fixed = node.find("fixed");
        const bool rests = fixed != nullptr && fixed->is_boolean() && fixed->boolean();
        const Node* const type = node.find("type");
        const auto made =
            shape_at(object, k, qpos != nullptr && !rests ? std::optional(at) : std::nullopt);
        if (!rests) at += 7;
        if (!made || type == nullptr || !type->is_string()) continue;
        const auto shape = std::make_shared<const RigidShape>(*made);
        const std::string_view is = type->string();
        if (is == "box" || is == "ellipsoid") add_lengths(shape, all);
        if (is == "capsule" || is == "cylinder") add_length(shape, is == "capsule", all);
        if (is == "sphere")
            for (std::size_t axis = 0; axis < 3; ++axis) add_radius(shape, axis, all);
        else if (is == "capsule" || is == "cylinder")
            add_radius(shape, 0, all);
    }
    return all;
}

}  // namespace hindcast::session
