#include "app/session/document/default_object.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

#include "engine/sim/simulation.hpp"

namespace hindcast::session {

namespace {

using document::Document;
using document::Node;
using model::Field;
using model::FieldKind;

constexpr int most_tries = 200;
constexpr std::size_t most_candidates = 6;

// The contents of the scene, as far as it can be built.
struct Surroundings {
    int dimension = 3;
    char up = 'z';
    struct Body {
        std::string name;
        std::int64_t points = 0;
        std::vector<double> first;  // where its first point starts
    };
    std::vector<Body> bodies;
    std::vector<std::string> paths;  // of numbers that may be optimized
};

Surroundings look(const Document& document, const std::filesystem::path& file,
                  const Registry& registry, const std::shared_ptr<Device>& device) {
    const Scene scene = Scene::of(document, file);
    Surroundings s;
    s.dimension = scene.dimension();
    if (const Node* up = document.root().find("up"))
        if (up->is_string() && up->string() == "y") s.up = 'y';
    if (s.dimension == 2) s.up = 'y';
    for (const Scene::Object& object : scene.objects())
        if (object.section == model::Section::bodies) s.bodies.push_back({object.name, 0, {}});
    try {
        SimulationOptions options;
        options.device = device;
        Simulation simulation(scene, registry, options);
        const std::vector<double>& x = simulation.model().initial_points();
        const auto d = static_cast<std::size_t>(s.dimension);
        for (Surroundings::Body& body : s.bodies) {
            try {
                const model::Range points = simulation.model().points(body.name, Node());
                body.points = points.count;
                const std::size_t first = static_cast<std::size_t>(points.first) * d;
                if (points.count > 0 && first + d <= x.size())
                    body.first.assign(x.begin() + static_cast<std::ptrdiff_t>(first),
                                      x.begin() + static_cast<std::ptrdiff_t>(first + d));
            } catch (const Error&) {  // a body without points
                body.points = 0;
            }
        }
        for (const auto& [path, q] : simulation.model().quantities())
            if (q->may_optimize && path != "gravity") s.paths.push_back(path);
    } catch (const Error&) {  // a scene that cannot be built yet: names are all there is
        s.paths.clear();
    }
    return s;
}

Node vector_node(const std::vector<double>& values) {
    Node node = Node::array();
    for (const double v : values)
        node.push_back(v == std::floor(v) ? Node(static_cast<std::int64_t>(v)) : Node(v));
    return node;
}

class Candidates {
public:
    explicit Candidates(const Surroundings& s) : s_(s) {}

    std::vector<Node> of(const Field& f) const {
        switch (f.kind) {
            case FieldKind::number:
            case FieldKind::values: return numbers(f);
            case FieldKind::vector: return vectors(f);
            case FieldKind::vectors: return lists_of_vectors(f);
            case FieldKind::integer: return {Node(std::isfinite(f.low) ? f.low : 1.0)};
            case FieldKind::boolean: return {Node(false)};
            case FieldKind::choice: return {Node(f.choices.front())};
            case FieldKind::body: return bodies();
            case FieldKind::text: return texts();
            case FieldKind::list:
            case FieldKind::any: return by_schema(f);
        }
        return {};
    }

private:
    std::vector<double> up() const {
        std::vector<double> v(static_cast<std::size_t>(s_.dimension), 0.0);
        v[s_.up == 'y' ? 1 : 2] = 1;
        return v;
    }

    static std::vector<Node> numbers(const Field& f) {
        std::vector<Node> list;
        const auto add = [&](double x) {
            if (x < f.low || x > f.high || (f.low_open && x == f.low) ||
                (f.high_open && x == f.high))
                return;
            list.push_back(x == std::floor(x) ? Node(static_cast<std::int64_t>(x)) : Node(x));
        };
        if (f.unit_text == "m") add(0.1);
        if (f.unit_text == "N/m") add(100);
        for (const double x : {1.0, 0.1, 0.01, 0.0, 10.0}) add(x);
        if (std::isfinite(f.low) && std::isfinite(f.high)) add(0.5 * (f.low + f.high));
        return list;
    }

    std::vector<Node> vectors(const Field& f) const {
        const Node zero = vector_node(std::vector<double>(up().size(), 0.0));
        if (f.low == 0 && f.low_open)
            return {vector_node(std::vector<double>(up().size(), 0.25))};  // a size
        if (f.unit_text.empty()) return {vector_node(up()), zero};         // a direction
        return {f.unit_text == "m" ? near_body() : zero, vector_node(up()), zero};
    }

    // Half a meter beside where the first body starts.
    Node near_body() const {
        std::vector<double> place = up();
        for (const Surroundings::Body& body : s_.bodies)
            if (!body.first.empty()) {
                place = body.first;
                break;
            }
        place[0] += 0.5;
        return vector_node(place);
    }

