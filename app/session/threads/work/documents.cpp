#include "app/session/threads/work/documents.hpp"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "app/session/text/scene_faults.hpp"
#include "engine/model/element_names.hpp"
#include "engine/sim/values/values_in_place.hpp"

namespace hindcast::session {

namespace {

// Memory of another scene's frames and iterations is in pieces that the allocator would keep.
void give_memory_back() {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

}  // namespace

Documents::Documents(RunnerState& state, Interrupts& interrupts, History& history,
                     BuiltScenes& scenes, TrajectoryRuns& trajectories, Optimizer& optimizer,
                     Launches& launches, WarningCheck& warnings)
    : state_(state),
      shared_(state.shared),
      interrupts_(interrupts),
      history_(history),
      scenes_(scenes),
      trajectories_(trajectories),
      optimizer_(optimizer),
      launches_(launches),
      warnings_(warnings) {}

void Documents::build_again() {
    take_over(load_scene(*state_.document, state_.file, state_.registry, warnings_.heard_options()),
              {state_.document, state_.revision, state_.file, false});
}

void Documents::apply(const Apply& command) {
    if (!command.document) throw Error("internal: a document is missing");
    const bool same_scene = state_.now.simulation && !command.fresh && command.file == state_.file;
    Difference difference;
    if (same_scene) {
        std::vector<std::string> pointers;
        for (const QuantityMeta& q : state_.now.scene->quantities)
            pointers.push_back(q.info.scene_pointer);
        difference = compare(*state_.document, *command.document, pointers);
        if (difference.nothing) return note_running(command);
        if (auto base = warnings_.numbers_warn() ? nullptr
                                                 : edited_in_place(difference, *command.document)) {
            set_in_place(std::move(base));
            warnings_.note_unchecked(command.document);
            return note_running(command);
        }
    }
    if (!state_.computes_rows()) state_.activity.set(Activity::building, "building the scene");
    std::unique_ptr<Simulation> next;
    try {
        next =
            load_scene(*command.document, command.file, state_.registry, warnings_.heard_options());
    } catch (const Error& error) {  // the scene before goes on
        const Lock lock(shared_.mutex);
        shared_.draft.handover.applied_revision = command.revision;
        shared_.fail(placed(error, *command.document));
        return;
    }
    const bool same_warnings = same_scene && !warnings_.numbers_warn() &&
                               next->warnings().size() == state_.now.simulation->warnings().size();
    auto base = same_warnings ? built_in_place(difference, *next) : nullptr;
    if (base)
        set_in_place(std::move(base));
    else
        take_over(std::move(next), command);
    note_running(command);
}

void Documents::note_running(const Apply& command) {
    state_.document = command.document;
    state_.file = command.file;
    state_.revision = command.revision;
    const Lock lock(shared_.mutex);
    state_.note_unaccepted();
    shared_.draft.handover.revision = shared_.draft.handover.applied_revision = state_.revision;
    shared_.clear_error();
    shared_.mark_changed();
}

SharedNumbers Documents::edited_in_place(const Difference& difference,
                                         const document::Document& document) const {
    if (difference.elsewhere) return nullptr;
    auto base = std::make_shared<std::vector<SharedValues>>(*state_.base);
    for (const std::size_t k : difference.quantities) {
        const QuantityInfo& info = state_.now.scene->quantities[k].info;
        const document::Node* const written = document.find(info.scene_pointer);
        // Elements with names have one value each, even if it is not written.
        const bool named = info.names && info.names->may_be_left_out && !info.shared;
        if (!named && (written == nullptr || state_.document->find(info.scene_pointer) == nullptr))
            return nullptr;
        const document::Node none{};
        std::optional<std::vector<double>> values = values_in_place(
            *state_.now.simulation, *state_.now.simulation->model().find_quantity(info.path),
            written == nullptr ? none : *written);
        if (!values) return nullptr;
        if (*values != *(*base)[k])
            (*base)[k] = std::make_shared<const std::vector<double>>(std::move(*values));
    }
    return base;
}

SharedNumbers Documents::built_in_place(const Difference& difference, Simulation& next) const {
    if (difference.elsewhere ||
        next.model().initial_points() != state_.now.simulation->model().initial_points())
        return nullptr;
    const auto& quantities = next.model().quantities();
    if (quantities.size() != state_.now.scene->quantities.size()) return nullptr;
    auto base = std::make_shared<std::vector<SharedValues>>(*state_.base);
    std::size_t k = 0;
    for (const auto& [path, q] : quantities) {
        const QuantityMeta& meta = state_.now.scene->quantities[k];
        if (path != meta.info.path || q->shared != meta.info.shared ||
            q->count != meta.info.count || q->components != meta.info.components ||
            q->values.size() != (*base)[k]->size())
            return nullptr;
        if (q->values != *(*base)[k]) {
            if (std::ranges::find(difference.quantities, k) == difference.quantities.end() ||
                !q->may_optimize)
                return nullptr;
            (*base)[k] = std::make_shared<const std::vector<double>>(q->values);
        }
        ++k;
    }
    return base;
}

// Goes on with these values of all quantities, in the simulation that runs.
void Documents::set_in_place(SharedNumbers base) {
    std::vector<std::size_t> changed;
    for (std::size_t k = 0; k < base->size(); ++k)
        if ((*base)[k] != (*state_.base)[k]) changed.push_back(k);
    auto values = std::make_shared<std::vector<double>>(*state_.values);
    auto written = std::make_shared<std::vector<double>>(*state_.written);
    // A parameter that was edited takes the value that was written; the others stay as they are.
    for (const ParameterPlace& place : state_.now.scene->places)
        for (std::size_t e = 0; e < place.entries.size(); ++e) {
            const std::size_t p = place.first + e;
            const double next = (*(*base)[place.quantity])[place.entries[e]];
            if (next != (*written)[p]) (*values)[p] = (*written)[p] = next;
        }
    const bool parameters_changed = *values != *state_.values;
    state_.base = std::move(base);
    if (parameters_changed) state_.values = std::move(values);
    state_.written = std::move(written);
    if (changed.empty()) return;
    state_.load();
    optimizer_.follow_numbers();
    {  // an edit is shown in the scene in which it acts
        const Lock lock(shared_.mutex);
        history_.follow_numbers();
        if (shared_.wanted_scene() != state_.now.scene) shared_.wanted.iteration.reset();
    }
    // Parameters in `base` that the optimizer has moved since look changed but are not.
    bool visible = parameters_changed;
    for (const std::size_t q : changed)
        visible |= std::none_of(state_.now.scene->places.begin(), state_.now.scene->places.end(),
                                [q](const ParameterPlace& p) { return p.quantity == q; });
    if (!visible || state_.optimizing) return;
    trajectories_.show_current();
    const Lock lock(shared_.mutex);
    interrupts_.note_edit();
}

void Documents::carry_over(Simulation& next) const {
    if (!state_.now.simulation) return;
    std::map<std::string, std::size_t> old;
    const std::vector<std::string>& names = state_.now.simulation->parameters().names();
    for (std::size_t p = 0; p < names.size(); ++p) old[names[p]] = p;
    std::vector<double> values = next.parameters().values();
    std::size_t p = 0;
    for (const Parameter& parameter : next.parameters().list())
        for (const std::string& name : parameter.names) {
            const auto found = old.find(name);
            if (found != old.end() && (*state_.written)[found->second] == values[p])
                values[p] =
                    std::clamp((*state_.values)[found->second], parameter.low, parameter.high);
            ++p;
        }
    next.parameters().set_values(values);
}

void Documents::take_over(std::unique_ptr<Simulation> next, const Apply& command) {
    const bool fresh = !state_.now.simulation || command.fresh || command.file != state_.file;
    auto base = numbers_of(*next);
    auto written = std::make_shared<const std::vector<double>>(next->parameters().values());
    if (!fresh) carry_over(*next);
    const std::shared_ptr<SceneInfo> made = make_scene_info(*next);
    made->document = command.document;
    if (state_.now.scene && !fresh && same_layout(*state_.now.scene->plan.stage, *made->plan.stage))
        made->plan.stage = state_.now.scene->plan.stage;  // the renderer keeps all that draws it
    const SceneRevisionPointer known =
        fresh ? nullptr : history_.known_revision(*made, *command.document, *base);
    if (!known) made->build = ++builds_;
    const SceneInfoPointer scene = known ? known->scene : made;
    if (known) base = known->base;

    const SceneOptimization::Carried carried = optimizer_.leave(fresh);
    scenes_.replace_now({std::move(next), scene, {}});
    state_.base = std::move(base);
    state_.written = std::move(written);
    state_.values =
        std::make_shared<const std::vector<double>>(state_.now.simulation->parameters().values());
    state_.now.loaded = *numbers_of(*state_.now.simulation);
    history_.change_scene(known);
    launches_.follow_scene();
    optimizer_.enter(carried, fresh);
    const TrajectoryPointer t =
        trajectories_.make(state_.now.scene, -1, state_.base, state_.values);
    {  // scene and trajectory at once: the old trajectory is not one of the new scene
        const Lock lock(shared_.mutex);
        shared_.scene = state_.now.scene;
        shared_.current = t;
        shared_.gradient_memory.clear();
        shared_.growing = nullptr;
        shared_.wanted.iteration.reset();
        shared_.rewind |= fresh;
        if (fresh) {
            shared_.shown = nullptr;
            history_.clear();
            shared_.draft.scene.warnings = nullptr;  // so that this scene's are logged
        }
        history_.bound_older_scenes();
        optimizer_.publish_scene(fresh);
        history_.enter_epoch();
        shared_.draft.tools.launches.clear();
        shared_.draft.memory.frame_limit = state_.options.frame_memory;
        shared_.mark_changed();
    }
    warnings_.publish();
    if (fresh) give_memory_back();
}

}  // namespace hindcast::session
