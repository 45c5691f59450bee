// Documents. Where a document differs from the one that runs only in numbers that a build would
// merely upload (engine/sim/values/values_in_place.hpp), they are set in the running simulation:
// nothing is built, and compiled code, optimiser and history stay.
//
// Any other document is built. Then it may still be that only numbers differ, of quantities that
// have a gradient: whatever depends on those does so through arrays of the device, as when the
// optimiser changes them. They are set in the running simulation too. Otherwise the new simulation
// takes over.
#include <malloc.h>

#include <algorithm>
#include <cmath>

#include "app/session/text/scene_faults.hpp"
#include "app/session/threads/runner.hpp"
#include "engine/model/element_names.hpp"
#include "engine/sim/values/values_in_place.hpp"

namespace hindcast::session {

namespace {

// What frames and iterations of another scene had is in pieces that the allocator would keep.
void give_memory_back() {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

}  // namespace

void Runner::apply(const Apply& command) {
    if (!command.document) throw Error("internal: a document is missing");
    const bool same_scene = now_.simulation && !command.fresh && command.file == file_;
    Difference difference;
    if (same_scene) {
        std::vector<std::string> pointers;
        for (const QuantityMeta& q : now_.scene->quantities)
            pointers.push_back(q.info.scene_pointer);
        difference = compare(*document_, *command.document, pointers);
        if (difference.nothing) return runs_now(command);
        if (auto base = numbers_warn() ? nullptr : edited_in_place(difference, *command.document)) {
            set_in_place(std::move(base));
            unchecked_ = command.document;
            return runs_now(command);
        }
    }
    if (!computes_rows()) set_activity(Activity::building, "building the scene");
    std::unique_ptr<Simulation> next;
    try {
        next = load_scene(*command.document, command.file, registry_, heard_options());
    } catch (const Error& error) {  // what was there goes on
        const Lock lock(shared_.mutex);
        shared_.draft.applied_revision = command.revision;
        shared_.fail(placed(error, *command.document));
        return;
    }
    const bool same_warnings = same_scene && !numbers_warn() &&
                               next->warnings().size() == now_.simulation->warnings().size();
    auto base = same_warnings ? built_in_place(difference, *next) : nullptr;
    if (base)
        set_in_place(std::move(base));
    else
        take_over(std::move(next), command);
    runs_now(command);
}

// The document of the command is the one that runs.
void Runner::runs_now(const Apply& command) {
    document_ = command.document;
    file_ = command.file;
    revision_ = command.revision;
    const Lock lock(shared_.mutex);
    note_unaccepted();
    shared_.draft.revision = shared_.draft.applied_revision = revision_;
    shared_.draft.error = nullptr;
    shared_.mark_changed();
}

// The values of all quantities of this document, if the running simulation can be given them as
// they are; null where only a build can tell.
std::shared_ptr<const std::vector<SharedValues>> Runner::edited_in_place(
    const Difference& difference, const document::Document& document) const {
    if (difference.elsewhere) return nullptr;
    auto base = std::make_shared<std::vector<SharedValues>>(*base_);
    for (const std::size_t k : difference.quantities) {
        const QuantityInfo& info = now_.scene->quantities[k].info;
        const document::Node* const written = document.find(info.scene_pointer);
        // Those of elements with names are as many, one per element, whether written or not.
        const bool named = info.names && info.names->may_be_left_out && !info.shared;
        if (!named && (written == nullptr || document_->find(info.scene_pointer) == nullptr))
            return nullptr;
        const document::Node none{};
        std::optional<std::vector<double>> values =
            values_in_place(*now_.simulation, *now_.simulation->model().find_quantity(info.path),
                            written == nullptr ? none : *written);
        if (!values) return nullptr;
        if (*values != *(*base)[k])
            (*base)[k] = std::make_shared<const std::vector<double>>(std::move(*values));
    }
    return base;
}

// The same for a document that was built: also formulas and values made from others may have come
// to other numbers. Null where more differs than numbers of quantities with a gradient.
std::shared_ptr<const std::vector<SharedValues>> Runner::built_in_place(
    const Difference& difference, Simulation& next) const {
    if (difference.elsewhere ||
        next.model().initial_points() != now_.simulation->model().initial_points())
        return nullptr;
    const auto& quantities = next.model().quantities();
    if (quantities.size() != now_.scene->quantities.size()) return nullptr;
    auto base = std::make_shared<std::vector<SharedValues>>(*base_);
    std::size_t k = 0;
    for (const auto& [path, q] : quantities) {
        const QuantityMeta& meta = now_.scene->quantities[k];
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
void Runner::set_in_place(std::shared_ptr<const std::vector<SharedValues>> base) {
    std::vector<std::size_t> changed;
    for (std::size_t k = 0; k < base->size(); ++k)
        if ((*base)[k] != (*base_)[k]) changed.push_back(k);
    auto values = std::make_shared<std::vector<double>>(*values_);
    auto written = std::make_shared<std::vector<double>>(*written_);
    // A parameter that was edited takes the value that was written; the others stay as they are.
    for (const ParameterPlace& place : now_.scene->places)
        for (std::size_t e = 0; e < place.entries.size(); ++e) {
            const std::size_t p = place.first + e;
            const double next = (*(*base)[place.quantity])[place.entries[e]];
            if (next != (*written)[p]) (*values)[p] = (*written)[p] = next;
        }
    const bool parameters_changed = *values != *values_;
    base_ = std::move(base);
    if (parameters_changed) values_ = std::move(values);
    written_ = std::move(written);
    if (changed.empty()) return;
    load(now_, *base_, values_);
    go_on();
    {  // an edit is seen where it acts
        const Lock lock(shared_.mutex);
        if (const std::int64_t epoch = epoch_of_numbers(); epoch != epoch_) {
            epoch_ = epoch;
            enter_epoch();
        }
        if (shared_.wanted_scene() != now_.scene) shared_.wanted_iteration.reset();
    }
    // Parameters in `base` that the optimiser has moved since look changed but are not.
    bool visible = parameters_changed;
    for (const std::size_t q : changed)
        visible |= std::none_of(now_.scene->places.begin(), now_.scene->places.end(),
                                [q](const ParameterPlace& p) { return p.quantity == q; });
    if (!visible || optimising_) return;
    show_current();
    const Lock lock(shared_.mutex);
    edited_ = shared_.current;
    edited_at_ = Clock::now();
}

// That of the rows with the same numbers besides the parameters', which are the same loss; a new
// one if there are none. Under the shared lock.
std::int64_t Runner::epoch_of_numbers() {
    const auto same = [this](const SceneRevision& e) {
        if (e.scene != now_.scene) return false;
        for (std::size_t q = 0; q < base_->size(); ++q)
            if ((*e.base)[q] != (*base_)[q] && now_.scene->values_of(q, *e.base, values_) !=
                                                   now_.scene->values_of(q, *base_, values_))
                return false;
        return true;
    };
    const SceneRevision* last = nullptr;
    for (std::size_t k = shared_.scene_revisions.size(); k-- > 0;) {
        const SceneRevision* const e = shared_.scene_revisions[k].get();
        if (e == nullptr || e == last) continue;
        if (same(*e)) return e->epoch;
        last = e;
    }
    return ++epochs_;
}

// The loss is another function now: what was found of the one before is not shown as of this one.
// Under the shared lock.
void Runner::enter_epoch() {
    Snapshot& s = shared_.draft;
    s.epoch = epoch_;
    s.best_iteration = -1;
    for (const IterationInfo& row : shared_.rows)
        if (row.epoch == epoch_) note_best(row);
    s.stop_reason.clear();
    s.check = nullptr;
    s.check_at = nullptr;
    s.landscape = nullptr;
    shared_.mark_changed();
}

// If it has the lowest loss of its epoch. Under the shared lock.
void Runner::note_best(const IterationInfo& row) {
    std::int64_t& best = shared_.draft.best_iteration;
    const IterationInfo* const before = row_of(best);
    if (!std::isfinite(row.loss)) return;
    if (before == nullptr || before->epoch != epoch_ || row.loss < before->loss)
        best = row.iteration;
}

// Parameters keep the values they have come to, where they still exist and were not edited.
void Runner::carry_over(Simulation& next) const {
    if (!now_.simulation) return;
    std::map<std::string, std::size_t> old;
    const std::vector<std::string>& names = now_.simulation->parameters().names();
    for (std::size_t p = 0; p < names.size(); ++p) old[names[p]] = p;
    std::vector<double> values = next.parameters().values();
    std::size_t p = 0;
    for (const Parameter& parameter : next.parameters().list())
        for (const std::string& name : parameter.names) {
            const auto found = old.find(name);
            if (found != old.end() && (*written_)[found->second] == values[p])
                values[p] = std::clamp((*values_)[found->second], parameter.low, parameter.high);
            ++p;
        }
    next.parameters().set_values(values);
}

void Runner::take_over(std::unique_ptr<Simulation> next, const Apply& command) {
    const bool fresh = !now_.simulation || command.fresh || command.file != file_;
    auto base = numbers_of(*next);
    auto written = std::make_shared<const std::vector<double>>(next->parameters().values());
    if (!fresh) carry_over(*next);
    const std::shared_ptr<SceneInfo> made = make_scene_info(*next);
    made->document = command.document;
    if (now_.scene && !fresh && same_layout(*now_.scene->plan.stage, *made->plan.stage))
        made->plan.stage = now_.scene->plan.stage;  // what draws it goes on
    const SceneRevisionPointer known =
        fresh ? nullptr : known_scene_revision(*made, *command.document, *base);
    if (!known) made->build = ++builds_;
    const SceneInfoPointer scene = known ? known->scene : made;
    if (known) base = known->base;

    // The optimiser goes on where it was, if it is of the same kind and about the same parameters.
    std::optional<document::Node> state;
    if (optimization_ && !fresh && began_ && !rests_) state = optimization_->state();
    rest(false);
    // One that was made longer by hand stays so, in the same scene.
    const bool longer = optimization_ && !fresh &&
                        Optimization(*now_.simulation).iterations() != optimization_->iterations();
    const std::int64_t planned = longer ? optimization_->iterations() : -1;
    optimization_.reset();
    drop_older();
    forget_arrays();  // arrays of the simulation before
    between_.clear();
    now_ = {std::move(next), scene, {}};
    base_ = std::move(base);
    written_ = std::move(written);
    values_ = std::make_shared<const std::vector<double>>(now_.simulation->parameters().values());
    now_.loaded = *numbers_of(*now_.simulation);
    began_ = false;
    epoch_ = known ? known->epoch : ++epochs_;
    now_.simulation->rollout().profile(profiling_);
    const bool possible = now_.scene->has_objective && now_.scene->has_parameters;
    optimising_ = optimising_ && !fresh && possible;
    std::string optimiser;
    if (possible) {
        optimization_ = std::make_unique<Optimization>(*now_.simulation, planned);
        if (state) {
            try {
                optimization_->restore(*state);
                began_ = true;
            } catch (const Error&) {  // another optimiser, or other parameters: from the start
                began_ = false;
            }
            now_.simulation->parameters().set_values(*values_);
        }
        optimiser = optimization_->describe();
    }
    const TrajectoryPointer t = new_trajectory(now_.scene, -1, base_, values_);
    {  // scene and trajectory at once: what was current would be shown as of the new scene
        const Lock lock(shared_.mutex);
        shared_.scene = now_.scene;
        shared_.current = t;
        shared_.gradient_memory.clear();
        shared_.growing = nullptr;
        shared_.wanted_iteration.reset();
        shared_.rewind |= fresh;
        if (fresh) {
            shared_.shown = nullptr;
            shared_.trajectories.clear();
            shared_.wanted_ghost.reset();
            shared_.rows.clear();
            shared_.draft.iteration_bytes = 0;
            shared_.draft.warnings = nullptr;  // those of another scene are new in this one
            shared_.scene_revisions.clear();
            optimised_seconds_ = 0;
            shared_.draft.live = live_ = {.on = false};
        }
        bound_older_scenes();
        Snapshot& s = shared_.draft;  // playback fills in what the scene says
        s.optimiser = optimiser;
        s.iterations_planned = optimization_ ? optimization_->iterations() : 0;
        enter_epoch();
        s.launches.clear();
        s.frame_limit = options_.frame_memory;
        shared_.mark_changed();
    }
    branched_from_ = -1;
    publish_warnings();
    if (fresh) give_memory_back();
}

// As after loading; the rows stay, and those that follow are appended.
void Runner::reset() {
    drop_older();
    between_.clear();
    optimising_ = false;
    rest(false);
    began_ = false;
    branched_from_ = -1;
    values_ = written_;
    if (optimization_) optimization_ = std::make_unique<Optimization>(*now_.simulation);
    {
        const Lock lock(shared_.mutex);
        shared_.draft.stop_reason.clear();
        shared_.draft.error = nullptr;
        if (optimization_) shared_.draft.iterations_planned = optimization_->iterations();
        shared_.mark_changed();
    }
    show_current();
}

void Runner::plan_gradients(BuiltScene& of) {
    if (of.gradients_planned) return;
    set_activity(optimising_ ? Activity::optimising : Activity::simulating,
                 "planning the memory of gradients");
    const CheckpointPlan& plan = of.simulation->plan_gradients();
    of.gradients_planned = true;
    auto memory = std::make_shared<GradientMemory>();
    std::vector<std::int64_t>& kept = memory->checkpoints;
    kept.push_back(0);
    if (plan.segments > 1 && plan.checkpoints > 1) {
        CheckpointStack stack(plan.checkpoints);
        stack.push(0);
        stack.reach(
            plan.segments - 1, [](std::int64_t) {}, [](std::int64_t, std::int64_t) {},
            [&](std::int64_t) { kept.push_back(stack.top() * plan.segment / of.scene->substeps); });
    }
    memory->plan = plan.describe();
    memory->bytes = plan.peak_bytes;
    const Lock lock(shared_.mutex);
    shared_.gradient_memory[of.scene] = std::move(memory);
    shared_.mark_changed();
}

}  // namespace hindcast::session