    std::vector<Node> lists_of_vectors(const Field& f) const {
        std::vector<Node> list{Node::array({vector_node(up())})};  // one point, a meter up
        if (f.key == "positions")
            list.push_back(near_body());
        else if (f.unit_text == "m")
            list.insert(list.begin(), near_body());
        else
            list.insert(list.begin(), vector_node(std::vector<double>(up().size(), 0.0)));
        for (const Surroundings::Body& body : s_.bodies) {  // one for each of its points
            if (body.points < 1 || body.points > 1000) continue;
            Node rows = Node::array();
            for (std::int64_t p = 0; p < body.points; ++p) rows.push_back(near_body());
            list.push_back(std::move(rows));
        }
        return list;
    }

    std::vector<Node> bodies() const {
        std::vector<Node> list;
        for (const Surroundings::Body& body : s_.bodies) list.emplace_back(body.name);
        return list;
    }

    std::vector<Node> texts() const {
        std::vector<Node> list;
        for (const std::string& path : s_.paths) list.emplace_back(path);
        return list;
    }

    // Forms that several modules share, by what their schema asks for; else the least value that
    // fits the schema.
    std::vector<Node> by_schema(const Field& f) const {
        std::vector<Node> list;
        if (f.key == "connect") {
            std::vector<std::pair<std::string, std::int64_t>> ends;
            for (const Surroundings::Body& body : s_.bodies)
                for (std::int64_t p = 0; p < std::min<std::int64_t>(body.points, 2); ++p)
                    ends.emplace_back(body.name, p);
            for (std::size_t a = 0; a < ends.size(); ++a)
                for (std::size_t b = ends.size(); b-- > a + 1;)
                    list.push_back(
                        Node::array({Node::array({Node(ends[a].first), Node(ends[a].second),
                                                  Node(ends[b].first), Node(ends[b].second)})}));
        }
        if (f.key == "mesh" || f.item_schema.find("\"box\"") != std::string::npos) {
            Node low = Node::array(), high = Node::array(), cells = Node::array();
            for (int k = 0; k < s_.dimension; ++k) {
                low.push_back(Node(0));
                high.push_back(Node(1));
                cells.push_back(Node(2));
            }
            list.push_back(Node::object(
                {{"box", Node::object({{"min", low}, {"max", high}, {"cells", cells}})}}));
        }
        if (s_.dimension == 3 && f.item_schema.find("\"grid\"") != std::string::npos &&
            f.key == "mesh") {
            const auto along = [](double x, double y) { return vector_node({x, y, 0}); };
            const Node grid = Node::object({{"origin", near_body()},
                                            {"warp", along(1, 0)},
                                            {"weft", along(0, 1)},
                                            {"cells", Node::array({Node(8), Node(8)})}});
            list.insert(list.begin(), Node::object({{"grid", grid}}));
        }
        if (f.key == "triangles") {  // one, seen from both sides: they close
            const Node front = Node::array({Node(0), Node(1), Node(2)});
            const Node back = Node::array({Node(0), Node(2), Node(1)});
            list.push_back(Node::array({front, back}));
            list.push_back(Node::array({front}));
        }
        if (!f.item_schema.empty()) {
            const Document schema = Document::parse(f.item_schema, "schema of " + f.key);
            const Node items = least(schema.root());
            if (f.kind == FieldKind::list) {
                for (const int count : {s_.dimension, 1, 2, 3}) {
                    Node node = Node::array();
                    for (int k = 0; k < count; ++k)
                        node.push_back(items.is_integer()
                                           ? Node(std::max<std::int64_t>(items.integer(), 16))
                                           : items);
                    list.push_back(std::move(node));
                }
            } else {
                list.push_back(items);
            }
        }
        if (list.empty() && f.kind == FieldKind::list) list.push_back(Node::array());
        return list;
    }

    Node least(const Node& schema) const {
        for (const char* key : {"oneOf", "anyOf"})
            if (const Node* options = schema.find(key); options != nullptr && options->size() > 0)
                return least(options->item(0));
        if (const Node* words = schema.find("enum"); words != nullptr && words->size() > 0)
            return words->item(0);
        if (const Node* word = schema.find("const")) return *word;
        const Node* const type = schema.find("type");
        const std::string kind = type != nullptr && type->is_string() ? type->string() : "";
        if (kind == "integer" || kind == "number") {
            const Node* const low = schema.find("minimum");
            return low != nullptr ? *low : Node(1);
        }
        if (kind == "string") return s_.bodies.empty() ? Node("") : Node(s_.bodies.front().name);
        if (kind == "boolean") return {false};
        if (kind == "array") {
            Node node = Node::array();
            const Node *const least_items = schema.find("minItems"), *const items =
                                                                         schema.find("items");
            const std::int64_t count = least_items != nullptr ? least_items->integer() : 0;
            for (std::int64_t k = 0; k < count; ++k)
                node.push_back(items != nullptr ? least(*items) : Node(0));
            return node;
        }
        Node node = Node::object();
        const Node *const required = schema.find("required"), *const properties =
                                                                  schema.find("properties");
        for (std::size_t k = 0; required != nullptr && k < required->size(); ++k) {
            const Node* const property =
                properties != nullptr ? properties->find(required->item(k).string()) : nullptr;
            node.set(required->item(k).string(), property != nullptr ? least(*property) : Node(0));
        }
        return node;
    }

