// Scenes before an edit. When a new simulation takes over, the iterations of the older scene keep
// the document they were run with (Edition). Where one is to be shown again, a second simulation is
// built of it; at most one such other is there at a time, and it goes when nothing of it is looked
// at any more. Its trajectories lie in the library beside the others, within the same bound.
//
// A document that is gone back to (undo, a branch from an older iteration) gets the world that it
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

constexpr std::int64_t share_of_frame_memory = 8;  // older scenes may take that part

Error changed_outside(const std::string& what) {
    return Error(what + ": a file that the older scene reads has changed since")
        .remedy("put that file back as it was");
}

}  // namespace

// Of the rows that come.
EditionPointer Runner::edition() {
    if (edition_ && edition_->world == now_.world && edition_->document == document_ &&
        edition_->base == base_ && edition_->epoch == epoch_)
        return edition_;
    auto made = std::make_shared<Edition>();
    made->epoch = epoch_;
    made->world = now_.world;
    made->document = document_;
    made->document_bytes = static_cast<std::int64_t>(document_->to_text().size());
    made->base = base_;
    edition_ = std::move(made);
    return edition_;
}

// The one of rows that were run with this document, if the scene was read from it to the same
// numbers; null if there is none. The newest is preferred.
EditionPointer Runner::known_edition(const World& next, const document::Document& document,
                                     const std::vector<Numbers>& base) const {
    std::vector<EditionPointer> all;
    {
        const Lock lock(desk_.mutex);
        for (const EditionPointer& e : desk_.editions)
            if (e && (all.empty() || all.back() != e)) all.push_back(e);
    }
    const auto same_numbers = [](const Numbers& a, const Numbers& b) { return *a == *b; };
    const auto found = std::find_if(all.rbegin(), all.rend(), [&](const EditionPointer& e) {
        return compare(*e->document, document, {}).nothing && same_shape(*e->world, next) &&
               std::ranges::equal(*e->base, base, same_numbers);
    });
    return found == all.rend() ? nullptr : *found;
}

Built& Runner::built_for(const WorldPointer& world) {
    if (world == now_.world) return now_;
    if (older_ && older_->world == world) return *older_;
    drop_older();
    set_activity(Activity::building, "building the scene before the edit");
    Built built;
    built.simulation = std::make_unique<Simulation>(Scene::of(*world->document, file_), registry_,
                                                    options_.simulation);
    built.world = world;
    if (!same_shape(*make_world(*built.simulation), *world))
        throw changed_outside("the scene before the edit cannot be built again");
    built.loaded = *numbers_of(*built.simulation);
    older_ = std::move(built);
    std::int64_t bytes = 0;
    for (const auto& [name, published] : older_->simulation->model().arrays())
        bytes += static_cast<std::int64_t>(published.array.bytes());
    const Lock lock(desk_.mutex);
    desk_.draft.older_simulation_bytes = bytes;
    desk_.mark();
    return *older_;
}

// Of an older scene's iteration that was run again.
void Runner::check_rerun(const Trajectory& t, double loss) const {
    if (t.world == now_.world || t.iteration < 0) return;
    double before = 0;
    {
        const Lock lock(desk_.mutex);
        const IterationInfo* const row = row_of(t.iteration);
        if (row == nullptr) return;
        before = row->loss;
    }
    if (loss != before && !(std::isnan(loss) && std::isnan(before)))
        throw changed_outside("iteration " + std::to_string(t.iteration) + " has another loss now");
}

// What cannot be run again is not shown.
void Runner::forget(std::int64_t iteration) {
    const Lock lock(desk_.mutex);
    if (desk_.wanted_iteration == iteration) desk_.wanted_iteration.reset();
    if (desk_.wanted_ghost == iteration) desk_.wanted_ghost.reset();
    desk_.library.erase(iteration);
    desk_.mark();
}

void Runner::drop_older() {
    if (!older_) return;
    std::erase_if(between_, [&](const Between& b) { return b.of->world == older_->world; });
    forget_arrays();
    {
        const Lock lock(desk_.mutex);
        desk_.gradient_memory.erase(older_->world);
        desk_.draft.older_simulation_bytes = 0;
        desk_.mark();
    }
    older_.reset();
}

void Runner::drop_unused_older() {
    if (!older_) return;
    {
        const Lock lock(desk_.mutex);
        const auto is_of_it = [&](const TrajectoryPointer& t) {
            return t && t->world == older_->world;
        };
        const EditionPointer ghost =
            desk_.wanted_ghost ? desk_.edition_of(*desk_.wanted_ghost) : nullptr;
        if (desk_.wanted_world() == older_->world || is_of_it(desk_.shown) ||
            (ghost && ghost->world == older_->world && desk_.draft.ghost_problem.empty()))
            return;
    }
    drop_older();
}

// Of older scenes as many are kept as fit into their part of the memory, the newest first. Under
// the desk's lock.
void Runner::bound_older_scenes() {
    const std::int64_t most = options_.frame_memory / share_of_frame_memory;
    std::set<const void*> counted;
    std::int64_t bytes = 0;
    bool full = false;
    const Edition* last = nullptr;
    for (std::size_t k = desk_.rows.size(); k-- > 0;) {
        EditionPointer& edition = desk_.editions[k];
        if (!edition || edition->world == now_.world) continue;
        if (!full && edition.get() == last) continue;
        last = edition.get();
        std::int64_t more = 0;
        const auto add = [&](const void* what, std::int64_t size) {
            if (counted.insert(what).second) more += size;
        };
        add(edition->world.get(), edition->world->bytes());
        for (const auto& document : {edition->document, edition->world->document})
            add(document.get(), edition->document_bytes);
        for (const Numbers& numbers : *edition->base)
            add(numbers.get(), static_cast<std::int64_t>(numbers->size() * sizeof(double)));
        full = full || bytes + more > most;
        if (full) {
            edition = nullptr;
            desk_.rows[k].can_show = false;
            desk_.library.erase(desk_.rows[k].iteration);
        } else {
            bytes += more;
        }
    }
    desk_.draft.older_scene_bytes = bytes;
    if (desk_.wanted_ghost && !desk_.edition_of(*desk_.wanted_ghost)) {
        desk_.say(LogLine::Level::warning,
                  "the ghost of iteration " + std::to_string(*desk_.wanted_ghost) +
                      " is gone: the memory of frames has no room for its scene any more");
        desk_.wanted_ghost.reset();
    }
    desk_.rows_changed = true;
}

Runner::Subject Runner::subject() const {
    const Lock lock(desk_.mutex);
    const TrajectoryPointer& t = desk_.shown ? desk_.shown : desk_.current;
    if (t && t->parameters) {
        const EditionPointer edition = desk_.edition_of(t->iteration);
        if (edition && edition->world == t->world) return {edition->document, t->parameters};
        if (t->world == now_.world) return {document_, t->parameters};
    }
    return {document_, values_};
}

}  // namespace hindcast::session
