#include "app/session/making/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "app/session/frames/solid_source.hpp"
#include "app/session/making/sizes_parts.hpp"
#include "app/session/making/sizes_rigid.hpp"
#include "engine/document/read.hpp"
#include "engine/geometry/kinds/row.hpp"
#include "engine/model/offers/offer.hpp"
#include "engine/sim/scene/scene.hpp"

namespace hindcast::session {

namespace {

using document::Document;
using document::Node;
using model::numbers_in;
using model::Place;
using model::tidy;
using SceneVector = std::vector<double>;  // of the scene's dimension

Place place_of(const SceneVector& v) {
    Place place{};
    std::ranges::copy(v, place.begin());
    return place;
}

double length(const SceneVector& v) {
    double square = 0;
    for (const double c : v) square += c * c;
    return std::sqrt(square);
}

SceneVector sum(const SceneVector& a, const SceneVector& b, double times = 1) {
    SceneVector result = a;
    for (std::size_t k = 0; k < a.size(); ++k) result[k] += times * b[k];
    return result;
}

Node node_of(const SceneVector& v) {
    Node node = Node::array();
    for (const double c : v) node.push_back(tidy(c));
    return node;
}

std::optional<std::vector<std::int64_t>> counts_of(const Node* node, std::size_t size) {
    if (node == nullptr || !node->is_array() || node->size() != size) return std::nullopt;
    std::vector<std::int64_t> counts;
    for (std::size_t k = 0; k < size; ++k) {
        if (!node->item(k).is_integer()) return std::nullopt;
        counts.push_back(document::integer_of(node->item(k)));
    }
    return counts;
}

Node node_of(const std::vector<std::int64_t>& counts) {
    Node node = Node::array();
    for (const std::int64_t count : counts) node.push_back(Node(count));
    return node;
}

std::string counts_text(const std::vector<std::int64_t>& counts, const char* what) {
    std::string text;
    for (const std::int64_t count : counts) {
        if (!text.empty()) text += " x ";
        text += std::to_string(count);
    }
    return fmt::format(", {} {}", text, what);
}

// A stretch along one axis that keeps one place: x -> kept + factor (x - kept).
struct Stretch {
    std::size_t axis = 0;
    double kept = 0, factor = 1;
    double of(double x) const { return kept + factor * (x - kept); }
};

// The corners of a box, an interval per axis; drag() moves one end of one interval.
struct Corners {
    SceneVector low, high;
    Stretch drag(std::size_t axis, bool upper, double by) {
        double &moves = upper ? high[axis] : low[axis], kept = upper ? low[axis] : high[axis];
        const double before = std::abs(moves - kept);
        const double after = grown(before, by);
        moves = upper ? kept + after : kept - after;
        return {axis, kept, after / before};
    }
    SceneVector extents() const { return sum(high, low, -1); }
    Place face(std::size_t axis, bool upper) const {
        SceneVector at;
        for (std::size_t k = 0; k < low.size(); ++k) at.push_back((low[k] + high[k]) / 2);
        at[axis] = upper ? high[axis] : low[axis];
        return place_of(at);
    }
};

// The sizes of one object: how each is dragged, on a copy of the object.
class Sizes {
public:
    Sizes(const Node& object, const model::ModuleType& type, std::size_t dimension)
        : object_(object), dimension_(dimension) {
        const auto has = [&](const char* key, model::FieldKind kind) {
            return std::ranges::any_of(type.fields, [&](const model::Field& field) {
                return field.key == key && field.kind == kind;
            });
        };
        using model::FieldKind;
        if (has("center", FieldKind::vector) && has("radius", FieldKind::number)) sphere();
        if (has("start", FieldKind::vector) && has("end", FieldKind::vector) &&
            has("radius", FieldKind::number))
            rod(type.type);
        if (has("model", FieldKind::any))
            for (const RigidSize& size : rigid_sizes(object))
                all.push_back({size.handle, [drag = size.drag](double by, bool) {
                                   auto [made, text] = drag(by);
                                   return Done{std::move(made), std::move(text), {}, {}};
                               }});
        if (has("center", FieldKind::vector) && has("half_extents", FieldKind::vector)) box();
        if (has("positions", FieldKind::vectors) && object.find("positions") != nullptr)
            places("/positions");
        else if (const Node* const mesh = object.find("mesh"); mesh != nullptr && mesh->is_object())
            this->mesh(*mesh);
    }