    const Surroundings& s_;
};

// `alone`: without a companion.
Document make(const Document& document, const std::filesystem::path& file, const Registry& registry,
              const model::ModuleType& type, const std::string& name, bool alone,
              const std::atomic<bool>* canceled) {
    DeviceOptions device_options;
    device_options.kind = DeviceKind::interpreter;  // nothing runs
    device_options.threads = 1;
    const auto device = std::make_shared<Device>(device_options);
    const Surroundings surroundings = look(document, file, registry, device);
    const Candidates candidates(surroundings);
    std::vector<const Field*> required;
    std::vector<std::vector<Node>> choices;
    for (const Field& f : type.fields) {
        if (!f.fallback_json.empty()) continue;
        required.push_back(&f);
        choices.push_back(candidates.of(f));
        if (choices.back().empty())
            throw Error("'" + type.type + "' needs " +
                        (f.kind == FieldKind::body ? "a body" : "'" + f.key + "'") +
                        ", which the scene does not have")
                .remedy(f.kind == FieldKind::body ? "add a body first" : f.documentation);
        if (choices.back().size() > most_candidates) choices.back().resize(most_candidates);
    }
    const std::string list = std::string("/") + model::name_of(type.section);
    Document base = document;
    if (base.find(list) == nullptr) base.set(list, Node::array());

    std::vector<std::size_t> chosen(required.size(), 0);
    Error last("it has no values");
    std::optional<Document> with_companion;
    const model::ModuleType* companion = nullptr;
    const auto object_of = [&] {
        Node object = Node::object({{"type", type.type}, {"name", name}});
        for (std::size_t k = 0; k < required.size(); ++k)
            object.set(required[k]->key, choices[k][chosen[k]]);
        return object;
    };
    const auto builds = [&](Node object) -> std::optional<Document> {
        if (canceled != nullptr && *canceled) throw Error("nothing is added any more");
        Document changed = base;
        changed.set(list + "/-", std::move(object));
        try {
            SimulationOptions options;
            options.device = device;
            const Simulation simulation(Scene::of(changed, file), registry, options);
            return changed;
        } catch (const Error& error) {
            last = error;
        }
        // Types that only come together: a message that tells to add another one is taken at its
        // word, once.
        if (!alone && !with_companion)
            for (const model::ModuleType& other : registry.all())
                if (other.type != type.type &&
                    last.what_to_do().find("\"" + other.type + "\"") != std::string::npos) {
                    with_companion = changed;
                    companion = &other;
                }
        return std::nullopt;
    };
    // The next combination; the first field changes fastest.
    const auto advance = [&] {
        std::size_t k = 0;
        while (k < chosen.size() && ++chosen[k] == choices[k].size()) chosen[k++] = 0;
        return k < chosen.size();
    };
    for (int tries = 0; tries < most_tries; ++tries) {
        if (auto changed = builds(object_of())) return std::move(*changed);
        if (!advance()) break;
    }
    // Some types want one of their optional fields, or two together.
    std::vector<std::pair<std::string, Node>> optional;
    for (const Field& f : type.fields) {
        if (f.fallback_json != "none") continue;
        std::vector<Node> values = candidates.of(f);
        if (!values.empty()) optional.emplace_back(f.key, std::move(values.front()));
    }
    chosen.assign(required.size(), 0);
    for (int tries = 0; tries < most_tries;) {
        for (std::size_t a = 0; a < optional.size(); ++a)
            for (std::size_t b = a; b < optional.size(); ++b, ++tries) {
                Node object = object_of();
                object.set(optional[a].first, optional[a].second);
                object.set(optional[b].first, optional[b].second);
                if (auto changed = builds(std::move(object))) return std::move(*changed);
            }
        if (optional.empty() || !advance()) break;
    }
    if (with_companion) {
        try {
            return make(*with_companion, file, registry, *companion, name + "_" + companion->type,
                        true, canceled);
        } catch (const Error& error) {
            last.note(error.what());
        }
    }
    throw Error("'" + type.type + "' cannot be added to this scene: " + last.happened())
        .remedy(last.what_to_do());
}

}  // namespace

Document with_default_object(const Document& document, const std::filesystem::path& file,
                             const Registry& registry, const model::ModuleType& type,
                             const std::string& name, const std::atomic<bool>* canceled) {
    return make(document, file, registry, type, name, false, canceled);
}

}  // namespace hindcast::session
