// Chooses the trajectories that are shown: the one that the user wants to see, once it has come far
// enough, and the ghost, if it can be drawn on that scene.
//
// All functions are called under the shared lock.
#pragma once

#include <cstdint>
#include <optional>

#include "app/session/threads/playback/cursor.hpp"

namespace hindcast::session {

class ShownChoice {
public:
    // Then a trajectory is shown even if it is behind the cursor.
    static constexpr auto longest_wait = std::chrono::milliseconds(250);

    ShownChoice(SharedState& shared, Cursor& cursor) : shared_(shared), cursor_(cursor) {}

    // None: the newest iteration; no ghost. Instead of an iteration that was thinned out, the one
    // before it that was kept is shown. If there is none, a warning is logged and nothing changes.
    void want_iteration(std::optional<std::int64_t> iteration);
    void want_ghost(std::optional<std::int64_t> iteration);
    void choose(Clock::time_point now);
    // True if the trajectory that is wanted is not shown yet.
    bool waits() const { return target_ && target_ != shared_.shown; }

private:
    // The last check if a ghost of one scene can be drawn on another.
    struct GhostCheck {
        SceneInfoPointer shown, ghost;
        bool fits = true;
    };

    // Replaces an iteration that was thinned out by the one before it. False: neither can be shown.
    bool find_kept(std::int64_t& iteration);
    void choose_ghost();
    void follow_mouse();

    SharedState& shared_;
    Cursor& cursor_;
    TrajectoryPointer target_;  // the trajectory that is wanted
    Clock::time_point target_since_;
    GhostCheck ghost_check_;
    bool unfit_ghost_said_ = false;
};

}  // namespace hindcast::session
