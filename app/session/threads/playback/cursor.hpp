// The time shown: it stands still, or moves through the kept frames in real time. It is a step of
// the scene that the user wants to see. If another scene with another time step is wanted, the time
// stays the same.
//
// All functions are called under the shared lock.
#pragma once

#include <cstdint>

#include "app/session/threads/shared/shared_state.hpp"

namespace hindcast::session {

class Cursor {
public:
    explicit Cursor(SharedState& shared) : shared_(shared) {}

    void play(bool on);
    void seek(std::int64_t step);
    void step_by(std::int64_t steps);
    void set_speed(double seconds_per_second);  // 0: as fast as possible
    void set_repeat(bool on) { repeat_ = on; }
    void rewind() { cursor_ = 0; }

    bool is_playing() const { return playing_; }
    double speed() const { return speed_; }
    std::int64_t step() const { return static_cast<std::int64_t>(cursor_); }
    std::int64_t step_in(const SceneInfo& scene) const;  // the step of that scene at this time

    void move(Clock::time_point now);
    void follow_scene();                            // the one that is wanted
    void follow_newest(const Trajectory& growing);  // to its last frame
    // Into the shared state, if it has moved. The runner is told where time stands still.
    void publish();

private:
    // The next position if playing is as fast as possible. `passed`: s since the last one.
    double fastest(const Trajectory& t, double passed) const;
    void measure_speed(double steps, Clock::time_point now);

    SharedState& shared_;
    bool playing_ = false, repeat_ = false;
    double speed_ = 1;
    double cursor_ = 0, cursor_seconds_ = 0;  // whole steps of this many seconds
    Clock::time_point ticked_, measured_since_;
    double measured_steps_ = 0;
};

}  // namespace hindcast::session
