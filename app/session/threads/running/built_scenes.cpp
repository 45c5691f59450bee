#include "app/session/threads/running/built_scenes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hindcast::session {

namespace {

Error changed_outside(const std::string& what) {
    return Error(what + ": a file that the older scene reads has changed since")
        .remedy("put that file back as it was");
}

}  // namespace

BuiltScene& BuiltScenes::built_for(const SceneInfoPointer& scene) {
    if (scene == state_.now.scene) return state_.now;
    if (older_ && older_->scene == scene) return *older_;
    drop_older();
    state_.activity.set(Activity::building, "building the scene before the edit");
    BuiltScene built;
    built.simulation = std::make_unique<Simulation>(Scene::of(*scene->document, state_.file),
                                                    state_.registry, state_.options.simulation);
    built.scene = scene;
    if (!same_shape(*make_scene_info(*built.simulation), *scene))
        throw changed_outside("the scene before the edit cannot be built again");
    built.loaded = *numbers_of(*built.simulation);
    older_ = std::move(built);
    std::int64_t bytes = 0;
    for (const auto& [name, published] : older_->simulation->model().arrays())
        bytes += static_cast<std::int64_t>(published.array.bytes());
    const Lock lock(state_.shared.mutex);
    state_.shared.draft.memory.older_simulation_bytes = bytes;
    state_.shared.mark_changed();
    return *older_;
}

void BuiltScenes::check_rerun(const Trajectory& t, double loss) const {
    if (t.scene == state_.now.scene || t.iteration < 0) return;
    double before = 0;
    {
        const Lock lock(state_.shared.mutex);
        const IterationInfo* const row = state_.shared.history.row_of(t.iteration);
        if (row == nullptr) return;
        before = row->loss;
    }
    if (loss != before && !(std::isnan(loss) && std::isnan(before)))
        throw changed_outside("iteration " + std::to_string(t.iteration) + " has another loss now");
}

bool BuiltScenes::gradients_failed(const SceneInfoPointer& scene) const {
    return (scene == state_.now.scene && state_.now.gradients_failed) ||
           (older_ && scene == older_->scene && older_->gradients_failed);
}

void BuiltScenes::replace_now(BuiltScene next) {
    drop_older();
    frames_.forget_arrays();  // arrays of the simulation before
    states_.clear();
    state_.now = std::move(next);
}

void BuiltScenes::drop_older() {
    if (!older_) return;
    std::erase_if(states_, [&](const StepStates& s) { return s.of->scene == older_->scene; });
    frames_.forget_arrays();
    {
        const Lock lock(state_.shared.mutex);
        state_.shared.gradient_memory.erase(older_->scene);
        state_.shared.draft.memory.older_simulation_bytes = 0;
        state_.shared.mark_changed();
    }
    older_.reset();
}

void BuiltScenes::drop_unused_older() {
    if (!older_) return;
    {
        const Lock lock(state_.shared.mutex);
        const auto is_of_it = [&](const TrajectoryPointer& t) {
            return t && t->scene == older_->scene;
        };
        const SceneRevisionPointer ghost =
            state_.shared.wanted.ghost
                ? state_.shared.history.revision_of(*state_.shared.wanted.ghost)
                : nullptr;
        if (state_.shared.wanted_scene() == older_->scene || is_of_it(state_.shared.shown) ||
            (ghost && ghost->scene == older_->scene &&
             state_.shared.draft.optimization.ghost_problem.empty()))
            return;
    }
    drop_older();
}

const StepStates* BuiltScenes::find_states(const TrajectoryPointer& trajectory) const {
    const auto known = std::ranges::find(states_, trajectory, &StepStates::of);
    return known == states_.end() ? nullptr : &*known;
}

StepStates& BuiltScenes::states_of(const TrajectoryPointer& trajectory) {
    const auto known = std::ranges::find(states_, trajectory, &StepStates::of);
    if (known != states_.end()) return *known;
    if (states_.size() >= 2) states_.erase(states_.begin());
    return states_.emplace_back(StepStates{trajectory, {}});
}

}  // namespace hindcast::session
