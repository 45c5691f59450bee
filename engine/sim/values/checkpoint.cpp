#include "engine/sim/values/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "engine/base/hash.hpp"
#include "engine/document/read.hpp"
#include "engine/document/values.hpp"
#include "engine/sim/scene/numbers_at.hpp"
#include "engine/sim/values/set_value.hpp"

namespace hindcast {

using document::Node;

namespace {

constexpr std::size_t most_inline = 1000;  // numbers of a quantity

std::string count_text(std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// The parameter that owns each number of a quantity.
using Owners = std::map<std::pair<const model::Quantity*, std::size_t>, const Parameter*>;

Owners owners_of(const Parameters& parameters) {
    Owners owners;
    for (const Parameter& p : parameters.list())
        for (const std::size_t entry : p.entries) owners[{p.quantity, entry}] = &p;
    return owners;
}

// The numbers that stand at the node for the numbers of a quantity: one row if they are shared.
std::vector<double> numbers_at_node(const Node& node, const std::string& key, const NumbersAt& at,
                                    std::size_t wanted, Naming naming,
                                    const document::FileAccess& files) {
    const model::Quantity& q = *at.quantity;
    if (naming == Naming::any_number && document::is_number(node))
        return std::vector<double>(wanted, document::number_of(node, q.range));
    const bool whole = !at.elements && !at.component;
    if (!whole && wanted == 1) return {document::number_of(node, q.range)};
    document::ValueRequest request;
    request.count = whole ? q.count : static_cast<std::int64_t>(wanted);
    request.components = whole ? q.components : 1;
    request.range = q.range;
    request.files = files;
    const std::string remedy = "keep it anew, or leave '" + key + "' out of the checkpoint";
    const bool array = whole && !q.shared;
    // Counts come first: what evaluate() says of them is about scenes.
    if (node.is_array() && array && node.size() != static_cast<std::size_t>(q.count) &&
        !(q.components > 1 && node.size() > 0 && document::is_number(node.item(0))))
        throw document::fault(
            node, fmt::format("the checkpoint has '{}' for {}, and the scene has {}", key,
                              count_text(node.size(), "element"), q.count))
            .remedy(remedy);
    document::Values found = document::evaluate(node, request);
    if (found.form != document::ValueForm::Written && found.form != document::ValueForm::File)
        throw document::fault(node, "the values of a checkpoint are numbers").remedy(remedy);
    if (found.shared == (whole ? q.shared : false)) return std::move(found.data);
    throw document::fault(
        node, fmt::format("the checkpoint has one value of '{}' {}, and the scene {}", key,
                          found.shared ? "for all" : "per element",
                          found.shared ? "one per element" : "one for all"))
        .remedy(remedy);
}

}  // namespace

std::vector<NewNumbers> new_numbers(const Node& values, Simulation& simulation, Naming naming) {
    model::Model& model = simulation.model();
    const Owners owners = owners_of(simulation.parameters());
    const document::FileAccess files{simulation.scene().file().parent_path(),
                                     simulation.options().allowed_paths};
    std::vector<NewNumbers> all;
    std::set<std::pair<const model::Quantity*, std::size_t>> taken;
    document::object_of(values);
    for (std::size_t k = 0; k < values.size(); ++k) {
        const std::string& key = values.key(k);
        const Node& node = values.item(k);
        const Path path = document::at_node(node, [&] { return Path::parse(key); });
        const NumbersAt at = document::at_node(node, [&] { return numbers_at(model, path); });
        const auto gone = [&](const std::string& which) {
            return document::fault(node, fmt::format("'{}' is no parameter of this scene", which))
                .remedy("make it one, or leave '" + key + "' out of the checkpoint");
        };
        if (at.quantity == nullptr) {
            if (naming == Naming::parameters) throw gone(key);
            throw document::fault(node, fmt::format("the scene has no number at '{}'", key))
                .remedy("open the scene that the values are of");
        }
        if (at.splits())
            throw document::fault(node, fmt::format("'{}' has one value for all elements in this "
                                                    "scene, and '{}' names one of them",
                                                    path.base(), key))
                .remedy("make the parameter one per element (\"per\": \"element\")");
        NewNumbers numbers{at.quantity, at.entries(), {}};
        for (const std::size_t entry : numbers.entries) {
            const auto owner = owners.find({at.quantity, entry});
            if (owner == owners.end() && naming == Naming::parameters)
                throw gone(entry_name(model, *at.quantity, entry));
            if (!taken.insert({at.quantity, entry}).second)
                throw document::fault(node, fmt::format("'{}' is given twice",
                                                        entry_name(model, *at.quantity, entry)))
                    .remedy("leave out one of them");
        }
        numbers.values = numbers_at_node(node, key, at, numbers.entries.size(), naming, files);
        for (std::size_t e = 0; e < numbers.entries.size(); ++e) {
            const auto owner = owners.find({at.quantity, numbers.entries[e]});
            if (owner == owners.end()) continue;
            const Parameter& p = *owner->second;
            const double value = numbers.values[e];
            if (value >= p.low && value <= p.high && !(p.log_scale && value <= 0)) continue;
            throw document::fault(
                node, fmt::format("{} = {} is outside the bounds of the parameter",
                                  entry_name(model, *at.quantity, numbers.entries[e]), value))
                .remedy("widen the bounds, or choose another checkpoint");
        }
        all.push_back(std::move(numbers));
    }
    return all;
}

Node checkpoint_values(Simulation& simulation, std::span<const double> parameters,
                       const std::filesystem::path& folder, const std::string& stem) {
    if (parameters.size() != simulation.parameters().size())
        throw Error(fmt::format("{} values are given for {} parameters", parameters.size(),
                                simulation.parameters().size()));
    // By quantity, in the order in which parameters name them.
    std::vector<NewNumbers> list;
    std::size_t first = 0;
    for (const Parameter& p : simulation.parameters().list()) {
        auto found = std::ranges::find(list, p.quantity, &NewNumbers::quantity);
        if (found == list.end()) found = list.insert(list.end(), {p.quantity, {}, {}});
        for (std::size_t k = 0; k < p.entries.size(); ++k) {
            found->entries.push_back(p.entries[k]);
            found->values.push_back(parameters[first + k]);
        }
        first += p.entries.size();
    }
    Node values = Node::object();
    for (const NewNumbers& numbers : list) {
        const model::Quantity& q = *numbers.quantity;
        for (const double value : numbers.values)
            if (!std::isfinite(value))
                throw Error(
                    fmt::format("a value of '{}' is not finite, so it cannot be kept", q.path))
                    .remedy("choose an iteration before that");
        if (numbers.entries.size() < q.values.size()) {
            for (std::size_t e = 0; e < numbers.entries.size(); ++e)
                values.set(entry_name(simulation.model(), q, numbers.entries[e]),
                           Node(numbers.values[e]));
            continue;
        }
        std::vector<double> all(q.values.size());
        for (std::size_t e = 0; e < numbers.entries.size(); ++e)
            all[numbers.entries[e]] = numbers.values[e];
        if (all.size() <= most_inline || folder.empty()) {
            values.set(q.path, document::written_form(all, q.components, q.shared));
            continue;
        }
        Hasher hasher;
        hasher.bytes(all.data(), all.size() * sizeof(double));
        std::string name =
            fmt::format("{}_{}_{}", stem, q.path, to_string(hasher.digest()).substr(0, 8));
        std::ranges::replace(name, '.', '_');
        values.set(q.path,
                   document::saved_form(all, q.components, q.shared, folder, name + ".npy"));
    }
    return values;
}

void use_checkpoint(Scene& scene, const Registry& registry, const SimulationOptions& options,
                    const std::string& name) {
    use_values(scene, registry, options, *checkpoint_named(scene.document(), name).find("values"));
}

void use_values(Scene& scene, const Registry& registry, const SimulationOptions& options,
                const Node& wanted, Naming naming) {
    Simulation simulation(scene, registry, evaluating(options));
    std::map<const model::Quantity*, std::vector<double>> changed;
    for (const NewNumbers& numbers : new_numbers(wanted, simulation, naming)) {
        auto& values =
            changed.try_emplace(numbers.quantity, numbers.quantity->values).first->second;
        for (std::size_t e = 0; e < numbers.entries.size(); ++e)
            values[numbers.entries[e]] = numbers.values[e];
    }
    Scene next = scene;
    for (const auto& [quantity, values] : changed)
        if (values != quantity->values)
            next.set(quantity->path, document::to_line(document::written_form(
                                         values, quantity->components, quantity->shared)));
    scene = std::move(next);
}

}  // namespace hindcast
