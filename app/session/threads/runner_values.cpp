// Values of the scene's numbers written into its document, for Accept and UseValues; and parameters
// as a checkpoint writes them.
#include <algorithm>

#include "app/session/threads/runner.hpp"
#include "engine/base/hash.hpp"
#include "engine/document/values.hpp"
#include "engine/sim/values/checkpoint.hpp"
#include "engine/sim/values/set_value.hpp"

namespace hindcast::session {

std::shared_ptr<const document::Document> Runner::document_with(
    const std::map<std::size_t, std::vector<double>>& values) const {
    auto answer = std::make_shared<document::Document>(*document_);
    constexpr std::size_t most_inline = 1000;
    const auto write = [&](const std::string& pointer, const std::string& path,
                           const std::vector<double>& numbers, int components, bool shared) {
        document::Node node;
        if (numbers.size() <= most_inline || file_.empty()) {
            node = document::written_form(numbers, components, shared);
        } else {  // a file of its own, so that undo finds the older one
            Hasher hasher;
            hasher.bytes(numbers.data(), numbers.size() * sizeof(double));
            std::string name =
                file_.stem().string() + "_" + path + "_" + to_string(hasher.digest()).substr(0, 8);
            std::replace(name.begin(), name.end(), '.', '_');
            node = document::saved_form(numbers, components, shared, file_.parent_path(),
                                        name + ".npy");
        }
        answer->set(pointer, std::move(node));
    };
    for (const auto& [q, numbers] : values) {
        if (numbers == *(*base_)[q]) continue;
        const QuantityInfo& info = now_.scene->quantities[q].info;
        write(info.scene_pointer, info.path, numbers, info.components, info.shared);
        // What was made from the values at load stays what it is.
        for (const model::Model::MadeFrom& m : now_.simulation->model().made_from())
            if (m.quantity == info.path)
                write(m.scene_pointer, m.quantity + "_at_load", m.values, m.components, m.shared);
    }
    return answer;
}

// What does not fit changes nothing, so that an optimisation goes on.
void Runner::answer_values(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        const Lock lock(shared_.mutex);
        shared_.fail(error);
    }
}

void Runner::keep(const KeepValues& command) {
    if (!command.parameters || command.build != now_.scene->build)
        throw Error("these parameters belong to the scene before an edit")
            .remedy("show an iteration of the scene as it is now, and keep that");
    auto kept = std::make_shared<KeptValues>();
    kept->number = command.number;
    kept->values =
        checkpoint_values(*now_.simulation, *command.parameters, command.folder, command.stem);
    const Lock lock(shared_.mutex);
    shared_.draft.kept_values = std::move(kept);
    shared_.mark_changed();
}

// With changes, which the program itself may depend on: the document says what comes of them.
std::shared_ptr<const document::Document> Runner::changed_document(const UseValues& command) const {
    const SimulationOptions& options = options_.simulation;
    Scene scene = Scene::of(*document_, file_);
    if (!command.checkpoint.empty()) use_checkpoint(scene, registry_, options, command.checkpoint);
    for (const std::string& change : command.changes)
        set_assignment(scene, registry_, options, change);
    use_values(scene, registry_, options, *command.values,
               command.any_number ? Naming::any_number : Naming::parameters);
    return std::make_shared<const document::Document>(scene.document());
}

void Runner::use(const UseValues& command) {
    std::shared_ptr<const document::Document> answer;
    if (command.checkpoint.empty() && command.changes.empty()) {
        std::vector<double> parameters = *values_;
        answer = document_with(named_values(command, parameters));
        hold(std::move(parameters));
    } else {
        answer = changed_document(command);
        revert();  // what the optimisation has found is of the scene without the changes
    }
    const Lock lock(shared_.mutex);
    shared_.wanted_iteration.reset();
    note_unaccepted();
    shared_.draft.answer = std::move(answer);
    shared_.draft.answer_to = command.number;
    shared_.draft.answer_name = command.name;
    shared_.mark_changed();
}

// By the number of their quantity; `parameters` gets those that are some.
std::map<std::size_t, std::vector<double>> Runner::named_values(
    const UseValues& command, std::vector<double>& parameters) const {
    std::map<std::size_t, std::vector<double>> values;
    for (const NewNumbers& numbers :
         new_numbers(*command.values, *now_.simulation,
                     command.any_number ? Naming::any_number : Naming::parameters)) {
        const std::size_t q = now_.scene->quantity_of.at(numbers.quantity->path);
        std::vector<double>& all = values.try_emplace(q, *(*base_)[q]).first->second;
        for (std::size_t e = 0; e < numbers.entries.size(); ++e)
            all[numbers.entries[e]] = numbers.values[e];
        for (const ParameterPlace& place : now_.scene->places)
            for (std::size_t k = 0; place.quantity == q && k < place.entries.size(); ++k)
                if (const auto named = std::ranges::find(numbers.entries, place.entries[k]);
                    named != numbers.entries.end())
                    parameters[place.first + k] = all[*named];
    }
    return values;
}

// At once: what the optimisation has found since is not in the document, which may stay as it is.
void Runner::hold(std::vector<double> parameters) {
    if (parameters == *values_) return;
    values_ = std::make_shared<const std::vector<double>>(std::move(parameters));
    load(now_, *base_, values_);
    go_on();
    if (!optimising_) show_current();
}

}  // namespace hindcast::session
