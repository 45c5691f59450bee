#include "engine/sim/simulation.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "engine/base/hash.hpp"
#include "engine/base/pages.hpp"
#include "engine/document/read.hpp"
#include "engine/model/model.hpp"
#include "engine/model/step_faults.hpp"
#include "engine/sim/results_folder.hpp"
#include "engine/sim/run_monitor.hpp"
#include "engine/sim/variation.hpp"

namespace hindcast {

using model::ModuleType;
using model::Quantity;

namespace {
std::string implicit_types(const Registry& registry, model::Section section) {
    std::string list;
    for (const ModuleType& type : registry.all())
        if (type.section == section && type.may_be_implicit())
            list += (list.empty() ? "" : ", ") + type.type;
    return list.empty() ? "none" : list;
}
}  // namespace

Simulation::Simulation(const Scene& scene, const Registry& registry,
                       const SimulationOptions& options)
    : scene_(scene), registry_(registry), options_(options) {
    model::ModelOptions mo;
    mo.device = options.device;
    mo.precision = options.precision;
    mo.dimension = scene_.dimension();
    mo.substeps = scene_.substeps();
    mo.step = scene_.step() / static_cast<double>(scene_.substeps());
    mo.steps = (options.steps >= 0 ? options.steps : scene_.steps()) * scene_.substeps();
    mo.scene_steps = scene_.steps();
    mo.integrator = scene_.integrator();
    mo.minimization = scene_.minimization();
    mo.seed = options.seed;
    mo.files.folder = scene_.file().parent_path();
    mo.files.allowed = options.allowed_paths;
    mo.functions = own_elementary_functions();
    mo.per_element = Parameters::per_element(scene_.document().root());
    model_ = std::make_unique<model::Model>(std::move(mo));
    const document::Node& root = scene_.document().root();
    model_->warnings().set({.accepted = Warnings::read_accepted(root.find("accepted_warnings")),
                            .strict = options.strict,
                            .heard = options.on_warning});

    Quantity gravity;
    gravity.path = "gravity";
    gravity.unit = "m/s^2";
    gravity.count = 1;
    gravity.components = scene_.dimension();
    gravity.shared = gravity.may_optimize = true;
    gravity.scene_pointer = "/gravity";
    gravity.values.assign(static_cast<std::size_t>(scene_.dimension()), 0.0);
    if (const document::Node* node = scene_.document().root().find("gravity"))
        gravity.values = document::numbers_of(*node, gravity.values.size());
    else
        gravity.values.back() = -9.81;
    model_->add_quantity(std::move(gravity));

    std::map<std::pair<model::Section, std::string>, const document::Node*> loaded;
    if (scene_.loaded() != nullptr)
        for (const Scene::Object& object : scene_.loaded()->objects())
            loaded[{object.section, object.name}] = object.node;
    for (const Scene::Object& object : scene_.objects()) {
        const ModuleType* type = registry.find(object.section, object.type);
        if (type == nullptr) {
            const std::vector<std::string> known = registry.types(object.section);
            const std::vector<std::string_view> names(known.begin(), known.end());
            const document::Node& at = *object.node->find("type");
            if (!names.empty())
                document::choice_of(at, names,
                                    std::string("type of ") + model::name_of(object.section));
            throw document::fault(
                at, "there is no type '" + object.type + "' in " + model::name_of(object.section));
        }
        if (model_->is_implicit() && !type->may_be_implicit())
            throw document::fault(*object.node->find("type"),
                                  "'" + object.type + "' does not go with the integrator " +
                                      model::name_of(scene_.integrator()))
                .remedy("leave it out, or use semi_implicit_euler; these types may stand here: " +
                        implicit_types(registry, object.section));
        const auto before = loaded.find({object.section, object.name});
        instances_.push_back(type->make(std::make_shared<model::Settings>(
            *type, *object.node, object.name, before != loaded.end() ? before->second : nullptr)));
    }
    for (const auto& instance : instances_) instance->declare(*model_);
    for (const auto& instance : instances_) instance->build(*model_);
    for (const auto& instance : instances_) instance->finish(*model_);
    model_->contact_pairs().read_exceptions(root.find("contact"));
    model_->contact_pairs().warn_of_unguarded(model_->warnings());
    parameters_ = std::make_unique<Parameters>(scene_.document().root(), *model_);

    Rollout::Parts parts;
    parts.prologue = model_->prologue();
    parts.step = model_->step_program();
    parts.steps = model_->options().steps;
    parts.events = model_->events();
    find_what_varies();
    rollout_ = std::make_unique<Rollout>(options_.device, std::move(parts));
    rollout_->set_step_counter(model_->step_counter());
    const GradientSettings& gradients = scene_.gradients();
    const std::int64_t free =
        std::min(free_memory(), options_.device->free_memory().value_or(INT64_MAX));
    rollout_->limit_memory(
        {.bytes = options.gradient_memory.value_or(gradients.memory.value_or(free / 2)),
         .spill = options.spill});
    rollout_->set_horizon(gradients.horizon * scene_.substeps());
    std::vector<Array> state;
    for (const auto& [name, published] : model_->arrays())
        if (published.state) state.push_back(published.array);
    rollout_->stop_if_not_finite(std::move(state),
                                 options.device->options().checked ? 1 : divergence_interval);
    monitor_ = std::make_unique<RunMonitor>(*this);
}

Simulation::~Simulation() = default;

bool Simulation::left_physics() const { return monitor_->left_physics(); }

std::unique_ptr<Simulation> Simulation::copy(const SimulationOptions& options) const {
    SimulationOptions silent = options;
    silent.strict = false;
    silent.on_warning = {};
    auto result = std::make_unique<Simulation>(scene_, registry_, silent);
    result->take_quantities(*this);
    return result;
}

void Simulation::take_quantities(const Simulation& other) {
    other.parameters_->fetch_values();
    parameters_->fetch_values();
    for (const auto& [path, quantity] : other.model_->quantities()) {
        Quantity& mine = *model_->find_quantity(path);
        if (mine.values == quantity->values) continue;
        mine.values = quantity->values;
        mine.upload();
    }
}

void Simulation::take_results(const Simulation& other) {
    for (const auto& [name, published] : model_->arrays())
        if (published.state) published.array.copy_from(other.model_->array(name));
    for (std::size_t t = 0; t < model_->terms().size(); ++t)
        model_->terms()[t].value.copy_from(other.model_->terms()[t].value);
}

const CheckpointPlan& Simulation::plan_gradients(RolloutMode mode) {
    rollout_->measure(mode);
    return rollout_->plan(mode);
}

void Simulation::find_what_varies() {
    std::set<const void*> varies;
    for (const Parameter& p : parameters_->list()) varies.insert(p.quantity->array.data());
    std::vector<Program> programs{model_->prologue(), model_->step_program()};
    for (const auto& [t, program] : model_->events()) programs.push_back(program);
    differentiate_what_varies(programs, std::move(varies));
}

namespace {

// A launch has failed: the error with the step that it was in, for which the run is made once more,
// step by step; and in a module's words, if one knows why.
Error with_step(Simulation& simulation, const Error& error) {
    std::int64_t done = -1;
    const auto run = [&](std::int64_t last) {
        simulation.rollout().forward(false, [&](std::int64_t step) {
            simulation.options().device->synchronize();  // which may be behind
            done = step;
            return step != last;
        });
    };
    try {
        run(-1);
    } catch (Error& again) {
        const std::int64_t substeps = simulation.scene().substeps();
        std::string where = "in step " + std::to_string(done / substeps + 1) + " of " +
                            std::to_string(simulation.steps() / substeps);
        if (substeps > 1)
            where += ", substep " + std::to_string(done % substeps + 1) + " of " +
                     std::to_string(substeps);
        const auto& reasons = simulation.model().shared<model::StepFaults>().reasons;
        if (!reasons.empty()) run(done);
        for (const auto& reason : reasons)
            if (std::optional<Error> found = reason(simulation.model())) return found->note(where);
        return again.note(where);
    }
    return error;
}

}  // namespace

double Simulation::run(bool keep, const Rollout::Watch& watch) {
    try {
        const std::int64_t done = rollout_->forward(keep, monitor_->watch(watch));
        monitor_->finish(done);
    } catch (const Error& error) {
        if (error.item() < 0) throw;
        throw with_step(*this, error);
    }
    return loss();
}

namespace {
std::vector<Rollout::Seed> seeds(const std::vector<model::Term>& terms) {
    std::vector<Rollout::Seed> list;
    for (const model::Term& term : terms) list.push_back({term.value, term.weight});
    return list;
}
}  // namespace

void Simulation::backward() { rollout_->backward(seeds(model_->terms())); }

std::vector<double> Simulation::gradient() {
    backward();
    return parameters_->gradient();
}

double Simulation::directional_derivative(std::span<const double> direction) {
    parameters_->set_tangents(direction);
    rollout_->forward(false, {}, RolloutMode::tangent);
    double sum = 0;
    for (const model::Term& term : model_->terms())
        sum += term.weight * term.value.tangent().value(0);
    return sum;
}

std::vector<double> Simulation::hessian_product(std::span<const double> direction) {
    parameters_->set_tangents(direction);
    rollout_->forward(true, {}, RolloutMode::second);
    rollout_->backward(seeds(model_->terms()), RolloutMode::second);
    return parameters_->gradient_tangents();
}

std::vector<Simulation::TermValue> Simulation::terms() const {
    std::vector<TermValue> list;
    for (const model::Term& term : model_->terms())
        list.push_back({term.name, term.weight, term.value.value(0)});
    return list;
}

double Simulation::loss() const {
    if (rollout_->divergence()) return std::numeric_limits<double>::quiet_NaN();
    return loss_of(terms());
}

double Simulation::loss_of(const std::vector<TermValue>& terms) {
    double sum = 0;
    for (const TermValue& term : terms) sum += term.weight * term.value;
    return sum;
}

StateHash Simulation::state_hash() const {
    StateHash hash;
    for (const auto& [name, published] : model_->arrays())
        if (published.state) published.array.add_to(hash, name);
    return hash;
}

document::Document Simulation::scene_with_parameters(const std::filesystem::path& folder) const {
    document::Document document = scene_.document();
    parameters_->fetch_values();
    const auto set = [&](const std::string& pointer, const std::vector<double>& values,
                         int components, bool shared, const std::string& path) {
        const std::string name = array_file(path);
        if (values.size() > most_in_document) result_place(folder, name);
        document.set(pointer, document::saved_form(values, components, shared, folder, name));
    };
    for (const Parameter& p : parameters_->list()) {
        const Quantity& q = *p.quantity;
        set(q.scene_pointer, q.values, q.components, q.shared, q.path);
    }
    for (const model::Model::MadeFrom& m : model_->made_from())
        if (model_->find_quantity(m.quantity)->values != m.values)
            set(m.scene_pointer, m.values, m.components, m.shared, m.quantity + "_at_load");
    return document;
}

}  // namespace hindcast
