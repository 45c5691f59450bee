// The session as the window sees it: its newest snapshot, and commands to it. Nothing here waits for
// the simulation.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "app/session/session.hpp"

namespace hindcast::gui {

// The connection to the session.
struct SessionLink {
    std::function<void(session::Command)> send;
    std::function<std::shared_ptr<const session::Snapshot>()> snapshot;
};

class Running {
public:
    explicit Running(SessionLink link);

    // The snapshot of this frame.
    const session::Snapshot& now() const { return *snapshot_; }
    void update();  // takes the newest snapshot
    void send(session::Command command) { link_.send(std::move(command)); }

    bool has_run() const { return now().scene.stage != nullptr; }
    // True also while the optimization waits for an edit, to go on.
    bool is_optimizing() const {
        return now().reports.activity == session::Activity::optimizing ||
               now().optimization.live_waits;
    }
    // The iteration with the lowest loss of the scene as it is now; null: there is none.
    const session::IterationInfo* best_row() const;
    // True if there are ghosts where measured data say that robots were.
    bool has_measured() const;
    double shown_time() const {  // s, on the timeline
        return static_cast<double>(now().run.step) * now().run.step_seconds;
    }
    double duration() const {  // s, of a whole run
        return static_cast<double>(now().run.steps) * now().run.step_seconds;
    }

    void play(bool on);
    void set_speed(double seconds_per_second);  // 0: as fast as possible
    double speed() const { return speed_.value_or(now().run.speed_asked); }
    void optimize(session::Optimize::What what);

    bool looping = true;  // playing begins again at the end

private:
    SessionLink link_;
    std::shared_ptr<const session::Snapshot> snapshot_;
    std::optional<double> speed_;  // the requested speed, until the session has it
};

}  // namespace hindcast::gui
