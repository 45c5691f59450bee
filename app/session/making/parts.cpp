#include "app/session/making/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/document/read.hpp"
#include "engine/model/offers/offer.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::session {

namespace {

using document::Node;
using model::Section;
using model::tidy;
using Numbers = std::vector<std::int64_t>;

struct Object {
    Section section = Section::bodies;
    std::string pointer;
    const model::ModuleType* type = nullptr;
};

Object object_of(const Document& document, const Registry& registry, const std::string& name) {
    const Scene scene = Scene::of(document, {});
    for (const Scene::Object& object : scene.objects())
        if (object.name == name)
            return {object.section, object.node->pointer(),
                    registry.find(object.section, object.type)};
    throw Error("the scene has no object '" + name + "' any more")
        .remedy("select the points once more");
}

const model::Field* field_of(const Object& object, const std::string& key) {
    if (object.type == nullptr) return nullptr;
    const auto field = std::ranges::find(object.type->fields, key, &model::Field::key);
    return field == object.type->fields.end() ? nullptr : &*field;
}

void need_points(const Parts& parts) {
    if (parts.empty()) throw Error("no points are selected").remedy("select some in the view");
    if (parts.kind != Parts::Kind::points)
        throw Error("elements are selected, and this needs points")
            .remedy("select points in the view");
}

const Parts::Of& only(const Parts& parts, const char* what) {
    if (parts.of.size() != 1)
        throw Error(fmt::format("{} are selected, and {} is of one object",
                                parts.of.empty() ? "no parts" : "parts of several objects", what))
            .remedy("select parts of one object");
    return parts.of.front();
}

// The points of the body that "fixed" names.
Numbers fixed_points(const Document& document, const std::filesystem::path& file,
                     const Registry& registry, const std::string& name, const Object& object) {
    const Node* const fixed = document.find(object.pointer + "/fixed");
    if (fixed == nullptr) return {};
    Numbers numbers;
    if (fixed->is_array()) {
        for (std::size_t k = 0; k < fixed->size(); ++k) numbers.push_back(fixed->item(k).integer());
        return numbers;
    }
    if (fixed->is_boolean() && !fixed->boolean()) return {};
    // All, or those in a box: the module knows them. A fixed point has no inverse mass.
    DeviceOptions device;
    device.kind = DeviceKind::interpreter;
    device.threads = 1;
    SimulationOptions options;
    options.device = std::make_shared<Device>(device);
    options.precision = ir::Precision::f64;
    const Simulation simulation(Scene::of(document, file), registry, options);
    const model::Range points = simulation.model().points(name, Node());
    if (fixed->is_boolean()) {
        for (std::int64_t p = 0; p < points.count; ++p) numbers.push_back(p);
        return numbers;
    }
    const std::size_t d = static_cast<std::size_t>(simulation.scene().dimension());
    if (document.find(object.pointer + "/reference_positions") != nullptr)
        throw Error(name + " has a box of fixed points and reference positions")
            .remedy("write the fixed points of " + name + " as a list of numbers");
    std::vector<double> low, high;
    const Node* const box = fixed->find("box");
    for (std::size_t k = 0; k < d; ++k) {
        const auto corner = [&](const char* key) {
            return document::number_of(box->find(key)->item(k));
        };
        low.push_back(corner("min"));
        high.push_back(corner("max"));
    }
    const std::vector<double>& x = simulation.model().initial_points();
    for (std::int64_t p = 0; p < points.count; ++p) {
        bool inside = true;
        for (std::size_t k = 0; k < d; ++k) {
            const double at = x[static_cast<std::size_t>(points.first + p) * d + k];
            inside = inside && at >= low[k] && at <= high[k];
        }
        if (inside) numbers.push_back(p);
    }
    return numbers;
}

void set_fixed(Document& document, const std::string& pointer, const Numbers& numbers) {
    if (numbers.empty()) {
        if (document.find(pointer + "/fixed") != nullptr) document.erase(pointer + "/fixed");
        return;
    }
    Node list = Node::array();
    for (const std::int64_t number : numbers) list.push_back(Node(number));
    document.set(pointer + "/fixed", std::move(list));
}

template <class Change>
Document with_fixed(const Document& document, const std::filesystem::path& file,
                    const Registry& registry, const Parts& parts, const Change& change) {
    need_points(parts);
    Document changed = document;
    for (const Parts::Of& of : parts.of) {
        const Object object = object_of(document, registry, of.name);
        if (field_of(object, "fixed") == nullptr)
            throw Error("points of " + of.name + " cannot be fixed")
                .remedy("points of particles, cloth and elastic bodies can");
        Numbers now = fixed_points(document, file, registry, of.name, object), next;
        std::ranges::sort(now);
        change(now, of.numbers, next);
        set_fixed(changed, object.pointer, next);
    }
    return changed;
}

Node place_node(const Document& document, const std::array<double, 3>& place) {
    const Scene scene = Scene::of(document, {});
    Node node = Node::array();
    for (int k = 0; k < scene.dimension(); ++k)  // to a tenth of a millimeter
        node.push_back(tidy(std::round(place[static_cast<std::size_t>(k)] * 1e4) / 1e4));
    return node;
}

Node list_of(const Numbers& numbers) {
    Node node = Node::array();
    for (const std::int64_t number : numbers) node.push_back(Node(number));
    return node;
}

void append(Document& document, Section section, Node object) {
    const std::string list = std::string("/") + model::name_of(section);
    if (document.find(list) == nullptr) document.set(list, Node::array());
    document.set(list + "/-", std::move(object));
}

void need_type(const Registry& registry, Section section, const char* type) {
    if (registry.find(section, type) == nullptr)
        throw Error(std::string("this program has no module '") + type + "'");
}

}  // namespace

