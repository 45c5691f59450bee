#include "engine/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/document/document.hpp"
#include "engine/document/read.hpp"
#include "engine/model/implicit/minimized.hpp"
#include "engine/model/value_request.hpp"

namespace hindcast::model {

using document::Node;

std::vector<double> Quantity::loaded() const {
    if (!as_loaded) return values;
    std::vector<double> found = as_loaded();
    if (found.size() == values.size() || found.empty() || values.size() % found.size() != 0)
        return found;
    // One value for all elements, which now have one each.
    const std::vector<double> row = found;
    while (found.size() < values.size()) found.insert(found.end(), row.begin(), row.end());
    return found;
}

// ---------------------------------------------------------------- Model

const char* name_of(Integrator integrator) {
    switch (integrator) {
        case Integrator::semi_implicit_euler: return "semi_implicit_euler";
        case Integrator::implicit_euler: return "implicit_euler";
        case Integrator::bdf2: return "bdf2";
        case Integrator::quasi_static: return "quasi_static";
    }
    return "?";
}

Model::Model(ModelOptions options)
    : options_(std::move(options)), minimized_(std::make_shared<Minimized>()) {}

void Model::add_energy(EnergyTerm term) {
    if (!is_implicit())
        throw Error("internal: '" + term.name + "' is an energy in a scene of forces");
    minimized_->add(std::move(term));
}

const std::shared_ptr<Minimization>& Model::minimization() const {
    return minimized_->minimization();
}

Range Model::add_points(const std::string& body, std::int64_t count) {
    const Range range{points_, count};
    bodies_.emplace_back(body, range);
    points_ += count;
    return range;
}

void Model::set_initial_points(std::int64_t first, std::span<const double> positions) {
    const std::size_t begin = static_cast<std::size_t>(first * dimension());
    if (initial_points_.size() < begin + positions.size())
        initial_points_.resize(begin + positions.size());
    std::copy(positions.begin(), positions.end(),
              initial_points_.begin() + static_cast<std::ptrdiff_t>(begin));
}

Range Model::points(const std::string& body, const Node& asked_at) const {
    std::vector<std::string_view> names;
    for (const auto& [name, range] : bodies_) {
        if (name == body) return range;
        names.push_back(name);
    }
    if (names.empty())
        throw document::fault(asked_at, "there is no body '" + body + "': the scene has no bodies")
            .remedy("add one to \"bodies\"");
    document::choice_of(asked_at, names, "body");  // throws, with "did you mean"
    throw document::fault(asked_at, "there is no body '" + body + "'");
}

std::vector<double> GridField::positions() const {
    std::vector<double> xy;
    xy.reserve(static_cast<std::size_t>(2 * rows * columns));
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
            xy.insert(xy.end(),
                      {static_cast<double>(i) * spacing, static_cast<double>(j) * spacing});
    return xy;
}

void Model::add_grid_field(const std::string& body, GridField field) {
    grid_fields_.emplace(body, std::move(field));
}

const GridField& Model::grid_field(const std::string& body, const Node& asked_at) const {
    if (const auto found = grid_fields_.find(body); found != grid_fields_.end())
        return found->second;
    std::vector<std::string_view> names;
    for (const auto& [name, field] : grid_fields_) names.push_back(name);
    if (!names.empty()) document::choice_of(asked_at, names, "body with a field");  // throws
    throw document::fault(asked_at, "'" + body + "' has no field on a grid")
        .remedy("name a body that has one, such as waves");
}

Array Model::add_array(const std::string& name, std::int64_t elements, int components,
                       ArrayDescription description, Layout layout) {
    if (arrays_.contains(name)) throw Error("internal: two arrays are called '" + name + "'");
    Array array(real(), {elements, components}, layout);
    arrays_[name] = {std::move(description), array};
    return array;
}

Array Model::index_array(const std::vector<std::int64_t>& indices, int components) const {
    Array array(ir::Type::i32, {static_cast<std::int64_t>(indices.size()) / components, components},
                Layout::contiguous);
    array.assign_integers(indices);
    return array;
}

Array Model::array(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end())
        throw Error("the scene has no array '" + name + "'")
            .remedy("add a body that makes it, such as particles");
    return found->second.array;
}

