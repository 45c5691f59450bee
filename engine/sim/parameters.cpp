#include "engine/sim/parameters.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/document/read.hpp"
#include "engine/model/kinks.hpp"
#include "engine/sim/scene/numbers_at.hpp"

namespace hindcast {

using document::Node;

std::map<std::string, bool> Parameters::per_element(const Node& root) {
    std::map<std::string, bool> wanted;
    const Node* list = root.find("parameters");
    if (list == nullptr) return wanted;
    document::array_of(*list);
    for (std::size_t k = 0; k < list->size(); ++k) {
        const Node& entry = document::object_of(list->item(k));
        const Node *per = entry.find("per"), *text = entry.find("path");
        if (text == nullptr) continue;
        const Path path = Path::parse(document::string_of(*text));
        // A path that names one element of a value for all makes it one per element.
        if (path.has_element() || (per != nullptr && document::string_of(*per) == "element"))
            wanted[path.base()] = true;
    }
    return wanted;
}

namespace {

// The result of `find`, or its error at the node.
template <class F>
auto found_at(const Node& node, F find) {
    try {
        return find();
    } catch (const Error& error) {
        throw document::fault(node, error.happened()).remedy(error.what_to_do());
    }
}

// The elements of {"indices": [0, 2]} or {"names": ["hip", "knee"]}.
std::vector<std::int64_t> selected(document::Reader& reader, model::Model& model,
                                   const model::Quantity& q) {
    document::Reader select = reader.object("select", "a selection");
    std::vector<std::int64_t> elements;
    if (select.has("names")) {
        const Node& list = select.array("names", 1);
        for (std::size_t i = 0; i < list.size(); ++i) {
            Path path = Path::parse(q.path);
            path.name = document::string_of(list.item(i));
            const auto range =
                found_at(list.item(i), [&] { return elements_at(model, path, q.count); });
            for (std::int64_t e = 0; e < range->count; ++e) elements.push_back(range->first + e);
        }
    } else {
        const Node& indices = select.array("indices", 1);
        for (std::size_t i = 0; i < indices.size(); ++i)
            elements.push_back(document::integer_of(indices.item(i), 0, q.rows() - 1));
    }
    select.finish();
    return elements;
}

}  // namespace

Parameters::Parameters(const Node& root, model::Model& model) {
    const Node* list = root.find("parameters");
    if (list == nullptr) return;
    std::set<std::pair<const model::Quantity*, std::size_t>> taken;
    for (std::size_t k = 0; k < list->size(); ++k) {
        const Node& node = list->item(k);
        document::Reader reader(node, "a parameter");
        Parameter p;
        p.path = reader.string("path");
        const Node& path_node = *node.find("path");
        const Path path = Path::parse(p.path);
        const NumbersAt numbers = found_at(path_node, [&] { return numbers_at(model, path); });
        p.quantity = numbers.quantity;
        if (p.quantity == nullptr) {
            std::vector<std::string_view> known;
            for (const auto& [name, q] : model.quantities())
                if (q->may_optimize) known.push_back(name);
            const Node base(path.base());
            if (known.empty())
                throw document::fault(path_node, "nothing in this scene can be optimized");
            if (path.base() == p.path) document::choice_of(path_node, known, "path");
            throw document::fault(path_node, "the scene has no number at '" + p.path + "'")
                .remedy("say what stands in the scene, such as " + std::string(known.front()));
        }
        model::Quantity& q = *p.quantity;
        if (!q.may_optimize)
            throw document::fault(path_node, "'" + p.path + "' has no gradient" + q.no_gradient)
                .remedy(q.remedy.empty() ? "choose a parameter that is marked as differentiable in "
                                           "the reference"
                                         : q.remedy);
        const std::size_t per =
            reader.choice_or("per", {"shared", "body", "element"}, q.shared ? 0 : 2);
        if (per != 2 && !q.shared)
            throw document::fault(*node.find("per"), "'" + p.path + "' is written one per element")
                .remedy("write one value, or leave out \"per\"");
        p.log_scale = reader.choice_or("scale", {"linear", "log"}, 0) == 1;
        p.group = reader.string_or("group", p.path);
        p.rate = reader.number_or("rate", 1, document::Range::positive());
        if (reader.has("bounds")) {
            const std::vector<double> bounds = document::numbers_of(*node.find("bounds"), 2);
            p.low = bounds[0];
            p.high = bounds[1];
            if (!(p.low <= p.high))
                throw document::fault(*node.find("bounds"),
                                      "the lower bound is above the upper one");
        }
        // The physics' own range holds as well; an open end is kept off by the smallest step.
        p.low =
            std::max(p.low, q.range.low_open ? std::numeric_limits<double>::min() : q.range.low);
        p.high = std::min(p.high, q.range.high);
        std::vector<std::int64_t> elements;
        if (numbers.elements) {
            for (std::int64_t e = 0; e < numbers.elements->count; ++e)
                elements.push_back(numbers.elements->first + e);
        } else if (reader.has("select")) {
            elements = selected(reader, model, q);
        } else {
            for (std::int64_t e = 0; e < q.rows(); ++e) elements.push_back(e);
        }
        std::vector<int> components;
        if (numbers.component) {
            components.push_back(*numbers.component);
        } else if (reader.has("components")) {
            const Node& names = reader.array("components", 1);
            std::vector<std::string> known;
            for (int c = 0; c < q.components; ++c) known.push_back(component_name(c, q.components));
            const std::vector<std::string_view> choices(known.begin(), known.end());
            for (std::size_t i = 0; i < names.size(); ++i)
                components.push_back(
                    static_cast<int>(document::choice_of(names.item(i), choices, "component")));
        } else {
            for (int c = 0; c < q.components; ++c) components.push_back(c);
        }
        reader.finish();
        for (const std::int64_t e : elements) {
            for (const int c : components) {
                const std::size_t entry = static_cast<std::size_t>(e * q.components + c);
                if (!taken.insert({&q, entry}).second)
                    throw document::fault(path_node, "'" + p.path + "' is named by two parameters");
                p.entries.push_back(entry);
                const std::string name = entry_name(model, q, entry);
                p.names.push_back(name);
                const double value = q.values[entry];
                if (p.log_scale && value <= 0)
                    throw document::fault(node, name + " is not positive, so it has no log scale");
                if (value < p.low || value > p.high)
                    throw document::fault(
                        node, name + " = " + std::to_string(value) + " is outside its bounds")
                        .remedy("move the value or the bounds");
            }
        }
        names_.insert(names_.end(), p.names.begin(), p.names.end());
        size_ += p.entries.size();
        list_.push_back(std::move(p));
    }
}

template <class F>
void Parameters::each(F f) const {
    std::size_t k = 0;
    for (const Parameter& p : list_)
        for (const std::size_t entry : p.entries) f(p, entry, k++);
}

void Parameters::fetch_values() const {
    if (!newest_) return;
    const std::vector<double> values = newest_.to_doubles();
    each([&](const Parameter& p, std::size_t entry, std::size_t k) {
        p.quantity->values[entry] = values[k];
    });
    newest_ = Array();
}

std::vector<double> Parameters::values() const {
    fetch_values();
    std::vector<double> values(size_);
    each([&](const Parameter& p, std::size_t entry, std::size_t k) {
        values[k] = p.quantity->values[entry];
    });
    return values;
}

void Parameters::set_values(std::span<const double> values) {
    if (values.size() != size_)
        throw Error(std::to_string(values.size()) + " values are given for " +
                    std::to_string(size_) + " parameters");
    newest_ = Array();
    each([&](const Parameter& p, std::size_t entry, std::size_t k) {
        p.quantity->values[entry] = values[k];
    });
    for (const Parameter& p : list_) p.quantity->upload();
}

std::vector<double> Parameters::gather(Array (*pick)(const model::Quantity&)) const {
    if (list_.size() == 1) return pick(*list_[0].quantity).values_at(list_[0].entries);
    std::vector<double> result;
    result.reserve(size_);
    for (const Parameter& p : list_) {
        const std::vector<double> values = pick(*p.quantity).values_at(p.entries);
        result.insert(result.end(), values.begin(), values.end());
    }
    return result;
}

std::vector<double> Parameters::gradient() const {
    return gather([](const model::Quantity& q) { return q.array.gradient(); });
}

std::vector<double> Parameters::gradient_tangents() const {
    return gather([](const model::Quantity& q) { return q.array.gradient().tangent(); });
}

void Parameters::set_tangents(std::span<const double> direction) const {
    set(direction, &Array::tangent);
}
void Parameters::set_second_tangents(std::span<const double> direction) const {
    set(direction, &Array::second_tangent);
}

void Parameters::set(std::span<const double> direction, Array (Array::*of)() const) const {
    if (direction.size() != size_)
        throw Error("a direction has " + std::to_string(direction.size()) + " entries for " +
                    std::to_string(size_) + " parameters");
    for (const Parameter& p : list_) (p.quantity->array.*of)().clear();
    each([&](const Parameter& p, std::size_t entry, std::size_t k) {
        const std::size_t components = static_cast<std::size_t>(p.quantity->components);
        (p.quantity->array.*of)().set_value(static_cast<std::int64_t>(entry / components),
                                            static_cast<int>(entry % components), direction[k]);
    });
}

std::vector<std::string> Parameters::kinks(model::Model& model) const {
    fetch_values();
    std::map<std::pair<std::string, std::size_t>, std::string> told;
    for (const auto& of_module : model.shared<model::Kinks>().of_modules)
        for (model::Kink& kink : of_module())
            told.emplace(std::pair(kink.quantity, kink.entry), std::move(kink.why));
    std::vector<std::string> all;
    for (const Parameter& p : list_)
        for (const std::size_t entry : p.entries) {
            const auto found = told.find({p.quantity->path, entry});
            all.push_back(found == told.end() ? "" : found->second);
        }
    return all;
}

}  // namespace hindcast
