// The values of a scene by path: read, set, saved. Sets of paths, which are differentiated together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/backend/jit/interruption.hpp"
#include "engine/document/document.hpp"
#include "engine/document/text.hpp"
#include "engine/document/values.hpp"
#include "engine/sim/results/results.hpp"
#include "engine/sim/runs/scene_runs.hpp"
#include "engine/sim/scene/numbers_at.hpp"
#include "engine/sim/values/set_value.hpp"

namespace hindcast::runs {

using document::Node;
using model::Quantity;

namespace {

Path parsed(const std::string& text) {
    try {
        return Path::parse(text);
    } catch (const Error& error) {
        ArgumentFault fault("path: " + error.happened());
        fault.remedy(error.what_to_do());
        throw fault;
    }
}

Shape shape_of(const Quantity& q) {
    Shape shape;
    if (!q.shared) shape.push_back(q.count);
    if (q.components > 1) shape.push_back(q.components);
    return shape;
}

std::vector<double> rows_of(const Quantity& q) {
    if (!q.shared) return q.values;
    std::vector<double> rows;
    for (std::int64_t e = 0; e < q.count; ++e)
        rows.insert(rows.end(), q.values.begin(), q.values.end());
    return rows;
}

// On a thread that may be left behind, since a large body is built in one go. It owns what it needs but
// the registry, which stays.
std::unique_ptr<Simulation> built(const Scene& scene, const Registry& registry,
                                  const SimulationOptions& options) {
    const auto made = std::make_shared<std::unique_ptr<Simulation>>();
    backend::run_interruptibly([made, scene, &registry, options] {
        *made = std::make_unique<Simulation>(scene, registry, options);
    });
    return std::move(*made);
}

}  // namespace

void check_number(model::Model& model, const Quantity& q, std::size_t entry, double value,
                  ir::Precision precision) {
    try {
        require_value(q, value, ir::real_type(precision),
                      [&] { return entry_name(model, q, entry); });
    } catch (const Error& error) {
        ArgumentFault fault("value: " + error.happened());
        fault.remedy(error.what_to_do());
        throw fault;
    }
}

// ---------------------------------------------------------------- making

SceneValues::SceneValues(Scene scene, const Registry& registry, SimulationOptions options)
    : registry_(registry), scene_(scene), options_(std::move(options)) {
    build(std::move(scene));
}

void SceneValues::build(Scene scene) {
    auto made = std::make_shared<Made>();
    made->simulation = built(scene, registry_, options_);
    base_ = std::move(made);
    scene_ = std::move(scene);
    changed_.clear();
    forget_runs();
}

// The scene with the values as they stand written into it.
Scene SceneValues::written() const {
    Scene scene = scene_;
    base_->simulation->parameters().fetch_values();
    for (const std::string& path : changed_) {
        const Quantity& q = *model().find_quantity(path);
        scene.set(path,
                  document::to_line(document::written_form(q.values, q.components, q.shared)));
    }
    return scene;
}

std::map<std::string, std::vector<double>> SceneValues::values_set() const {
    base_->simulation->parameters().fetch_values();
    std::map<std::string, std::vector<double>> values;
    for (const std::string& path : changed_) values[path] = model().find_quantity(path)->values;
    return values;
}

// A copy of the scene with these parameters. Values that the scene's own parameters made one per
// element are written so, because those parameters go.
Scene SceneValues::with_parameters(Scene scene, const std::vector<std::string>& paths) const {
    for (const auto& [path, wanted] : Parameters::per_element(scene_.document().root())) {
        const Quantity* q = model().find_quantity(path);
        if (q != nullptr && !q->shared)
            scene.set(path,
                      document::to_line(document::written_form(q->values, q->components, false)));
    }
    Node list = Node::array();
    for (const std::string& path : paths) list.push_back(Node::object({{"path", path}}));
    scene.document().set("/parameters", std::move(list));
    return scene;
}

// ---------------------------------------------------------------- paths

std::optional<SceneValues::Leaf> SceneValues::find(model::Model& model,
                                                   const std::string& path) const {
    NumbersAt at;
    try {
        at = numbers_at(model, parsed(path));
    } catch (const ArgumentFault&) {
        throw;
    } catch (const Error& error) {
        ArgumentFault fault("path: " + error.happened());
        fault.remedy(error.what_to_do());
        throw fault;
    }
    Quantity* const q = at.quantity;
    if (q == nullptr) return {};
    const std::int64_t rows = at.elements ? at.elements->count : q->count;
    Leaf leaf{.path = path, .shape = {}, .quantity = q, .entries = at.entries()};
    if (at.elements ? rows > 1 : !q->shared) leaf.shape.push_back(rows);
    if (q->components > 1 && !at.component) leaf.shape.push_back(q->components);
    // Several elements of a value for all: its row for each.
    if (at.splits()) {
        const std::vector<std::size_t> row = leaf.entries;
        for (std::int64_t e = 1; e < rows; ++e)
            leaf.entries.insert(leaf.entries.end(), row.begin(), row.end());
    }
    return leaf;
}

ArgumentFault SceneValues::unknown(const std::string& path, const std::string& argument) const {
    std::vector<std::string_view> known;
    for (const auto& [name, q] : model().quantities()) known.push_back(name);
    ArgumentFault fault(fmt::format("{}: the scene has no number at '{}'", argument, path));
    std::string hint = document::suggestion(parsed(path).base(), known, "there are");
    if (hint.find('?') != std::string::npos)
        hint += "; there are " + document::listed(std::span<const std::string_view>(known));
    fault.remedy(hint);
    return fault;
}

std::optional<SceneValues::Value> SceneValues::value(const std::string& path) {
    const std::optional<Leaf> leaf = find(model(), path);
    if (!leaf) return {};
    base_->simulation->parameters().fetch_values();
    Value value{leaf->shape, {}};
    value.numbers.reserve(leaf->entries.size());
    for (const std::size_t e : leaf->entries) value.numbers.push_back(leaf->quantity->values[e]);
    return value;
}

std::string SceneValues::json(const std::string& path) const {
    parsed(path);
    if (const Node* const node = scene_.find(path)) return document::to_line(*node);
    throw unknown(path, "path");
}

void SceneValues::require_idle() const {
    if (optimizing_)
        throw Error("the simulation is being optimized: its callback may only read values")
            .remedy("change it, or run it, when optimize() has returned");
}

void SceneValues::set(const std::string& path, std::span<const double> numbers) {
    require_idle();
    const std::optional<Leaf> leaf = find(model(), path);
    if (!leaf) throw unknown(path, "path");
    Quantity& q = *leaf->quantity;
    if (numbers.size() != leaf->entries.size())
        throw ArgumentFault(fmt::format("value: '{}' is {} number{}, and {} are given", path,
                                        leaf->entries.size(), leaf->entries.size() == 1 ? "" : "s",
                                        numbers.size()));
    for (std::size_t k = 0; k < numbers.size(); ++k)
        check_number(model(), q, leaf->entries[k], numbers[k], options_.precision);
    if (q.shared && parsed(path).has_element() && q.count > 1) {
        make_per_element(q.path);
        return set(path, numbers);
    }
    base_->simulation->parameters().fetch_values();
    for (std::size_t k = 0; k < numbers.size(); ++k) q.values[leaf->entries[k]] = numbers[k];
    q.upload();
    changed_.insert(q.path);
}

void SceneValues::make_per_element(const std::string& path) {
    require_idle();
    Quantity* const q = model().find_quantity(parsed(path).base());
    if (q == nullptr) throw unknown(path, "path");
    if (!q->shared) return;
    Scene scene = written();
    scene.set(q->path,
              document::to_line(document::written_form(rows_of(*q), q->components, false)));
    build(std::move(scene));
}

void SceneValues::set_json(const std::string& path, const std::string& json) {
    require_idle();
    Scene scene = written();
    set_value(scene, registry_, options_, path, json);
    SimulationOptions options = options_;
    if (path == "time.steps") options.steps = -1;
    std::swap(options, options_);
    try {
        build(std::move(scene));
    } catch (...) {
        std::swap(options, options_);
        throw;
    }
}

std::vector<SceneValues::Described> SceneValues::paths() const {
    std::vector<Described> list;
    for (const auto& [path, q] : model().quantities())
        list.push_back({.path = path,
                        .unit = q->unit,
                        .shape = shape_of(*q),
                        .count = q->count,
                        .shared = q->shared,
                        .differentiable = q->may_optimize});
    return list;
}

std::vector<std::string> SceneValues::parameters() const {
    std::vector<std::string> list;
    for (const Parameter& p : base_->simulation->parameters().list())
        if (std::ranges::find(list, p.path) == list.end()) list.push_back(p.path);
    return list;
}

void SceneValues::save(const std::filesystem::path& file) {
    require_idle();
    const std::filesystem::path folder = file.parent_path().empty() ? "." : file.parent_path();
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) {
        ArgumentFault fault(fmt::format("file: there is no folder '{}'", folder.string()));
        fault.remedy("make it first");
        throw fault;
    }
    save_scene(*base_->simulation, {changed_.begin(), changed_.end()}, folder,
               file.filename().string());
}