// A number that is infinite in f32, or zero where its range has none, would spread as NaN.
static bool fits_f32(double value, const document::Range& range) {
    const auto rounded = static_cast<float>(value);
    return std::isfinite(rounded) == std::isfinite(value) &&
           (rounded != 0 || value == 0 || range.contains(0));
}

bool Quantity::fits(ir::Type real, std::span<const double> numbers) const {
    return real != ir::Type::f32 ||
           std::ranges::all_of(numbers, [this](double value) { return fits_f32(value, range); });
}

static void require_f32(const Quantity& quantity) {
    for (const double value : quantity.values) {
        if (!fits_f32(value, quantity.range))
            throw Error(fmt::format("{}: {} does not fit f32", quantity.path, value))
                .at_pointer(quantity.scene_pointer)
                .remedy("write a number between 1e-38 and 1e38, or run with --precision f64");
    }
}

Quantity& Model::add_quantity(Quantity quantity) {
    if (const auto wanted = options_.per_element.find(quantity.path);
        wanted != options_.per_element.end() && quantity.shared && wanted->second) {
        const std::vector<double> row = quantity.values;
        quantity.values.clear();
        for (std::int64_t e = 0; e < quantity.count; ++e)
            quantity.values.insert(quantity.values.end(), row.begin(), row.end());
        quantity.shared = false;
    }
    if (quantity.shared)
        quantity.array = Array(ir::Type::f64, {1, quantity.components});
    else
        quantity.array = Array(real(), {quantity.count, quantity.components}, Layout::contiguous);
    if (real() == ir::Type::f32) require_f32(quantity);
    quantity.upload();
    std::unique_ptr<Quantity>& entry = quantities_[quantity.path];
    if (entry) throw Error("internal: two quantities have the path '" + quantity.path + "'");
    entry = std::make_unique<Quantity>(std::move(quantity));
    return *entry;
}

Quantity* Model::find_quantity(const std::string& path) {
    const auto found = quantities_.find(path);
    return found == quantities_.end() ? nullptr : found->second.get();
}

bool Model::only_uploaded(const Quantity& quantity) const {
    return !quantity.used_at_load && std::ranges::none_of(made_from_, [&](const MadeFrom& made) {
        return made.quantity == quantity.path;
    });
}

Launch Model::launch(const lang::KernelDef& kernel, std::int64_t items,
                     const std::vector<NamedArgument>& arguments, std::string description) {
    lang::KernelDef of = kernel;
    for (const auto& [parameter, argument] : arguments) {
        if (!argument.is_array()) continue;
        const auto adds = [&, name = std::string_view(parameter)](const ir::Parameter& p) {
            return p.name == name && p.access == ir::Access::accumulate;
        };
        if (std::ranges::none_of(kernel.parameters(), adds)) continue;
        for (auto& [name, published] : arrays_) {
            if (!published.defined_anew || !published.array.same_memory(argument.array())) continue;
            if (!published.is_defined) of = of.with_sum(parameter);
            published.is_defined = true;
        }
    }
    return Launch(options_.device, of, options_.precision, items, arguments,
                  std::move(description));
}

Program Model::step_program() const {
    Program all;
    for (const Program& phase : phases_) all.append(phase);
    return all;
}

void Model::add_term(Term term, const Program& program) {
    const std::size_t times = term.times.size();
    add_term(std::move(term), std::vector<Program>(times, program));
}

void Model::add_term(Term term, const std::vector<Program>& programs) {
    if (programs.size() != term.times.size())
        throw Error("internal: a term needs one program per time");
    for (std::size_t k = 0; k < programs.size(); ++k) events_[term.times[k]].append(programs[k]);
    terms_.push_back(std::move(term));
}