std::int64_t Parts::count() const {
    std::int64_t sum = 0;
    for (const Of& one : of) sum += static_cast<std::int64_t>(one.numbers.size());
    return sum;
}

const std::vector<std::int64_t>* Parts::find(const std::string& name) const {
    const auto found = std::ranges::find(of, name, &Of::name);
    return found == of.end() ? nullptr : &found->numbers;
}

void Parts::add(const std::string& name, std::vector<std::int64_t> numbers) {
    if (numbers.empty()) return;
    auto found = std::ranges::find(of, name, &Of::name);
    if (found == of.end()) found = of.insert(of.end(), {name, {}});
    numbers.insert(numbers.end(), found->numbers.begin(), found->numbers.end());
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    found->numbers = std::move(numbers);
}

void Parts::remove(const std::string& name, const std::vector<std::int64_t>& numbers) {
    const auto found = std::ranges::find(of, name, &Of::name);
    if (found == of.end()) return;
    std::erase_if(found->numbers, [&](std::int64_t number) {
        return std::ranges::find(numbers, number) != numbers.end();
    });
    if (found->numbers.empty()) of.erase(found);
}

void Parts::toggle(const std::string& name, std::int64_t number) {
    const Numbers* const now = find(name);
    if (now != nullptr && std::ranges::binary_search(*now, number))
        remove(name, {number});
    else
        add(name, {number});
}

std::string Parts::text() const {
    if (empty()) return "";
    const char* const what = kind == Kind::points ? "point" : "element";
    std::string names;
    for (const Of& one : of) names += (names.empty() ? "" : ", ") + one.name;
    return fmt::format("{} {}{} of {}", count(), what, count() == 1 ? "" : "s", names);
}

bool can_be_pinned(const Document& document, const Registry& registry, const std::string& name) {
    try {
        return field_of(object_of(document, registry, name), "fixed") != nullptr;
    } catch (const Error&) {
        return false;  // it is no longer there
    }
}

Document pinned(const Document& document, const std::filesystem::path& file,
                const Registry& registry, const Parts& parts) {
    return with_fixed(document, file, registry, parts,
                      [](const Numbers& now, const Numbers& chosen, Numbers& next) {
                          std::ranges::set_union(now, chosen, std::back_inserter(next));
                      });
}

Document unpinned(const Document& document, const std::filesystem::path& file,
                  const Registry& registry, const Parts& parts) {
    return with_fixed(document, file, registry, parts,
                      [](const Numbers& now, const Numbers& chosen, Numbers& next) {
                          std::ranges::set_difference(now, chosen, std::back_inserter(next));
                      });
}

