#include "app/session/making/arrange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "app/session/document/object_edits.hpp"
#include "engine/document/read.hpp"
#include "engine/document/text.hpp"
#include "engine/model/offers/offer.hpp"
#include "engine/sim/scene/scene.hpp"

namespace hindcast::session {

namespace {

using document::Document;
using document::Node;
using model::numbers_in;
using model::Section;
using model::tidy;
using Vector = std::array<double, 3>;

// Goes over the places and sizes of an object and maps those it finds; `seen` are the places.
class Mapper {
public:
    Mapper(Node& object, const model::ModuleType& type, std::size_t dimension, const AxisMap& map)
        : object_(object), type_(type), dimension_(dimension), map_(map) {
        for (std::size_t k = 0; k < dimension; ++k) {
            same_ = same_ && std::abs(map.factor[k]) == std::abs(map.factor[0]);
            turned_ = turned_ || map.factor[k] < 0;
        }
    }

    void run() {
        if (object_.find("positions") == nullptr) mesh();
        for (const model::Field& field : type_.fields) {
            Node* const value = object_.find(field.key);
            if (value == nullptr || field.unit_text != "m") continue;
            const bool size = field.low == 0;
            if (field.kind == model::FieldKind::number && field.key == "radius") {
                sizes(*value);
            } else if (field.kind == model::FieldKind::vector && size) {
                for (std::size_t k = 0; k < value->size(); ++k) scale(value->item(k), k);
            } else if (field.kind == model::FieldKind::vector ||
                       field.kind == model::FieldKind::vectors) {
                places(*value, field.key);
            }
        }
        plane();
        if (Node* const fixed = object_.find("fixed"))
            if (Node* const box = fixed->is_object() ? fixed->find("box") : nullptr) corners(*box);
        if (!turned_) return;
        for (const char* key : {"velocity"})
            if (Node* const value = object_.find(key); value != nullptr)
                if (const auto v = numbers_in(value, dimension_)) write(*value, *v, false);
        if (object_.find("orientation") != nullptr || object_.find("angular_velocity") != nullptr)
            throw Error("what turns or is turned cannot be mirrored")
                .remedy("turn the copy by its orientation");
    }

    std::vector<Vector> seen;

private:
    void note(const std::vector<double>& place) {
        Vector v{};
        std::ranges::copy(place, v.begin());
        seen.push_back(v);
    }

    void write(Node& node, const std::vector<double>& v, bool place) const {
        for (std::size_t k = 0; k < dimension_; ++k)
            node.item(k) = tidy(place ? map_.of(k, v[k]) : map_.factor[k] * v[k]);
    }

    void scale(Node& number, std::size_t axis) const {
        if (document::is_number(number))
            number = tidy(std::abs(map_.factor[axis]) * document::number_of(number));
    }

    void sizes(Node& number) const {
        if (std::abs(map_.factor[0]) == 1 && same_) return;
        if (!same_) throw Error("what has a radius or a spacing is scaled alike along all axes");
        scale(number, 0);
    }

    void corners(Node& box) {
        Node *const low = box.find("min"), *const high = box.find("max");
        const auto a = numbers_in(low, dimension_), b = numbers_in(high, dimension_);
        if (!a || !b) throw Error("a box of it is not written by numbers");
        note(*a);
        note(*b);
        for (std::size_t k = 0; k < dimension_; ++k) {
            const double x = map_.of(k, (*a)[k]), y = map_.of(k, (*b)[k]);
            low->item(k) = tidy(std::min(x, y));
            high->item(k) = tidy(std::max(x, y));
        }
    }

    void places(Node& value, const std::string& key) {
        if (const auto one = numbers_in(&value, dimension_)) {
            note(*one);
            write(value, *one, true);
            return;
        }
        if (value.is_array()) {
            for (std::size_t k = 0; k < value.size(); ++k) {
                const auto one = numbers_in(&value.item(k), dimension_);
                if (!one) throw Error("its " + key + " are not all written by numbers");
                note(*one);
                write(value.item(k), *one, true);
            }
            return;
        }
        if (Node* const grid = value.find("grid")) return lattice(*grid);
        if (Node* const box = value.find("box")) return corners(*box);
        throw Error("its " + key + " are written as a formula or a file")
            .remedy("change them in the scene file");
    }