// ---------------------------------------------------------------- Settings

namespace {
document::Range range_of(const Field& f) {
    return {.low = f.low,
            .high = f.high,
            .low_open = f.low_open,
            .high_open = f.high_open,
            .unit = f.unit_text};
}
}  // namespace

Settings::Settings(const ModuleType& type, const Node& object, std::string name, const Node* loaded)
    : type_(&type),
      node_(object),
      loaded_(loaded != nullptr ? *loaded : object),
      name_(std::move(name)) {
    document::Reader reader(node_, "'" + name_ + "' (" + type.type + ")");
    reader.allow({"type", "name"});
    if (type.section == Section::objective) reader.allow({"weight", "at"});
    for (const Field& f : type.fields) {
        const bool required = f.fallback_json.empty();
        const Node* found = required ? &reader.require(f.key) : reader.find(f.key);
        if (found == nullptr && f.fallback_json != "none" && f.fallback_json != "zero") {
            defaults_[f.key] =
                document::Document::parse(f.fallback_json, "default of " + f.key).root();
            found = &defaults_[f.key];
        }
        if (found == nullptr) continue;
        switch (f.kind) {
            case FieldKind::number: document::number_of(*found, range_of(f)); break;
            case FieldKind::integer: document::integer_of(*found); break;
            case FieldKind::boolean: document::boolean_of(*found); break;
            case FieldKind::text:
            case FieldKind::body: document::string_of(*found); break;
            case FieldKind::choice: {
                const std::vector<std::string_view> names(f.choices.begin(), f.choices.end());
                document::choice_of(*found, names, f.key);
                break;
            }
            case FieldKind::list: document::array_of(*found); break;
            default: break;
        }
    }
    reader.finish();
}

const Field& Settings::field(const std::string& key) const {
    for (const Field& f : type_->fields)
        if (f.key == key) return f;
    throw Error("internal: the module type '" + type_->type + "' has no field '" + key + "'");
}

const Node* Settings::find(const std::string& key) const {
    if (const Node* written = node_.find(key)) return written;
    const auto found = defaults_.find(key);
    return found == defaults_.end() ? nullptr : &found->second;
}

const Node* Settings::find_loaded(const std::string& key) const {
    if (const Node* written = loaded_.find(key)) return written;
    const auto found = defaults_.find(key);
    return found == defaults_.end() ? find(key) : &found->second;
}

Error Settings::error(const std::string& key, const std::string& what) const {
    const Node* node = find(key);
    return document::fault(node != nullptr ? *node : node_, what);
}

double Settings::number(const std::string& key) const {
    return document::number_of(*find(key), range_of(field(key)));
}

std::int64_t Settings::integer(const std::string& key) const {
    const Field& f = field(key);
    return document::integer_of(
        *find(key),
        std::isfinite(f.low) ? static_cast<std::int64_t>(f.low) : document::lowest_integer,
        std::isfinite(f.high) ? static_cast<std::int64_t>(f.high) : document::highest_integer);
}

bool Settings::boolean(const std::string& key) const { return document::boolean_of(*find(key)); }
std::string Settings::text(const std::string& key) const { return document::string_of(*find(key)); }
std::string Settings::choice(const std::string& key) const {
    return document::string_of(*find(key));
}