// ---------------------------------------------------------------- sets of paths

// True if the scene's own parameters are these numbers and no others.
bool SceneRuns::is_base(const Set& set) const {
    std::set<std::pair<const Quantity*, std::size_t>> own, wanted;
    for (const Parameter& p : base_->simulation->parameters().list())
        for (const std::size_t e : p.entries) own.insert({p.quantity, e});
    for (const Leaf& leaf : set.leaves) {
        if (leaf.quantity->shared && parsed(leaf.path).has_element()) return false;
        for (const std::size_t e : leaf.entries) wanted.insert({leaf.quantity, e});
    }
    return own == wanted;
}

SceneRuns::Set& SceneRuns::set_of(const std::vector<std::string>& paths) {
    require_idle();
    if (paths.empty()) {
        ArgumentFault fault("paths: no path is given");
        fault.remedy("name what is to be differentiated; SceneRuns::paths() lists what there is");
        throw fault;
    }
    const auto resolve = [&](Simulation& simulation) {
        std::vector<Leaf> leaves;
        std::set<std::pair<const Quantity*, std::size_t>> taken;
        for (const std::string& path : paths) {
            std::optional<Leaf> leaf = find(simulation.model(), path);
            if (!leaf) throw unknown(path, "paths");
            if (!leaf->quantity->may_optimize) {
                ArgumentFault fault(fmt::format("paths: '{}' has no gradient{}", path,
                                                leaf->quantity->no_gradient));
                fault.remedy(leaf->quantity->remedy.empty()
                                 ? "SceneRuns::paths() says what is differentiable"
                                 : leaf->quantity->remedy);
                throw fault;
            }
            // Elements of a value for all are told apart once it is one per element.
            if (!leaf->quantity->shared || !parsed(path).has_element())
                for (const std::size_t e : leaf->entries)
                    if (!taken.insert({leaf->quantity, e}).second)
                        throw ArgumentFault(
                            fmt::format("paths: '{}' names what another path names too", path));
            leaves.push_back(std::move(*leaf));
        }
        return leaves;
    };
    auto found = std::ranges::find(sets_, paths, &Set::paths);
    if (found == sets_.end()) {
        Set set{.paths = paths, .made = base_, .leaves = resolve(*base_->simulation), .size = 0};
        if (!is_base(set)) {
            set.made = std::make_shared<Made>();
            set.made->simulation = built(with_parameters(scene_, paths), registry_, options_);
            set.leaves = resolve(*set.made->simulation);
        }
        for (const Leaf& leaf : set.leaves) set.size += leaf.entries.size();
        sets_.push_front(std::move(set));
        if (sets_.size() > most_sets) sets_.pop_back();
    } else {
        sets_.splice(sets_.begin(), sets_, found);
    }
    Set& set = sets_.front();
    if (set.made == base_) return set;
    Simulation &to = *set.made->simulation, &from = *base_->simulation;
    from.parameters().fetch_values();
    for (const auto& [path, q] : from.model().quantities()) {
        Quantity& mine = *to.model().find_quantity(path);
        if (mine.shared == q->shared ? mine.values == q->values : mine.values == rows_of(*q))
            continue;
        mine.values = mine.shared ? q->values : rows_of(*q);
        mine.upload();
    }
    return set;
}

void SceneRuns::assign(Set& set, std::span<const double> values) {
    if (values.size() != set.size)
        throw Error(fmt::format("{} values are given for {} numbers", values.size(), set.size));
    set.made->simulation->parameters().fetch_values();
    std::size_t k = 0;
    for (const Leaf& leaf : set.leaves) {
        for (const std::size_t e : leaf.entries) leaf.quantity->values[e] = values[k++];
        leaf.quantity->upload();
    }
}

}  // namespace hindcast::runs
