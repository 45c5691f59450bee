// Scenes before an edit. When a new simulation takes over, the iterations of the older scene keep
// the document they were run with (SceneRevision). Where one is to be shown again, a second
// simulation is built of it; at most one such other is there at a time, and it goes when nothing of
// it is looked at any more. Its trajectories lie in the cache beside the others, within the same
// bound.
//
// A document that is gone back to (undo, a branch from an older iteration) gets the scene that it
// had: its iterations are then those of the scene as it is now.
//
// Exact or an error: a scene may read files that have changed since. So the scene that was built
// again must have the same shape, and an iteration that is run again the same loss, bit for bit.
#include <algorithm>
#include <cmath>
#include <set>

#include "app/session/document/compare.hpp"
#include "app/session/threads/runner.hpp"

namespace hindcast::session {

namespace {

constexpr std::int64_t share_of_older_scenes = 8;  // older scenes may take that part

Error changed_outside(const std::string& what) {
    return Error(what + ": a file that the older scene reads has changed since")
        .remedy("put that file back as it was");
}

}  // namespace

// Of the rows that come.
SceneRevisionPointer Runner::scene_revision() {
    if (scene_revision_ && scene_revision_->scene == now_.scene &&
        scene_revision_->document == document_ && scene_revision_->base == base_ &&
        scene_revision_->epoch == epoch_)
        return scene_revision_;
    auto made = std::make_shared<SceneRevision>();
    made->epoch = epoch_;
    made->scene = now_.scene;
    made->document = document_;
    made->document_bytes = static_cast<std::int64_t>(document_->to_text().size());
    made->base = base_;
    scene_revision_ = std::move(made);
    return scene_revision_;
}

// The one of rows that were run with this document, if the scene was read from it to the same
// numbers; null if there is none. The newest is preferred.
SceneRevisionPointer Runner::known_scene_revision(const SceneInfo& next,
                                                  const document::Document& document,
                                                  const std::vector<SharedValues>& base) const {
    std::vector<SceneRevisionPointer> all;
    {
        const Lock lock(shared_.mutex);
        for (const SceneRevisionPointer& e : shared_.scene_revisions)
            if (e && (all.empty() || all.back() != e)) all.push_back(e);
    }
    const auto same_numbers = [](const SharedValues& a, const SharedValues& b) { return *a == *b; };
    const auto found = std::find_if(all.rbegin(), all.rend(), [&](const SceneRevisionPointer& e) {
        return compare(*e->document, document, {}).nothing && same_shape(*e->scene, next) &&
               std::ranges::equal(*e->base, base, same_numbers);
    });
    return found == all.rend() ? nullptr : *found;
}

BuiltScene& Runner::built_for(const SceneInfoPointer& scene) {
    if (scene == now_.scene) return now_;
    if (older_ && older_->scene == scene) return *older_;
    drop_older();
    set_activity(Activity::building, "building the scene before the edit");
    BuiltScene built;
    built.simulation = std::make_unique<Simulation>(Scene::of(*scene->document, file_), registry_,
                                                    options_.simulation);
    built.scene = scene;
    if (!same_shape(*make_scene_info(*built.simulation), *scene))
        throw changed_outside("the scene before the edit cannot be built again");
    built.loaded = *numbers_of(*built.simulation);
    older_ = std::move(built);
    std::int64_t bytes = 0;
    for (const auto& [name, published] : older_->simulation->model().arrays())
        bytes += static_cast<std::int64_t>(published.array.bytes());
    const Lock lock(shared_.mutex);
    shared_.draft.older_simulation_bytes = bytes;
    shared_.mark_changed();
    return *older_;
}

// Of an older scene's iteration that was run again.
void Runner::check_rerun(const Trajectory& t, double loss) const {
    if (t.scene == now_.scene || t.iteration < 0) return;
    double before = 0;
    {
        const Lock lock(shared_.mutex);
        const IterationInfo* const row = row_of(t.iteration);
        if (row == nullptr) return;
        before = row->loss;
    }
    if (loss != before && !(std::isnan(loss) && std::isnan(before)))
        throw changed_outside("iteration " + std::to_string(t.iteration) + " has another loss now");
}

// What cannot be run again is not shown.
void Runner::forget(std::int64_t iteration) {
    const Lock lock(shared_.mutex);
    if (shared_.wanted_iteration == iteration) shared_.wanted_iteration.reset();
    if (shared_.wanted_ghost == iteration) shared_.wanted_ghost.reset();
    shared_.trajectories.erase(iteration);
    shared_.mark_changed();
}

void Runner::drop_older() {
    if (!older_) return;
    std::erase_if(between_, [&](const Between& b) { return b.of->scene == older_->scene; });
    forget_arrays();
    {
        const Lock lock(shared_.mutex);
        shared_.gradient_memory.erase(older_->scene);
        shared_.draft.older_simulation_bytes = 0;
        shared_.mark_changed();
    }
    older_.reset();
}

void Runner::drop_unused_older() {
    if (!older_) return;
    {
        const Lock lock(shared_.mutex);
        const auto is_of_it = [&](const TrajectoryPointer& t) {
            return t && t->scene == older_->scene;
        };
        const SceneRevisionPointer ghost =
            shared_.wanted_ghost ? shared_.scene_revision_of(*shared_.wanted_ghost) : nullptr;
        if (shared_.wanted_scene() == older_->scene || is_of_it(shared_.shown) ||
            (ghost && ghost->scene == older_->scene && shared_.draft.ghost_problem.empty()))
            return;
    }
    drop_older();
}

// Of older scenes as many are kept as fit into their part of the memory, the newest first. Under
// the shared lock.
void Runner::bound_older_scenes() {
    const std::int64_t most = options_.frame_memory / share_of_older_scenes;
    std::set<const void*> counted;
    std::int64_t bytes = 0;
    bool full = false;
    const SceneRevision* last = nullptr;
    for (std::size_t k = shared_.rows.size(); k-- > 0;) {
        SceneRevisionPointer& scene_revision = shared_.scene_revisions[k];
        if (!scene_revision || scene_revision->scene == now_.scene) continue;
        if (!full && scene_revision.get() == last) continue;
        last = scene_revision.get();
        std::int64_t more = 0;
        const auto add = [&](const void* what, std::int64_t size) {
            if (counted.insert(what).second) more += size;
        };
        add(scene_revision->scene.get(), scene_revision->scene->bytes());
        for (const auto& document : {scene_revision->document, scene_revision->scene->document})
            add(document.get(), scene_revision->document_bytes);
        for (const SharedValues& numbers : *scene_revision->base)
            add(numbers.get(), static_cast<std::int64_t>(numbers->size() * sizeof(double)));
        full = full || bytes + more > most;
        if (full) {
            scene_revision = nullptr;
            shared_.rows[k].can_show = false;
            shared_.trajectories.erase(shared_.rows[k].iteration);
        } else {
            bytes += more;
        }
    }
    shared_.draft.older_scene_bytes = bytes;
    if (shared_.wanted_ghost && !shared_.scene_revision_of(*shared_.wanted_ghost)) {
        shared_.log(LogLine::Level::warning,
                    "the ghost of iteration " + std::to_string(*shared_.wanted_ghost) +
                        " is gone: the memory of frames has no room for its scene any more");
        shared_.wanted_ghost.reset();
    }
    shared_.rows_changed = true;
}

Runner::ToolInput Runner::tool_input() const {
    const Lock lock(shared_.mutex);
    const TrajectoryPointer& t = shared_.shown ? shared_.shown : shared_.current;
    if (t && t->parameters) {
        const SceneRevisionPointer scene_revision = shared_.scene_revision_of(t->iteration);
        if (scene_revision && scene_revision->scene == t->scene)
            return {scene_revision->document, t->parameters};
        if (t->scene == now_.scene) return {document_, t->parameters};
    }
    return {document_, values_};
}

}  // namespace hindcast::session
