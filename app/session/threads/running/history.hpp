// The rows of the optimization's history (SharedHistory), and for each row the scene that it was
// run with (SceneRevision). Both are bounded: old rows are thinned out, old numbers and old scenes
// are dropped.
//
// Losses are compared within one epoch. An edit that changes the loss begins another. A document
// that is gone back to (undo, a branch from an older iteration) gets the scene and the epoch that
// it had, so that its iterations are those of the scene as it is now.
#pragma once

#include "app/session/threads/running/runner_state.hpp"

namespace hindcast::session {

class History {
public:
    explicit History(RunnerState& state) : state_(state), shared_(state.shared) {}

    std::int64_t epoch() const { return epoch_; }
    // The scene of the next rows, as it is now.
    SceneRevisionPointer revision();
    // The newest scene of the history that was read from this document to the same numbers; null if
    // there is none.
    SceneRevisionPointer known_revision(const SceneInfo& next, const document::Document& document,
                                        const std::vector<SharedValues>& base) const;
    // Another scene runs now. `known`: the one of the history that it is; null: a new one.
    void change_scene(const SceneRevisionPointer& known) {
        epoch_ = known ? known->epoch : ++epochs_;
    }

    // The following are called under the shared lock.
    // Appends a row, and drops old rows and numbers beyond the bounds.
    void add(IterationInfo row, const SceneRevisionPointer& revision);
    void clear();
    // Numbers were edited in place: finds the epoch of their loss, and enters it if it is another.
    void follow_numbers();
    // Results about the loss of the epoch before are not shown any more.
    void enter_epoch();
    void bound_older_scenes();

private:
    std::int64_t epoch_of_numbers();
    void note_best(const IterationInfo& row);
    bool is_looked_at(std::int64_t iteration) const;
    void thin_rows();
    void bound_rows();

    RunnerState& state_;
    SharedState& shared_;
    std::int64_t epoch_ = 0, epochs_ = 0;  // the present one; so many so far
    SceneRevisionPointer revision_;        // of the next rows; null: not made yet
};

}  // namespace hindcast::session
