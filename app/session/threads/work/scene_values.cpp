#include "app/session/threads/work/scene_values.hpp"

#include <algorithm>
#include <utility>

#include "engine/base/hash.hpp"
#include "engine/document/values.hpp"
#include "engine/sim/values/checkpoint.hpp"
#include "engine/sim/values/set_value.hpp"

namespace hindcast::session {

void SceneValues::accept(const Accept& command) {
    SharedValues parameters;
    std::int64_t iteration = -1;
    {
        const Lock lock(shared_.mutex);
        const IterationInfo* const asked =
            command.iteration ? shared_.history.row_of(*command.iteration) : nullptr;
        if (command.iteration && (asked == nullptr || !asked->parameters))
            throw Error("the parameters of iteration " +
                        std::to_string(command.iteration.value_or(-1)) +
                        " are not in memory any more");
        if (asked != nullptr && asked->epoch != history_.epoch())
            throw Error("iteration " + std::to_string(asked->iteration) +
                        " belongs to the scene before an edit")
                .remedy("branch from it (B), which goes back to that scene, and accept then");
        const TrajectoryPointer& shown = shared_.shown ? shared_.shown : shared_.current;
        const TrajectoryPointer& t = command.newest ? shared_.current : shown;
        if (asked != nullptr) {
            parameters = asked->parameters;
            iteration = asked->iteration;
        } else {
            if (t && !command.newest && t->scene != state_.now.scene)
                throw Error("what is shown belongs to the scene before an edit")
                    .remedy("branch from it (B), which goes back to that scene, and accept then");
            parameters = t && t->parameters && !command.newest ? t->parameters : state_.values;
            iteration = t && t->parameters && *t->parameters == *parameters ? t->iteration : -1;
        }
    }
    Values values;
    for (const ParameterPlace& place : state_.now.scene->places)
        values.try_emplace(place.quantity,
                           state_.now.scene->values_of(place.quantity, *state_.base, parameters));
    auto document = document_with(values);
    const Lock lock(shared_.mutex);
    shared_.answer(std::move(document), command.number,
                   iteration >= 0   ? "Accept iteration " + std::to_string(iteration)
                   : command.newest ? "Accept the newest parameters"
                                    : "Accept the parameters shown");
}

std::shared_ptr<const document::Document> SceneValues::document_with(const Values& values) const {
    auto answer = std::make_shared<document::Document>(*state_.document);
    constexpr std::size_t most_inline = 1000;
    const auto write = [&](const std::string& pointer, const std::string& path,
                           const std::vector<double>& numbers, int components, bool shared) {
        document::Node node;
        if (numbers.size() <= most_inline || state_.file.empty()) {
            node = document::written_form(numbers, components, shared);
        } else {  // a file of its own, so that undo finds the older one
            Hasher hasher;
            hasher.bytes(numbers.data(), numbers.size() * sizeof(double));
            std::string name = state_.file.stem().string() + "_" + path + "_" +
                               to_string(hasher.digest()).substr(0, 8);
            std::replace(name.begin(), name.end(), '.', '_');
            node = document::saved_form(numbers, components, shared, state_.file.parent_path(),
                                        name + ".npy");
        }
        answer->set(pointer, std::move(node));
    };
    for (const auto& [q, numbers] : values) {
        if (numbers == *(*state_.base)[q]) continue;
        const QuantityInfo& info = state_.now.scene->quantities[q].info;
        write(info.scene_pointer, info.path, numbers, info.components, info.shared);
        // Values made from these at load stay the same.
        for (const model::Model::MadeFrom& m : state_.now.simulation->model().made_from())
            if (m.quantity == info.path)
                write(m.scene_pointer, m.quantity + "_at_load", m.values, m.components, m.shared);
    }
    return answer;
}

void SceneValues::report_errors(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        const Lock lock(shared_.mutex);
        shared_.fail(error);
    }
}

void SceneValues::keep(const KeepValues& command) {
    report_errors([&] {
        if (!command.parameters || command.build != state_.now.scene->build)
            throw Error("these parameters belong to the scene before an edit")
                .remedy("show an iteration of the scene as it is now, and keep that");
        auto kept = std::make_shared<KeptValues>();
        kept->number = command.number;
        kept->values = checkpoint_values(*state_.now.simulation, *command.parameters,
                                         command.folder, command.stem);
        const Lock lock(shared_.mutex);
        shared_.draft.handover.kept_values = std::move(kept);
        shared_.mark_changed();
    });
}

// The program itself may depend on the changes, so they are made in the document.
std::shared_ptr<const document::Document> SceneValues::changed_document(
    const UseValues& command) const {
    const SimulationOptions& options = state_.options.simulation;
    Scene scene = Scene::of(*state_.document, state_.file);
    if (!command.checkpoint.empty())
        use_checkpoint(scene, state_.registry, options, command.checkpoint);
    for (const std::string& change : command.changes)
        set_assignment(scene, state_.registry, options, change);
    use_values(scene, state_.registry, options, *command.values,
               command.any_number ? Naming::any_number : Naming::parameters);
    return std::make_shared<const document::Document>(scene.document());
}

void SceneValues::use(const UseValues& command) {
    report_errors([&] {
        std::shared_ptr<const document::Document> document;
        if (command.checkpoint.empty() && command.changes.empty()) {
            std::vector<double> parameters = *state_.values;
            document = document_with(named_values(command, parameters));
            hold(std::move(parameters));
        } else {
            document = changed_document(command);
            optimizer_.revert();  // its values belong to the scene without the changes
        }
        const Lock lock(shared_.mutex);
        shared_.wanted.iteration.reset();
        state_.note_unaccepted();
        shared_.answer(std::move(document), command.number, command.name);
    });
}

SceneValues::Values SceneValues::named_values(const UseValues& command,
                                              std::vector<double>& parameters) const {
    Values values;
    for (const NewNumbers& numbers :
         new_numbers(*command.values, *state_.now.simulation,
                     command.any_number ? Naming::any_number : Naming::parameters)) {
        const std::size_t q = state_.now.scene->quantity_of.at(numbers.quantity->path);
        std::vector<double>& all = values.try_emplace(q, *(*state_.base)[q]).first->second;
        for (std::size_t e = 0; e < numbers.entries.size(); ++e)
            all[numbers.entries[e]] = numbers.values[e];
        for (const ParameterPlace& place : state_.now.scene->places)
            for (std::size_t k = 0; place.quantity == q && k < place.entries.size(); ++k)
                if (const auto named = std::ranges::find(numbers.entries, place.entries[k]);
                    named != numbers.entries.end())
                    parameters[place.first + k] = all[*named];
    }
    return values;
}

// The document may stay as it is, because values of the optimization are not in it.
void SceneValues::hold(std::vector<double> parameters) {
    if (parameters == *state_.values) return;
    state_.values = std::make_shared<const std::vector<double>>(std::move(parameters));
    state_.load();
    optimizer_.follow_numbers();
    if (!state_.optimizing) trajectories_.show_current();
}

}  // namespace hindcast::session