    // Counts, one spacing, the node of the least places.
    void lattice(Node& grid) {
        Node *const origin = grid.find("origin"), *const spacing = grid.find("spacing");
        const auto counts = numbers_in(grid.find("counts"), dimension_);
        if (spacing == nullptr || !document::is_number(*spacing) || !counts ||
            (grid.find("center") != nullptr && !numbers_in(grid.find("center"), dimension_)))
            throw Error("its grid is not written by numbers");
        const double h = document::number_of(*spacing);
        auto from = numbers_in(origin, dimension_).value_or(std::vector<double>(dimension_, 0.0));
        const auto center = numbers_in(grid.find("center"), dimension_);
        std::vector<double> to = from;
        for (std::size_t k = 0; k < dimension_; ++k) {
            const double extent = ((*counts)[k] - 1) * h;
            if (center) from[k] = (*center)[k] - extent / 2;
            to[k] = from[k] + extent;
        }
        note(from);
        note(to);
        Node mapped_origin = Node::array();
        for (std::size_t k = 0; k < dimension_; ++k)
            mapped_origin.push_back(tidy(std::min(map_.of(k, from[k]), map_.of(k, to[k]))));
        sizes(*spacing);
        if (center)
            write(*grid.find("center"), *center, true);
        else
            grid.set("origin", std::move(mapped_origin));
    }

    void mesh() {
        Node* const mesh = object_.find("mesh");
        if (mesh == nullptr) return;
        if (Node* const box = mesh->find("box")) return corners(*box);
        if (Node* const points = mesh->find("points")) return places(*points, "points");
        Node* const grid = mesh->find("grid");
        if (grid == nullptr)
            throw Error("its mesh is a file").remedy("give it \"positions\" by a formula");
        const auto origin = numbers_in(grid->find("origin"), dimension_),
                   warp = numbers_in(grid->find("warp"), dimension_),
                   weft = numbers_in(grid->find("weft"), dimension_);
        if (!origin || !warp || !weft) throw Error("its grid is not written by numbers");
        std::vector<double> end = *origin;
        for (std::size_t k = 0; k < dimension_; ++k) end[k] += (*warp)[k] + (*weft)[k];
        note(*origin);
        note(end);
        write(*grid->find("origin"), *origin, true);
        write(*grid->find("warp"), *warp, false);
        write(*grid->find("weft"), *weft, false);
    }

    void plane() {
        Node* const normal = object_.find("normal");
        const auto n = numbers_in(normal, dimension_);
        if (!n) return;
        const Node* const offset = object_.find("offset");
        const double d =
            offset != nullptr && document::is_number(*offset) ? document::number_of(*offset) : 0;
        double length2 = 0;
        for (const double c : *n) length2 += c * c;
        if (length2 <= 0) return;
        std::vector<double> foot, turned;
        // The plane n.x = d |n|, with n made a unit vector.
        for (std::size_t k = 0; k < dimension_; ++k) {
            foot.push_back((*n)[k] * d / std::sqrt(length2));
            turned.push_back((*n)[k] / map_.factor[k]);  // normals go by the inverse
        }
        note(foot);
        double length = 0, along = 0;
        for (std::size_t k = 0; k < dimension_; ++k) {
            length += turned[k] * turned[k];
            along += turned[k] * map_.of(k, foot[k]);
        }
        for (std::size_t k = 0; k < dimension_; ++k) normal->item(k) = tidy(turned[k]);
        object_.set("offset", tidy(along / std::sqrt(length)));
    }