    struct Done {
        Node object;
        std::string text;
        std::optional<std::vector<std::int64_t>> before, after;  // counts of a grid of points
    };
    struct Entry {
        SizeHandle handle;
        std::function<Done(double by, bool repeats)> drag;
    };
    std::vector<Entry> all;

private:
    static constexpr std::array<const char*, 3> axis_names{"x", "y", "z"};

    Place unit(std::size_t axis, double sign) const {
        Place along{};
        along[axis] = sign;
        return along;
    }

    std::optional<double> number(const char* key) const {
        const Node* const node = object_.find(key);
        if (node == nullptr || !document::is_number(*node)) return std::nullopt;
        return document::number_of(*node);
    }

    Done radius(double before, double by) const {
        Done done{object_, "", {}, {}};
        const double r = grown(before, by);
        done.object.set("radius", tidy(r));
        done.text = fmt::format("radius {:.4g} m", r);
        return done;
    }

    void sphere() {
        const auto center = numbers_in(object_.find("center"), dimension_);
        const auto r = number("radius");
        if (!center || !r) return;
        for (std::size_t k = 0; k < dimension_; ++k) {
            SceneVector at = *center;
            at[k] += *r;
            all.push_back({{"radius", place_of(at), unit(k, 1), false},
                           [this, r = *r](double by, bool) { return radius(r, by); }});
        }
    }

    // An obstacle about an axis.
    void rod(const std::string& type) {
        const geometry::KindRow* const kind = geometry::find_row(type);
        const bool round = kind != nullptr && kind->round_ends;
        const double widest = kind != nullptr ? kind->widest : 0;
        const auto start = numbers_in(object_.find("start"), dimension_),
                   end = numbers_in(object_.find("end"), dimension_);
        const auto r = number("radius");
        if (!start || !end || !r) return;
        SceneVector axis = sum(*end, *start, -1);
        const double long_is = length(axis);
        if (long_is <= 0) return;
        for (double& c : axis) c /= long_is;
        for (const bool upper : {false, true}) {
            const double sign = upper ? 1 : -1;
            SceneVector along = axis;
            for (double& c : along) c *= sign;
            const SceneVector& moving = upper ? *end : *start;
            all.push_back(
                {{"length", place_of(sum(moving, along, round ? *r : 0)), place_of(along), false},
                 [this, upper, along, moving, long_is](double by, bool) {
                     const double l = grown(long_is, by);
                     Done done{object_, fmt::format("length {:.4g} m", l), {}, {}};
                     done.object.set(upper ? "end" : "start",
                                     node_of(sum(moving, along, l - long_is)));
                     return done;
                 }});
        }
        // Across: the axis of the scene that is farthest from it, made square to it.
        std::size_t least = 0;
        for (std::size_t k = 1; k < dimension_; ++k)
            if (std::abs(axis[k]) < std::abs(axis[least])) least = k;
        SceneVector side(dimension_, 0.0);
        side[least] = 1;
        side = sum(side, axis, -axis[least]);
        const double l = length(side);
        for (double& c : side) c /= l;
        const SceneVector middle = sum(*start, sum(*end, *start, -1), 0.5 + 0.5 * widest);
        all.push_back({{"radius", place_of(sum(middle, side, *r)), place_of(side), false},
                       [this, r = *r](double by, bool) { return radius(r, by); }});
    }

    void box() {
        const auto center = numbers_in(object_.find("center"), dimension_),
                   half = numbers_in(object_.find("half_extents"), dimension_);
        const auto axes = axes_of(object_.find("orientation"), dimension_);
        if (!center || !half || !axes) return;
        for (std::size_t k = 0; k < dimension_; ++k)
            for (const double sign : {-1.0, 1.0}) {
                SceneVector along = (*axes)[k];
                for (double& c : along) c *= sign;
                all.push_back({{axis_names[k], place_of(sum(*center, along, (*half)[k])),
                                place_of(along), false},
                               [this, k, along, center = *center, half = *half](double by, bool) {
                                   SceneVector h = half;
                                   h[k] = grown(half[k], by / 2);
                                   Done done{object_, "", {}, {}};
                                   done.object.set("half_extents", node_of(h));
                                   done.object.set("center",
                                                   node_of(sum(center, along, h[k] - half[k])));
                                   for (double& c : h) c *= 2;
                                   done.text = extents_text(h);
                                   return done;
                               }});
            }
    }

    void mesh(const Node& mesh) {
        if (mesh.find("box") != nullptr)
            places("/mesh");
        else if (mesh.find("points") != nullptr)
            places("/mesh/points");
        else if (mesh.find("grid") != nullptr)
            sheet();
    }

