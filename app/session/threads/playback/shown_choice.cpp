#include "app/session/threads/playback/shown_choice.hpp"

#include <algorithm>
#include <iterator>

namespace hindcast::session {

bool ShownChoice::find_kept(std::int64_t& iteration) {
    auto known =
        std::ranges::upper_bound(shared_.history.rows, iteration, {}, &IterationInfo::iteration);
    const bool there =
        known != shared_.history.rows.begin() && iteration <= shared_.history.last_iteration();
    if (there && std::prev(known)->can_show) {
        iteration = std::prev(known)->iteration;
        return true;
    }
    shared_.log(LogLine::Level::warning,
                there ? "iteration " + std::to_string(iteration) +
                            " cannot be shown: the memory of frames has no room for its scene "
                            "or its parameters any more"
                      : "there is no iteration " + std::to_string(iteration));
    return false;
}

void ShownChoice::want_iteration(std::optional<std::int64_t> iteration) {
    if (iteration && !find_kept(*iteration)) return;
    shared_.wanted.iteration = iteration;
    shared_.wake_runner();
}

void ShownChoice::want_ghost(std::optional<std::int64_t> iteration) {
    if (iteration && !find_kept(*iteration)) return;
    unfit_ghost_said_ = false;
    shared_.wanted.ghost = iteration;
    shared_.wake_runner();
}

void ShownChoice::choose(Clock::time_point now) {
    if (shared_.rewind) {  // another scene
        shared_.rewind = false;
        cursor_.rewind();
        shared_.shown = nullptr;
    }
    if (shared_.mouse_pull) return follow_mouse();
    cursor_.follow_scene();
    const TrajectoryPointer target = shared_.wanted_trajectory();
    if (target != target_) {
        target_ = target;
        target_since_ = now;
    }
    if (target && target != shared_.shown && !target->frames.empty() &&
        (!shared_.shown || target->reaches(cursor_.step()) ||
         now - target_since_ >= longest_wait)) {
        shared_.shown = target;
        shared_.wake_runner();  // it may have kept something for the trajectory shown before
    }
    choose_ghost();
}

// The trajectory that is pulled on is shown as it is computed.
void ShownChoice::follow_mouse() {
    if (!shared_.mouse_pull || !shared_.mouse_pull->live) return;
    shared_.shown = target_ = shared_.mouse_pull->trajectory;
    cursor_.follow_newest(*target_);
}

void ShownChoice::choose_ghost() {
    shared_.ghost = nullptr;
    shared_.draft.optimization.ghost_problem.clear();
    if (!shared_.wanted.ghost) {
        ghost_check_ = {};
        return;
    }
    const SceneRevisionPointer revision = shared_.history.revision_of(*shared_.wanted.ghost);
    const SceneInfoPointer shown = shared_.shown ? shared_.shown->scene : shared_.scene;
    if (!revision || !shown) return;
    if (ghost_check_.shown != shown || ghost_check_.ghost != revision->scene)
        ghost_check_ = {shown, revision->scene,
                        revision->scene == shown ||
                            ghost_fits(*shown->plan.stage, *revision->scene->plan.stage)};
    if (ghost_check_.fits) {
        shared_.ghost = shared_.trajectories.find(*shared_.wanted.ghost);
        return;
    }
    shared_.draft.optimization.ghost_problem = "the scene that is shown has other moving things";
    if (unfit_ghost_said_) return;
    unfit_ghost_said_ = true;
    shared_.log(LogLine::Level::warning,
                "the ghost of iteration " + std::to_string(*shared_.wanted.ghost) +
                    " cannot be drawn: " + shared_.draft.optimization.ghost_problem);
}

}  // namespace hindcast::session