    Node& object_;
    const model::ModuleType& type_;
    std::size_t dimension_;
    AxisMap map_;
    bool same_ = true, turned_ = false;
};

// Maps the object in the document and returns its places before.
std::vector<Vector> map_in(Document& document, const Registry& registry, const std::string& pointer,
                           const AxisMap& map) {
    const Scene scene = Scene::of(document, {});
    for (const Scene::Object& object : scene.objects()) {
        if (object.node->pointer() != pointer) continue;
        const model::ModuleType* const type = registry.find(object.section, object.type);
        if (type == nullptr) break;
        Node changed(*object.node);
        Mapper mapper(changed, *type, static_cast<std::size_t>(scene.dimension()), map);
        try {
            mapper.run();
        } catch (const Error& error) {
            throw Error(object.name + " cannot be moved here: " + error.happened())
                .remedy(error.what_to_do());
        }
        if (mapper.seen.empty())
            throw Error(object.name + " has no place of its own in the scene file");
        document.set(pointer, std::move(changed));
        return std::move(mapper.seen);
    }
    throw Error("there is no object of the scene at " + pointer);
}

// Strings that are the name become the new one.
void rename_in(Node& node, const std::string& name, const std::string& fresh) {
    for (std::size_t k = 0; k < node.size(); ++k) rename_in(node.item(k), name, fresh);
    if (node.is_string() && node.string() == name) node = Node(fresh);
}

void names_in(const Node& node, const std::set<std::string>& known, std::set<std::string>& found) {
    for (std::size_t k = 0; k < node.size(); ++k) names_in(node.item(k), known, found);
    if (node.is_string() && known.contains(node.string())) found.insert(node.string());
}

}  // namespace

Document mapped(const Document& scene, const Registry& registry, const std::string& pointer,
                const AxisMap& map) {
    Document changed = scene;
    map_in(changed, registry, pointer, map);
    return changed;
}

Vector middle_of(const Document& scene, const Registry& registry, const std::string& pointer) {
    Document copy = scene;
    const std::vector<Vector> places = map_in(copy, registry, pointer, {});
    Vector low = places.front(), high = low;
    for (const Vector& place : places)
        for (std::size_t k = 0; k < 3; ++k) {
            low[k] = std::min(low[k], place[k]);
            high[k] = std::max(high[k], place[k]);
        }
    return {(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2};
}

Document mirrored(const Document& scene, const Registry& registry, const std::string& pointer,
                  std::size_t axis) {
    AxisMap map;
    map.factor[axis] = -1;
    map.shift[axis] = 2 * middle_of(scene, registry, pointer)[axis];
    return mapped(scene, registry, pointer, map);
}

Document scaled(const Document& scene, const Registry& registry, const std::string& pointer,
                double factor) {
    if (!(factor > 0)) throw Error(fmt::format("a thing cannot be {} times as large", factor));
    const Vector middle = middle_of(scene, registry, pointer);
    AxisMap map;
    for (std::size_t k = 0; k < 3; ++k) {
        map.factor[k] = factor;
        map.shift[k] = middle[k] * (1 - factor);
    }
    return mapped(scene, registry, pointer, map);
}

Document snapped(const Document& scene, const Registry& registry, const std::string& pointer,
                 double spacing) {
    if (!(spacing > 0)) throw Error("the spacing of a grid is greater than 0");
    const Vector middle = middle_of(scene, registry, pointer);
    AxisMap map;
    for (std::size_t k = 0; k < 3; ++k)
        map.shift[k] = std::round(middle[k] / spacing) * spacing - middle[k];
    return mapped(scene, registry, pointer, map);
}

Document arrayed(const Document& scene, const Registry& registry, const std::string& pointer,
                 int count, const Vector& offset) {
    if (count < 1 || count > 1000) throw Error(fmt::format("there cannot be {} of it", count));
    const Node* const object = scene.find(pointer);
    if (object == nullptr) throw Error("there is no object of the scene at " + pointer);
    std::string name;
    std::set<std::string> bodies;
    bool is_body = false;
    const Scene read = Scene::of(scene, {});
    for (const Scene::Object& one : read.objects()) {
        if (one.section == Section::bodies) bodies.insert(one.name);
        if (one.node->pointer() != pointer) continue;
        name = one.name;
        is_body = one.section == Section::bodies;
    }
    Document changed = scene;
    for (int k = 1; k < count; ++k) {
        const std::string fresh = unused_name(changed, name);
        Node copy(*object);
        copy.set("name", Node(fresh));
        const std::string list = pointer.substr(0, pointer.find_last_of('/'));
        const std::string at = list + "/" + std::to_string(changed.at(list).size());
        changed.set(list + "/-", std::move(copy));
        AxisMap map;
        for (std::size_t c = 0; c < 3; ++c) map.shift[c] = k * offset[c];
        map_in(changed, registry, at, map);
        if (!is_body) continue;
        for (const Section section : {Section::forces, Section::colliders}) {
            const std::string section_list = std::string("/") + model::name_of(section);
            const Node* const others = scene.find(section_list);
            for (std::size_t j = 0; others != nullptr && j < others->size(); ++j) {
                std::set<std::string> named;
                names_in(others->item(j), bodies, named);
                if (named != std::set<std::string>{name}) continue;
                Node other(others->item(j));
                rename_in(other, name, fresh);
                const Node* const own = other.find("name");
                if (own != nullptr && own->is_string())
                    other.set("name", Node(unused_name(changed, own->string())));
                changed.set(section_list + "/-", std::move(other));
            }
        }
    }
    return changed;
}

}  // namespace hindcast::session