    // A value of places, by its pointer in the object: a grid, a box with counts or cells, a list.
    void places(const std::string& pointer) {
        const Node& value = at(object_, pointer);
        if (value.find("grid") != nullptr)
            lattice(pointer + "/grid");
        else if (value.find("box") != nullptr)
            filled(pointer + "/box");
        else if (value.is_array())
            list(pointer);
    }

    void lattice(const std::string& pointer) {
        const Node& as_written = at(object_, pointer);
        const auto counts = counts_of(as_written.find("counts"), dimension_);
        const auto spacing = numbers_in(as_written.find("spacing"), dimension_, true);
        const Node* const center = as_written.find("center");
        const Node* const origin = as_written.find("origin");
        const auto from = center != nullptr ? numbers_in(center, dimension_, true)
                          : origin != nullptr
                              ? numbers_in(origin, dimension_, true)
                              : std::optional<SceneVector>(SceneVector(dimension_, 0.0));
        if (!counts || !spacing || !from) return;
        Corners corners{*from, *from};
        for (std::size_t k = 0; k < dimension_; ++k) {
            const double extent = static_cast<double>((*counts)[k] - 1) * (*spacing)[k];
            if (center != nullptr) corners.low[k] -= extent / 2;
            corners.high[k] = corners.low[k] + extent;
        }
        const bool centered = center != nullptr;
        each_face(corners, [this, pointer, corners, counts = *counts, spacing = *spacing, centered](
                               std::size_t axis, bool upper, double by, bool repeats) {
            Corners c = corners;
            auto n = counts;
            SceneVector h = spacing;
            if (repeats) by = whole(n[axis], h[axis], corners.extents()[axis] + by, 1, 2);
            const Stretch stretch = c.drag(axis, upper, by);
            const auto gaps = static_cast<double>(n[axis] - 1);
            if (!repeats) h[axis] = c.extents()[axis] / gaps;
            Done done{object_, "", counts, n};
            Node& grid = at(done.object, pointer);
            grid.set("counts", node_of(n));
            if (std::ranges::all_of(h, [&](double one) { return one == h[0]; }))
                grid.set("spacing", tidy(h[0]));
            else
                grid.set("spacing", node_of(h));
            grid.set(centered ? "center" : "origin",
                     node_of(centered ? sum(c.low, c.extents(), 0.5) : c.low));
            hold(done.object, stretch);
            done.text = extents_text(c.extents()) + counts_text(n, "points");
            return done;
        });
    }

    void filled(const std::string& pointer) {
        const Node& as_written = at(object_, pointer);
        const auto low = numbers_in(as_written.find("min"), dimension_, true),
                   high = numbers_in(as_written.find("max"), dimension_, true);
        const char* const what = as_written.find("cells") != nullptr ? "cells" : "counts";
        const auto counts = counts_of(as_written.find(what), dimension_);
        if (!low || !high || !counts) return;
        const Corners corners{*low, *high};
        each_face(corners, [this, pointer, corners, what, counts = *counts](
                               std::size_t axis, bool upper, double by, bool repeats) {
            Corners c = corners;
            auto n = counts;
            const double extent = corners.extents()[axis];
            if (repeats)
                by = whole(n[axis], extent / static_cast<double>(n[axis]), extent + by, 0, 1);
            const Stretch stretch = c.drag(axis, upper, by);
            Done done{object_, "", {}, {}};
            Node& box = at(done.object, pointer);
            box.set("min", node_of(c.low));
            box.set("max", node_of(c.high));
            box.set(what, node_of(n));
            hold(done.object, stretch);
            done.text = extents_text(c.extents()) +
                        counts_text(n, std::string_view(what) == "cells" ? "cells" : "points");
            return done;
        });
    }

    void list(const std::string& pointer) {
        const Node& places = at(object_, pointer);
        std::vector<SceneVector> points;
        for (std::size_t k = 0; k < places.size(); ++k) {
            auto one = numbers_in(&places.item(k), dimension_);
            if (!one) return;
            points.push_back(std::move(*one));
        }
        if (points.empty()) return;
        Corners corners{points.front(), points.front()};
        for (const SceneVector& point : points)
            for (std::size_t k = 0; k < dimension_; ++k) {
                corners.low[k] = std::min(corners.low[k], point[k]);
                corners.high[k] = std::max(corners.high[k], point[k]);
            }
        each_face(
            corners,
            [this, pointer, corners, points = std::move(points)](std::size_t axis, bool upper,
                                                                 double by, bool) {
                Corners c = corners;
                const Stretch stretch = c.drag(axis, upper, by);
                Done done{object_, extents_text(c.extents()), {}, {}};
                Node& list = at(done.object, pointer);
                for (std::size_t k = 0; k < points.size(); ++k)
                    list.item(k).item(axis) = tidy(stretch.of(points[k][axis]));
                hold(done.object, stretch);
                return done;
            },
            false);
    }