Document connected(const Document& document, const Registry& registry, const Parts& parts,
                   const std::string& name, const WhereIs& where) {
    need_points(parts);
    need_type(registry, Section::forces, "springs");
    if (parts.count() < 2)
        throw Error("one point is selected, and a spring has two").remedy("select another one");
    Node connect = Node::array();
    const auto join = [&](const std::string& a, std::int64_t i, const std::string& b,
                          std::int64_t j) {
        connect.push_back(Node::array({Node(a), Node(i), Node(b), Node(j)}));
    };
    if (parts.of.size() == 1) {
        const Parts::Of& of = parts.of.front();
        for (std::size_t k = 0; k + 1 < of.numbers.size(); ++k)
            join(of.name, of.numbers[k], of.name, of.numbers[k + 1]);
    }
    // From each point of all bodies but the one with the most points chosen.
    const auto most = std::ranges::max_element(
        parts.of, {}, [](const Parts::Of& of) { return of.numbers.size(); });
    for (const Parts::Of& of : parts.of) {
        if (parts.of.size() == 1 || &of == &*most) continue;
        for (const std::int64_t point : of.numbers) {
            const auto from = where(of.name, point);
            double nearest = std::numeric_limits<double>::infinity();
            const Parts::Of* body = nullptr;
            std::int64_t other = 0;
            for (const Parts::Of& to : parts.of) {
                if (&to == &of) continue;
                for (const std::int64_t candidate : to.numbers) {
                    const auto at = where(to.name, candidate);
                    const double far =
                        std::hypot(at[0] - from[0], at[1] - from[1], at[2] - from[2]);
                    if (far >= nearest) continue;
                    nearest = far;
                    body = &to;
                    other = candidate;
                }
            }
            if (body != nullptr) join(of.name, point, body->name, other);
        }
    }
    Document changed = document;
    append(changed, Section::forces,
           Node::object({{"type", "springs"},
                         {"name", name},
                         {"connect", std::move(connect)},
                         {"stiffness", Node(100)},
                         {"damping", Node(0.5)}}));
    return changed;
}

Document aimed(const Document& document, const Registry& registry, const Parts& parts,
               const std::string& name, const WhereIs& where) {
    need_points(parts);
    need_type(registry, Section::objective, "point_target");
    const Parts::Of& of = only(parts, "a target");
    Node target = Node::array();
    for (const std::int64_t point : of.numbers)
        target.push_back(place_node(document, where(of.name, point)));
    if (of.numbers.size() == 1) {
        Node one = target.item(0);
        target = std::move(one);
    }
    Document changed = document;
    append(changed, Section::objective,
           Node::object({{"type", "point_target"},
                         {"name", name},
                         {"of", of.name},
                         {"points", list_of(of.numbers)},
                         {"target", std::move(target)},
                         {"weight", Node(1)}}));
    return changed;
}

Document pulled(const Document& document, const Registry& registry, const Parts& parts,
                const std::string& name, const WhereIs& where) {
    need_points(parts);
    need_type(registry, Section::forces, "pull");
    const Parts::Of& of = only(parts, "a pull");
    if (of.numbers.size() != 1)
        throw Error(fmt::format("{} points are selected, and a pull has one", of.numbers.size()))
            .remedy("select one point");
    const Scene scene = Scene::of(document, {});
    Node places = Node::array();
    for (std::int64_t step = 0; step < scene.steps(); ++step)
        places.push_back(place_node(document, where(of.name, of.numbers.front())));
    Document changed = document;
    append(changed, Section::forces,
           Node::object({{"type", "pull"},
                         {"name", name},
                         {"of", of.name},
                         {"point", Node(of.numbers.front())},
                         {"places", std::move(places)},
                         {"stiffness", Node(100)},
                         {"damping", Node(1)}}));
    return changed;
}

std::vector<std::string> keys_per_element(const Document& document, const Registry& registry,
                                          const std::string& name) {
    std::vector<std::string> keys;
    const Object object = object_of(document, registry, name);
    if (object.type == nullptr) return keys;
    for (const model::Field& field : object.type->fields) {
        // Only a field's documentation tells what its numbers belong to. Edges cannot be chosen.
        const auto speaks_of = [&](const char* word) {
            return field.documentation.find(word) != std::string::npos;
        };
        if (field.kind == model::FieldKind::values && field.may_optimize &&
            !speaks_of("inner edge") && !speaks_of("particle") && !speaks_of("each point"))
            keys.push_back(field.key);
    }
    return keys;
}

Document optimized(const Document& document, const Registry& registry, const Parts& parts,
                   const std::string& key) {
    const Parts::Of& of = only(parts, "a parameter");
    const Object object = object_of(document, registry, of.name);
    const model::Field* const field = field_of(object, key);
    if (field == nullptr || !field->may_optimize)
        throw Error(of.name + "." + key + " cannot be optimized");
    Document changed = document;
    if (changed.find("/parameters") == nullptr) changed.set("/parameters", Node::array());
    const std::string path = of.name + "." + key;
    const Node* const list = changed.find("/parameters");
    for (std::size_t k = 0; k < list->size(); ++k)
        if (const Node* const other = list->item(k).find("path");
            other != nullptr && other->is_string() && other->string() == path)
            throw Error("'" + path + "' is optimized already: a number belongs to one parameter")
                .remedy("take the parameter that is there out first");
    changed.set("/parameters/-",
                Node::object({{"path", path},
                              {"per", "element"},
                              {"select", Node::object({{"indices", list_of(of.numbers)}})}}));
    return changed;
}

}  // namespace hindcast::session
