// Documents: a new one is always built; then either what differs is changed in the simulation that
// runs (its compiled code, its optimiser and its history stay), or the new simulation takes over.
//
// In place go the numbers of quantities that have a gradient: whatever depends on them does so
// through arrays of the device, as when the optimiser changes them. Where that is not all (initial
// places, from which rest lengths and shapes are computed at load) the new build shows it: its
// other quantities or initial places differ.
#include <algorithm>
#include <cmath>

#include "app/session/document/compare.hpp"
#include "app/session/threads/runner.hpp"

namespace hindcast::session {

namespace {

// An error where the document was edited has no line of a file: that of what is around it is better
// than none.
Error placed(Error error, const document::Document& document) {
    if (error.place().line > 0 || error.json_pointer().empty()) return error;
    std::string pointer = error.json_pointer();
    for (;;) {
        const document::Node* const node = document.find(pointer);
        if (node != nullptr && node->place().line > 0) {
            error.at(node->place());
            return error;
        }
        if (pointer.empty()) return error;
        pointer.resize(pointer.find_last_of('/'));
    }
}

}  // namespace

void Runner::apply(const Apply& command) {
    if (!command.document) throw Error("internal: a document is missing");
    const bool same_scene = now_.simulation && !command.fresh && command.file == file_;
    if (same_scene && compare(*document_, *command.document, {}).nothing) {
        document_ = command.document;
        revision_ = command.revision;
        const Lock lock(desk_.mutex);
        desk_.draft.revision = desk_.draft.applied_revision = revision_;
        desk_.draft.error = nullptr;
        desk_.mark();
        return;
    }
    if (!optimising_) set_activity(Activity::building, "building the scene");
    std::unique_ptr<Simulation> next;
    try {
        next = std::make_unique<Simulation>(Scene::of(*command.document, command.file), registry_,
                                            options_.simulation);
        if (!next->model().terms().empty() && next->parameters().size() > 0)
            const Optimization settings_are_right(*next);
    } catch (const Error& error) {  // what was there goes on
        const Lock lock(desk_.mutex);
        desk_.draft.applied_revision = command.revision;
        desk_.fail(placed(error, *command.document));
        return;
    }
    if (!same_scene || !change_in_place(*next, command)) take_over(std::move(next), command);
    document_ = command.document;
    file_ = command.file;
    revision_ = command.revision;
    const Lock lock(desk_.mutex);
    note_unaccepted();
    desk_.draft.revision = desk_.draft.applied_revision = revision_;
    desk_.draft.error = nullptr;
    desk_.mark();
}

bool Runner::change_in_place(Simulation& next, const Apply& command) {
    std::vector<std::string> pointers;
    for (const QuantityMeta& q : now_.world->quantities) pointers.push_back(q.info.scene_pointer);
    const Difference difference = compare(*document_, *command.document, pointers);
    if (difference.elsewhere ||
        next.model().initial_points() != now_.simulation->model().initial_points())
        return false;
    const auto& quantities = next.model().quantities();
    if (quantities.size() != now_.world->quantities.size()) return false;
    std::vector<std::size_t> changed;
    std::size_t k = 0;
    for (const auto& [path, q] : quantities) {
        const QuantityMeta& meta = now_.world->quantities[k];
        if (path != meta.info.path || q->shared != meta.info.shared || q->count != meta.count ||
            q->components != meta.info.components || q->values.size() != (*base_)[k]->size())
            return false;
        const bool differs = q->values != *(*base_)[k];
        const bool written = std::find(difference.quantities.begin(), difference.quantities.end(),
                                       k) != difference.quantities.end();
        if (differs && (!written || !q->may_optimize)) return false;
        if (differs) changed.push_back(k);
        ++k;
    }
    auto base = std::make_shared<std::vector<Numbers>>(*base_);
    auto values = std::make_shared<std::vector<double>>(*values_);
    auto written = std::make_shared<std::vector<double>>(*written_);
    const std::vector<double> next_written = next.parameters().values();
    k = 0;
    for (const auto& [path, q] : quantities) {
        if (std::find(changed.begin(), changed.end(), k) != changed.end())
            (*base)[k] = std::make_shared<const std::vector<double>>(q->values);
        ++k;
    }
    // A parameter that was edited takes the value that was written; the others stay as they are.
    for (std::size_t p = 0; p < next_written.size(); ++p)
        if (next_written[p] != (*written)[p]) (*values)[p] = (*written)[p] = next_written[p];
    const bool parameters_changed = *values != *values_;
    base_ = std::move(base);
    if (parameters_changed) values_ = std::move(values);
    written_ = std::move(written);
    if (changed.empty()) return true;
    load(now_, *base_, values_);
    {  // an edit is seen where it acts
        const Lock lock(desk_.mutex);
        if (const std::int64_t epoch = epoch_of_numbers(); epoch != epoch_) {
            epoch_ = epoch;
            enter_epoch();
        }
        if (desk_.wanted_world() != now_.world) desk_.wanted_iteration.reset();
    }
    // Parameters in `base` that the optimiser has moved since look changed but are not.
    bool visible = parameters_changed;
    for (const std::size_t q : changed)
        visible |= std::none_of(now_.world->places.begin(), now_.world->places.end(),
                                [q](const ParameterPlace& p) { return p.quantity == q; });
    if (visible && !optimising_) show_current();
    return true;
}

// That of the rows with the same numbers besides the parameters', which are the same loss; a new
// one if there are none. Under the desk's lock.
std::int64_t Runner::epoch_of_numbers() {
    const auto same = [this](const Edition& e) {
        if (e.world != now_.world) return false;
        for (std::size_t q = 0; q < base_->size(); ++q)
            if ((*e.base)[q] != (*base_)[q] && now_.world->values_of(q, *e.base, values_) !=
                                                   now_.world->values_of(q, *base_, values_))
                return false;
        return true;
    };
    const Edition* last = nullptr;
    for (std::size_t k = desk_.editions.size(); k-- > 0;) {
        const Edition* const e = desk_.editions[k].get();
        if (e == nullptr || e == last) continue;
        if (same(*e)) return e->epoch;
        last = e;
    }
    return ++epochs_;
}

// The loss is another function now: what was found of the one before is not shown as of this one.
// Under the desk's lock.
void Runner::enter_epoch() {
    Snapshot& s = desk_.draft;
    s.epoch = epoch_;
    s.best_iteration = -1;
    for (const IterationInfo& row : desk_.rows)
        if (row.epoch == epoch_) note_best(row);
    s.stop_reason.clear();
    s.check = nullptr;
    s.check_at = nullptr;
    s.landscape = nullptr;
    desk_.mark();
}

// If it has the lowest loss of its epoch. Under the desk's lock.
void Runner::note_best(const IterationInfo& row) {
    std::int64_t& best = desk_.draft.best_iteration;
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
    const std::shared_ptr<World> made = make_world(*next);
    made->document = command.document;
    if (now_.world && !fresh && same_layout(*now_.world->plan.stage, *made->plan.stage))
        made->plan.stage = now_.world->plan.stage;  // what draws it goes on
    const EditionPointer known = fresh ? nullptr : known_edition(*made, *command.document, *base);
    if (!known) made->build = ++builds_;
    const WorldPointer world = known ? known->world : made;
    if (known) base = known->base;

    // The optimiser goes on where it was, if it is of the same kind and about the same parameters.
    std::optional<document::Node> state;
    if (optimization_ && !fresh && began_) state = optimization_->state();
    // One that was made longer by hand stays so, in the same scene.
    const bool longer = optimization_ && !fresh &&
                        Optimization(*now_.simulation).iterations() != optimization_->iterations();
    const std::int64_t planned = longer ? optimization_->iterations() : -1;
    optimization_.reset();
    drop_older();
    forget_arrays();  // arrays of the simulation before
    between_.clear();
    now_ = {std::move(next), world, {}};
    base_ = std::move(base);
    written_ = std::move(written);
    values_ = std::make_shared<const std::vector<double>>(now_.simulation->parameters().values());
    now_.loaded = *numbers_of(*now_.simulation);
    began_ = false;
    epoch_ = known ? known->epoch : ++epochs_;
    now_.simulation->rollout().profile(profiling_);
    const bool possible = now_.world->has_objective && now_.world->has_parameters;
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
    {
        const Lock lock(desk_.mutex);
        desk_.world = now_.world;
        desk_.gradient_memory.clear();
        desk_.growing = nullptr;
        desk_.wanted_iteration.reset();
        desk_.rewind |= fresh;
        if (fresh) {
            desk_.shown = nullptr;
            desk_.library.clear();
            desk_.wanted_ghost.reset();
            desk_.rows.clear();
            desk_.draft.iteration_bytes = 0;
            desk_.editions.clear();
            optimised_seconds_ = 0;
        }
        bound_older_scenes();
        Snapshot& s = desk_.draft;  // the front fills in what the world says
        s.optimiser = optimiser;
        s.iterations_planned = optimization_ ? optimization_->iterations() : 0;
        enter_epoch();
        s.launches.clear();
        s.frame_limit = options_.frame_memory;
    }
    branched_from_ = -1;
    show_current();
}

// As after loading; the rows stay, and those that follow are appended.
void Runner::reset() {
    drop_older();
    between_.clear();
    optimising_ = false;
    began_ = false;
    branched_from_ = -1;
    values_ = written_;
    if (optimization_) optimization_ = std::make_unique<Optimization>(*now_.simulation);
    {
        const Lock lock(desk_.mutex);
        desk_.draft.stop_reason.clear();
        desk_.draft.error = nullptr;
        if (optimization_) desk_.draft.iterations_planned = optimization_->iterations();
        desk_.mark();
    }
    show_current();
}

void Runner::plan_gradients(Built& of) {
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
            [&](std::int64_t) { kept.push_back(stack.top() * plan.segment / of.world->substeps); });
    }
    memory->plan = plan.describe();
    memory->bytes = plan.peak_bytes;
    const Lock lock(desk_.mutex);
    desk_.gradient_memory[of.world] = std::move(memory);
    desk_.mark();
}

}  // namespace hindcast::session
