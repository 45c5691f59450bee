#include "app/session/threads/running/history.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "app/session/document/compare.hpp"

namespace hindcast::session {

namespace {

// Parameters and gradients of rows may take this part of the memory of frames, older scenes
// another.
constexpr std::int64_t share_of_rows = 8;
constexpr std::int64_t share_of_older_scenes = 8;

std::int64_t bytes_of(const SharedValues& numbers) {
    return numbers ? static_cast<std::int64_t>(numbers->size() * sizeof(double)) : 0;
}

}  // namespace

SceneRevisionPointer History::revision() {
    if (revision_ && revision_->scene == state_.now.scene &&
        revision_->document == state_.document && revision_->base == state_.base &&
        revision_->epoch == epoch_)
        return revision_;
    auto made = std::make_shared<SceneRevision>();
    made->epoch = epoch_;
    made->scene = state_.now.scene;
    made->document = state_.document;
    made->document_bytes = static_cast<std::int64_t>(state_.document->to_text().size());
    made->base = state_.base;
    revision_ = std::move(made);
    return revision_;
}

SceneRevisionPointer History::known_revision(const SceneInfo& next,
                                             const document::Document& document,
                                             const std::vector<SharedValues>& base) const {
    std::vector<SceneRevisionPointer> all;
    {
        const Lock lock(shared_.mutex);
        for (const SceneRevisionPointer& e : shared_.history.revisions)
            if (e && (all.empty() || all.back() != e)) all.push_back(e);
    }
    const auto same_numbers = [](const SharedValues& a, const SharedValues& b) { return *a == *b; };
    const auto found = std::find_if(all.rbegin(), all.rend(), [&](const SceneRevisionPointer& e) {
        return compare(*e->document, document, {}).nothing && same_shape(*e->scene, next) &&
               std::ranges::equal(*e->base, base, same_numbers);
    });
    return found == all.rend() ? nullptr : *found;
}

// Rows with the same numbers, apart from the parameters', have the same loss, so their epoch is
// this one too. A new epoch if there are none.
std::int64_t History::epoch_of_numbers() {
    const auto same = [this](const SceneRevision& e) {
        if (e.scene != state_.now.scene) return false;
        for (std::size_t q = 0; q < state_.base->size(); ++q)
            if ((*e.base)[q] != (*state_.base)[q] &&
                state_.now.scene->values_of(q, *e.base, state_.values) !=
                    state_.now.scene->values_of(q, *state_.base, state_.values))
                return false;
        return true;
    };
    const SceneRevision* last = nullptr;
    for (std::size_t k = shared_.history.revisions.size(); k-- > 0;) {
        const SceneRevision* const e = shared_.history.revisions[k].get();
        if (e == nullptr || e == last) continue;
        if (same(*e)) return e->epoch;
        last = e;
    }
    return ++epochs_;
}

void History::follow_numbers() {
    const std::int64_t epoch = epoch_of_numbers();
    if (epoch == epoch_) return;
    epoch_ = epoch;
    enter_epoch();
}

void History::enter_epoch() {
    Snapshot& s = shared_.draft;
    s.scene.epoch = epoch_;
    s.optimization.best_iteration = -1;
    for (const IterationInfo& row : shared_.history.rows)
        if (row.epoch == epoch_) note_best(row);
    s.tools.forget_loss();
    shared_.note_stop("");
}

// Makes the row the best one if it has the lowest loss of its epoch.
void History::note_best(const IterationInfo& row) {
    std::int64_t& best = shared_.draft.optimization.best_iteration;
    const IterationInfo* const before = shared_.history.row_of(best);
    if (!std::isfinite(row.loss)) return;
    if (before == nullptr || before->epoch != epoch_ || row.loss < before->loss)
        best = row.iteration;
}

void History::add(IterationInfo row, const SceneRevisionPointer& revision) {
    row.epoch = epoch_;
    note_best(row);
    shared_.draft.memory.iteration_bytes += bytes_of(row.parameters) + bytes_of(row.gradient);
    shared_.history.rows.push_back(std::move(row));
    shared_.history.revisions.push_back(revision);
    thin_rows();
    bound_rows();
}

void History::clear() {
    shared_.trajectories.clear();
    shared_.wanted.ghost.reset();
    shared_.history.rows.clear();
    shared_.draft.memory.iteration_bytes = 0;
    shared_.history.revisions.clear();
}

// True for rows that the user looks at: these are never dropped.
bool History::is_looked_at(std::int64_t iteration) const {
    return iteration == shared_.draft.optimization.best_iteration ||
           iteration == shared_.wanted.iteration || iteration == shared_.wanted.ghost ||
           (shared_.shown && shared_.shown->iteration == iteration);
}

// Drops every second row once there are too many: so the older rows are, the wider are the gaps
// between them. The first and the best of each epoch stay, and the last of all.
void History::thin_rows() {
    std::vector<IterationInfo>& rows = shared_.history.rows;
    if (static_cast<std::int64_t>(rows.size()) <= state_.options.most_iterations) return;
    std::map<std::int64_t, std::pair<double, std::int64_t>> best;  // loss, iteration; by epoch
    for (const IterationInfo& row : rows) {
        const auto [at, first] = best.try_emplace(row.epoch, row.loss, row.iteration);
        if (!first && std::isfinite(row.loss) && !(at->second.first <= row.loss))
            at->second = {row.loss, row.iteration};
    }
    std::size_t kept = 0;
    bool goes = false;
    std::int64_t epoch = -1;  // of the row before
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const bool stays =
            rows[k].epoch != std::exchange(epoch, rows[k].epoch) || k + 1 == rows.size() ||
            best.at(rows[k].epoch).second == rows[k].iteration || is_looked_at(rows[k].iteration);
        if (!stays) goes = !goes;
        if (!stays && goes) {
            shared_.draft.memory.iteration_bytes -=
                bytes_of(rows[k].parameters) + bytes_of(rows[k].gradient);
            shared_.trajectories.erase(rows[k].iteration);
            continue;
        }
        if (kept != k) {
            rows[kept] = std::move(rows[k]);
            shared_.history.revisions[kept] = std::move(shared_.history.revisions[k]);
        }
        ++kept;
    }
    rows.resize(kept);
    shared_.history.revisions.resize(kept);
}