    // A cloth on a grid: its far edges.
    void sheet() {
        const Node& as_written = at(object_, "/mesh/grid");
        const auto origin = numbers_in(as_written.find("origin"), dimension_),
                   warp = numbers_in(as_written.find("warp"), dimension_),
                   weft = numbers_in(as_written.find("weft"), dimension_);
        const auto cells = counts_of(as_written.find("cells"), 2);
        if (!origin || !warp || !weft || !cells) return;
        for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
            const SceneVector &one = which == 0 ? *warp : *weft,
                              &other = which == 0 ? *weft : *warp;
            const double before = length(one);
            if (before <= 0) continue;
            SceneVector along = one;
            for (double& c : along) c /= before;
            all.push_back(
                {{which == 0 ? "warp" : "weft", place_of(sum(sum(*origin, one), other, 0.5)),
                  place_of(along), may_repeat()},
                 [this, which, along, before, across = length(other), cells = *cells](
                     double by, bool repeats) {
                     auto n = cells;
                     if (repeats)
                         by = whole(n[which], before / static_cast<double>(n[which]), before + by,
                                    0, 1);
                     const double after = grown(before, by);
                     Done done{object_, "", {}, {}};
                     Node& grid = at(done.object, "/mesh/grid");
                     SceneVector edge = along;
                     for (double& c : edge) c *= after;
                     grid.set(which == 0 ? "warp" : "weft", node_of(edge));
                     grid.set("cells", node_of(n));
                     done.text = extents_text(which == 0 ? SceneVector{after, across}
                                                         : SceneVector{across, after}) +
                                 counts_text(n, "cells");
                     return done;
                 }});
        }
    }

    // The drag of a side, m, after which `count` - `less` whole distances fit; sets `count`.
    static double whole(std::int64_t& count, double distance, double wanted, std::int64_t less,
                        std::int64_t least) {
        const auto before = static_cast<double>(count - less) * distance;
        constexpr double most = 1e4;
        const double n = std::clamp(std::round(wanted / distance), 0.0, most);
        count = std::max(static_cast<std::int64_t>(n) + less, least);
        return static_cast<double>(count - less) * distance - before;
    }

    template <typename F>
    void each_face(const Corners& corners, F drag, bool repeats = true) {
        for (std::size_t axis = 0; axis < dimension_; ++axis) {
            if (!(corners.extents()[axis] > 0)) continue;
            for (const bool upper : {false, true})
                all.push_back({{axis_names[axis], corners.face(axis, upper),
                                unit(axis, upper ? 1 : -1), repeats && may_repeat()},
                               [drag, axis, upper](double by, bool counted) {
                                   return drag(axis, upper, by, counted);
                               }});
        }
    }

    // Points that the object names by their numbers would be others.
    bool may_repeat() const {
        const Node* const fixed = object_.find("fixed");
        return fixed == nullptr || !fixed->is_array();
    }

    // The box in which points are fixed goes along.
    void hold(Node& object, const Stretch& stretch) const {
        Node* const fixed = object.find("fixed");
        Node* const box = fixed != nullptr && fixed->is_object() ? fixed->find("box") : nullptr;
        if (box == nullptr) return;
        for (const char* corner : {"min", "max"})
            if (auto v = numbers_in(box->find(corner), dimension_, true)) {
                (*v)[stretch.axis] = stretch.of((*v)[stretch.axis]);
                box->set(corner, node_of(*v));
            }
    }

    // A member of members: "/mesh/box".
    template <typename N>
    static N& at(N& object, const std::string& pointer) {
        N* node = &object;
        for (std::size_t from = 1; from <= pointer.size();) {
            const std::size_t to = std::min(pointer.find('/', from), pointer.size());
            node = node->find(pointer.substr(from, to - from));
            if (node == nullptr) throw Error("there is no " + pointer);
            from = to + 1;
        }
        return *node;
    }

