#include "app/session/making/sizes_rigid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "app/exchange/vec3.hpp"
#include "app/session/making/sizes_parts.hpp"
#include "engine/geometry/kinds/row.hpp"
#include "engine/robot/rigid_shapes.hpp"

namespace hindcast::session {

namespace {

using document::Node;
using model::number_at;
using model::numbers_in;
using model::Place;
using model::tidy;
using render::plus;

// A shape as it lies at the start.
struct RigidShape {
    Node object;                      // all of the body
    std::size_t number;               // of the shape in it
    std::optional<std::size_t> qpos;  // where its place stands in the body's qpos
    Place center{};
    std::array<Place, 3> axes{};  // unit vectors

    const Node& node() const { return object.find("model")->find("shapes")->item(number); }

    // With these changes of the shape, and its center moved.
    Node with(const std::string& key, Node value, const Place& moved) const {
        Node changed = object;
        Node& shape = changed.find("model")->find("shapes")->item(number);
        shape.set(key, std::move(value));
        if (moved == Place{}) return changed;
        // If qpos places the shape, its own position has no effect.
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

// None: it is not written in numbers.
std::optional<RigidShape> shape_at(const Node& object, std::size_t number,
                                   const std::optional<std::size_t>& qpos) {
    RigidShape shape{object, number, qpos, {}, {}};
    Node place = Node::array({Node(0), Node(0), Node(0)}),
         turn = Node::array({Node(1), Node(0), Node(0), Node(0)});
    if (qpos) {
        const Node& list = *object.find("qpos");
        if (list.size() < *qpos + 7) return std::nullopt;
        for (std::size_t k = 0; k < 3; ++k) place.item(k) = list.item(*qpos + k);
        for (std::size_t k = 0; k < 4; ++k) turn.item(k) = list.item(*qpos + 3 + k);
    } else {
        if (const Node* const written = shape.node().find("position")) place = *written;
        if (const Node* const written = shape.node().find("orientation")) turn = *written;
    }
    const auto center = numbers_in(&place, 3);
    const auto axes = axes_of(&turn, 3);
    if (!center || !axes) return std::nullopt;
    std::ranges::copy(*center, shape.center.begin());
    for (std::size_t k = 0; k < 3; ++k) std::ranges::copy((*axes)[k], shape.axes[k].begin());
    return shape;
}

// A face of a box or an end of an ellipsoid, whose other one stays.
void add_lengths(const std::shared_ptr<const RigidShape>& shape, std::vector<RigidSize>& all) {
    static constexpr std::array<const char*, 3> names{"x", "y", "z"};
    const auto size = numbers_in(shape->node().find("size"), 3);
    if (!size || std::ranges::any_of(*size, [](double s) { return !(s > 0); })) return;
    for (std::size_t k = 0; k < 3; ++k)
        for (const double sign : {-1.0, 1.0}) {
            const Place along = plus({}, shape->axes[k], sign);
            all.push_back({{names[k], plus(shape->center, along, (*size)[k] / 2), along},
                           [shape, k, along, size = *size](double by) {
                               std::vector<double> s = size;
                               s[k] = grown(size[k], by);
                               Node list = Node::array();
                               for (const double c : s) list.push_back(tidy(c));
                               return std::pair(shape->with("size", std::move(list),
                                                            plus({}, along, (s[k] - size[k]) / 2)),
                                                extents_text(s));
                           }});
        }
}

void add_radius(const std::shared_ptr<const RigidShape>& shape, std::size_t axis, double up,
                std::vector<RigidSize>& all) {
    const double radius = number_at(shape->node(), "radius", 0);
    if (!(radius > 0)) return;
    const Place along = shape->axes[axis];
    all.push_back({{"radius", plus(plus(shape->center, shape->axes[2], up), along, radius), along},
                   [shape, radius](double by) {
                       const double r = grown(radius, by);
                       return std::pair(shape->with("radius", tidy(r), {}),
                                        fmt::format("radius {:.4g} m", r));
                   }});
}

void add_length(const std::shared_ptr<const RigidShape>& shape, bool round,
                std::vector<RigidSize>& all) {
    const double radius = number_at(shape->node(), "radius", 0),
                 length = number_at(shape->node(), "length", 0);
    if (!(radius > 0) || !(length > 0)) return;
    for (const double sign : {-1.0, 1.0}) {
        const Place along = plus({}, shape->axes[2], sign);
        all.push_back(
            {{"length", plus(shape->center, along, length / 2 + (round ? radius : 0)), along},
             [shape, along, length](double by) {
                 const double l = grown(length, by);
                 return std::pair(shape->with("length", tidy(l), plus({}, along, (l - length) / 2)),
                                  fmt::format("length {:.4g} m", l));
             }});
    }
}

}  // namespace

std::vector<RigidSize> rigid_sizes(const Node& object) {
    std::vector<RigidSize> all;
    const Node* const shapes = robot::rigid_shapes_of(object);
    if (shapes == nullptr) return all;
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
        const geometry::KindRow* const kind = geometry::find_row(type->string());
        if (kind == nullptr) continue;
        const bool along = kind->sized_by == geometry::SizedBy::radius_and_length;
        if (kind->sized_by == geometry::SizedBy::lengths) add_lengths(shape, all);
        if (along) add_length(shape, kind->round_ends, all);
        if (along || kind->sized_by == geometry::SizedBy::radius)
            for (std::size_t axis = 0; axis < (along ? 1 : 3); ++axis)
                add_radius(shape, axis, kind->widest * number_at(node, "length", 0) / 2, all);
    }
    return all;
}

}  // namespace hindcast::session