// Bounds the memory of parameters and gradients. Gradients of the older half go first; they are
// computed again for a row that is shown. Then the parameters of every second row go, which cannot
// be shown any more. The first, the best and the last row and those looked at keep theirs.
void History::bound_rows() {
    const std::int64_t most = state_.options.frame_memory / share_of_rows;
    std::int64_t& bytes = shared_.draft.memory.iteration_bytes;
    const std::size_t count = shared_.history.rows.size();
    const auto release = [&](SharedValues& numbers) {
        bytes -= bytes_of(numbers);
        numbers = nullptr;
    };
    for (std::size_t k = 0; bytes > most && k < count / 2; ++k)
        release(shared_.history.rows[k].gradient);
    if (bytes <= most) return;
    bool goes = false;
    for (std::size_t k = 1; k + 1 < count; ++k) {
        IterationInfo& row = shared_.history.rows[k];
        if (!row.parameters || is_looked_at(row.iteration)) continue;
        goes = !goes;
        if (!goes) continue;
        release(row.parameters);
        release(row.gradient);
        row.can_show = false;
        row.frames_kept = false;
        shared_.history.revisions[k] = nullptr;
        shared_.trajectories.erase(row.iteration);
    }
    shared_.history.changed = true;
}

// Keeps as many older scenes as fit into their part of the memory, the newest first.
void History::bound_older_scenes() {
    const std::int64_t most = state_.options.frame_memory / share_of_older_scenes;
    std::set<const void*> counted;
    std::int64_t bytes = 0;
    bool full = false;
    const SceneRevision* last = nullptr;
    for (std::size_t k = shared_.history.rows.size(); k-- > 0;) {
        SceneRevisionPointer& revision = shared_.history.revisions[k];
        if (!revision || revision->scene == state_.now.scene) continue;
        if (!full && revision.get() == last) continue;
        last = revision.get();
        std::int64_t more = 0;
        const auto add = [&](const void* what, std::int64_t size) {
            if (counted.insert(what).second) more += size;
        };
        add(revision->scene.get(), revision->scene->bytes());
        for (const auto& document : {revision->document, revision->scene->document})
            add(document.get(), revision->document_bytes);
        for (const SharedValues& numbers : *revision->base)
            add(numbers.get(), static_cast<std::int64_t>(numbers->size() * sizeof(double)));
        full = full || bytes + more > most;
        if (full) {
            revision = nullptr;
            shared_.history.rows[k].can_show = false;
            shared_.trajectories.erase(shared_.history.rows[k].iteration);
        } else {
            bytes += more;
        }
    }
    shared_.draft.memory.older_scene_bytes = bytes;
    if (shared_.wanted.ghost && !shared_.history.revision_of(*shared_.wanted.ghost)) {
        shared_.log(LogLine::Level::warning,
                    "the ghost of iteration " + std::to_string(*shared_.wanted.ghost) +
                        " is gone: the memory of frames has no room for its scene any more");
        shared_.wanted.ghost.reset();
    }
    shared_.history.changed = true;
}

}  // namespace hindcast::session