    const Node& object_;
    std::size_t dimension_;
};

// Calls f(scene as it is read, object, its sizes); false if there is no such object, or its type is unknown.
template <typename F>
bool with_sizes(const Document& scene, const Registry& registry, const std::string& pointer,
                F&& f) {
    const Scene read = Scene::of(scene, {});
    for (const Scene::Object& object : read.objects()) {
        if (object.node->pointer() != pointer) continue;
        const model::ModuleType* const type = registry.find(object.section, object.type);
        if (type == nullptr) return false;
        const Sizes sizes(*object.node, *type, static_cast<std::size_t>(read.dimension()));
        f(read, object, sizes);
        return true;
    }
    return false;
}

// Without the ones: how springs that connect the points of a layer name its counts.
std::vector<std::int64_t> beyond_one(std::vector<std::int64_t> counts) {
    std::erase(counts, 1);
    return counts;
}

}  // namespace

double grown(double before, double by) {
    constexpr double least_part = 1e-3;  // of a size is kept
    return std::max(before + by, least_part * before);
}

std::string extents_text(const SceneVector& extents) {
    std::string text;
    for (const double e : extents) {
        if (!text.empty()) text += " x ";
        text += fmt::format("{:.4g}", e);
    }
    return text + " m";
}

std::optional<std::vector<SceneVector>> axes_of(const Node* orientation, std::size_t dimension) {
    std::vector<SceneVector> axes;
    if (dimension == 2) {
        double angle = 0;
        if (orientation != nullptr) {
            const Node* const one = orientation->is_array() && orientation->size() == 1
                                        ? &orientation->item(0)
                                        : orientation;
            if (!document::is_number(*one)) return std::nullopt;
            angle = document::number_of(*one);
        }
        const double c = std::cos(angle), s = std::sin(angle);
        axes = {{c, s}, {-s, c}};
        return axes;
    }
    std::array<double, 4> q{1, 0, 0, 0};
    if (orientation != nullptr) {
        const auto written = numbers_in(orientation, 4);
        if (!written || length(*written) <= 0) return std::nullopt;
        std::ranges::copy(*written, q.begin());
    }
    const auto rows = rotation_of(q);
    for (std::size_t k = 0; k < 3; ++k) axes.push_back({rows[0][k], rows[1][k], rows[2][k]});
    return axes;
}

std::vector<SizeHandle> size_handles(const Document& scene, const Registry& registry,
                                     const std::string& pointer) {
    std::vector<SizeHandle> handles;
    try {
        with_sizes(scene, registry, pointer,
                   [&](const Scene&, const Scene::Object&, const Sizes& sizes) {
                       for (const Sizes::Entry& entry : sizes.all) handles.push_back(entry.handle);
                   });
    } catch (const Error&) {
        return {};  // a scene that cannot be read has its error elsewhere
    }
    return handles;
}

Resized resized(const Document& scene, const Registry& registry, const std::string& pointer,
                std::size_t handle, double by, bool repeats) {
    Resized result;
    const bool found = with_sizes(
        scene, registry, pointer,
        [&](const Scene& read, const Scene::Object& object, const Sizes& sizes) {
            if (handle >= sizes.all.size()) throw Error(object.name + " has no such size");
            const Sizes::Entry& entry = sizes.all[handle];
            Sizes::Done done = entry.drag(by, repeats && entry.handle.repeats);
            result.text = std::move(done.text);
            for (std::size_t k = 0; k < done.object.size(); ++k) {
                const std::string& key = done.object.key(k);
                const Node* const before = object.node->find(key);
                if (before == nullptr || *before != done.object.item(k))
                    result.changes.push_back(
                        {fmt::format("{}/{}", pointer, key), done.object.item(k)});
            }
            if (!done.before || !done.after || *done.before == *done.after) return;
            for (const Scene::Object& other : read.objects()) {
                const Node* const connect = other.node->find("connect");
                const Node* const of =
                    connect != nullptr && connect->is_object() ? connect->find("grid") : nullptr;
                if (of == nullptr || !of->is_string() || of->string() != object.name) continue;
                const Node* const written = connect->find("counts");
                if (written == nullptr || !written->is_array()) continue;
                const auto counts = counts_of(written, written->size());
                if (counts && beyond_one(*counts) == beyond_one(*done.before))
                    result.changes.push_back(
                        {other.node->pointer() + "/connect/counts",
                         node_of(counts->size() == done.after->size() ? *done.after
                                                                      : beyond_one(*done.after))});
            }
        });
    if (!found) throw Error("there is no object of the scene at " + pointer);
    return result;
}

}  // namespace hindcast::session