Quantity& Settings::quantity(Model& model, const std::string& key, std::int64_t count,
                             std::span<const double> positions,
                             std::span<const std::int64_t> grid) const {
    const Field& f = field(key);
    const Node* written_node = find(key);
    std::vector<Node> zeros(static_cast<std::size_t>(model.dimension()), Node(0));
    const Node zero = Node::array(std::move(zeros));
    const Node& node = written_node != nullptr ? *written_node : zero;
    const bool one = f.kind == FieldKind::number || f.kind == FieldKind::vector;
    document::ValueRequest request = value_request(model);
    request.count = one ? 1 : count;
    request.components =
        f.kind == FieldKind::vector || f.kind == FieldKind::vectors ? model.dimension() : 1;
    request.range = range_of(f);
    request.positions = positions;
    request.grid = grid;
    const bool are_times = static_cast<std::int64_t>(positions.size()) == count;
    request.dimension = are_times ? 1 : model.dimension();
    document::Values values = document::evaluate(node, request);
    const bool shared = one || values.shared;
    Quantity quantity =
        make(model, f, one ? 1 : count, request.components, shared, std::move(values.data));
    if (const Node* loaded = find_loaded(key);
        loaded != nullptr && document::to_line(*loaded) != document::to_line(node)) {
        const std::vector<double> xyz(positions.begin(), positions.end());
        const std::vector<std::int64_t> shape(grid.begin(), grid.end());
        quantity.as_loaded = [request, xyz, shape, shared, loaded = *loaded]() {
            document::ValueRequest again = request;
            again.positions = xyz;
            again.grid = shape;
            const document::Values found = document::evaluate(loaded, again);
            return shared && found.shared ? found.data : found.rows();
        };
    }
    return model.add_quantity(std::move(quantity));
}

Quantity& Settings::quantity_of(Model& model, const std::string& key, std::int64_t count,
                                std::vector<double> values) const {
    const int components = static_cast<int>(static_cast<std::int64_t>(values.size()) /
                                            std::max<std::int64_t>(count, 1));
    Quantity quantity = make(model, field(key), count, components, false, std::move(values));
    quantity.used_at_load = true;  // the module made the values from more than the scene's number
    return model.add_quantity(std::move(quantity));
}

Quantity Settings::make(const Model&, const Field& f, std::int64_t count, int components,
                        bool shared, std::vector<double> values) const {
    Quantity q;
    q.path = name_ + "." + f.key;
    q.unit = f.unit_text;
    q.count = count;
    q.components = components;
    q.shared = shared;
    q.may_optimize = f.may_optimize;
    q.range = range_of(f);
    q.values = std::move(values);
    q.scene_pointer = node_.pointer() + "/" + f.key;
    return q;
}

Term Settings::term(const Model& model) const {
    Term term;
    term.name = name_;
    if (const Node* weight = node_.find("weight"))
        term.weight = document::number_of(*weight, document::Range::at_least(0));
    term.times = times(model);
    if (term.times.empty())  // "all" of no steps: its mean does not exist
        throw error("at", "this objective term has no time")
            .remedy("name a time, or let the scene make a step");
    term.value = Array(ir::Type::f64, {1});
    return term;
}

Range Settings::points(const Model& model, const std::string& key) const {
    return model.points(text(key), *find(key));
}

std::vector<std::int64_t> Settings::times(const Model& model) const {
    const std::int64_t substeps = model.options().substeps, last = model.options().steps / substeps;
    const double step = model.step() * static_cast<double>(substeps);
    const Node* at = node_.find("at");
    std::vector<std::int64_t> times;
    const auto add = [&](const Node& node) {
        const double t = document::number_of(node, document::Range::at_least(0, "s")) / step;
        if (std::fabs(t - std::round(t)) > 1e-6 * std::max(1.0, t) ||
            std::round(t) > static_cast<double>(last))
            throw document::fault(node, "the time is not that of a step of this scene")
                .remedy("times are whole multiples of the step, " + std::to_string(step) +
                        " s, up to the end");
        times.push_back(static_cast<std::int64_t>(std::round(t)) * substeps);
    };
    if (at == nullptr || (at->is_string() && at->string() == "end")) return {last * substeps};
    if (at->is_string() && at->string() == "all") {
        for (std::int64_t t = 1; t <= last; ++t) times.push_back(t * substeps);
    } else if (at->is_array()) {
        for (std::size_t k = 0; k < at->size(); ++k) add(at->item(k));
    } else if (document::is_number(*at)) {
        add(*at);
    } else {
        throw document::mismatch(*at, "\"end\", \"all\", a time in seconds, or a list of times");
    }
    return times;
}

}  // namespace hindcast::model
