#include "app/session/threads/playback/cursor.hpp"

#include <algorithm>
#include <cmath>

namespace hindcast::session {

namespace {

using namespace std::chrono_literals;
constexpr auto measure_interval = 500ms;  // of the speed
constexpr double longest_stall = 0.25;    // s; if a frame takes longer, no more time is caught up
constexpr double longest_replay = 1;      // s, of a complete run as fast as possible

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

double fitting_speed(double duration) {
    constexpr double wanted = 4;         // s
    constexpr double second = 1 - 1e-9;  // 30 steps of 1/30 s are one
    if (!(duration > 0) || duration >= second) return 1;
    const double exact = duration / wanted, decade = std::pow(10, std::floor(std::log10(exact)));
    double best = decade;
    for (const double digit : {2.0, 5.0, 10.0})  // next in the logarithm
        if (std::abs(std::log(digit * decade / exact)) < std::abs(std::log(best / exact)))
            best = digit * decade;
    return best;
}

void Cursor::play(bool on) {
    if (on && !playing_ && shared_.shown && shared_.shown->complete &&
        cursor_ >= static_cast<double>(shared_.shown->steps_done()))
        cursor_ = 0;
    playing_ = on;
    ticked_ = measured_since_ = Clock::now();
    measured_steps_ = 0;
    shared_.draft.run.speed_measured = 0;
}

void Cursor::seek(std::int64_t step) {
    follow_scene();
    const SceneInfoPointer scene = shared_.wanted_scene();
    const std::int64_t most = scene ? scene->steps : 0;
    cursor_ = static_cast<double>(std::clamp<std::int64_t>(step, 0, most));
}

void Cursor::step_by(std::int64_t steps) {
    playing_ = false;
    if (!shared_.shown) return;
    const FramePointer here = shared_.shown->frame_at(step_in(*shared_.shown->scene));
    if (!here) return;
    // A complete run can be shown at every step.
    if (shared_.shown->complete) return seek(step() + steps);
    const std::int64_t wanted = here->step + steps;
    if (steps < 0) return seek(wanted);
    // The first kept frame there or after it.
    const auto& frames = shared_.shown->frames;
    const auto at =
        std::lower_bound(frames.begin(), frames.end(), wanted,
                         [](const FramePointer& f, std::int64_t s) { return f->step < s; });
    seek(at == frames.end() ? wanted : (*at)->step);
}

void Cursor::set_speed(double seconds_per_second) {
    speed_ = std::isfinite(seconds_per_second) ? std::max(seconds_per_second, 0.0) : 1.0;
}

std::int64_t Cursor::step_in(const SceneInfo& scene) const {
    return same_moment(step(), cursor_seconds_, scene);
}

void Cursor::follow_scene() {
    const SceneInfoPointer scene = shared_.wanted_scene();
    if (!scene || scene->step_seconds == cursor_seconds_) return;
    if (cursor_seconds_ > 0) cursor_ = static_cast<double>(step_in(*scene));
    cursor_seconds_ = scene->step_seconds;
}

void Cursor::follow_newest(const Trajectory& growing) {
    cursor_seconds_ = growing.scene->step_seconds;
    cursor_ = static_cast<double>(growing.steps_done());
}

void Cursor::publish() {
    if (shared_.time.step == step() && shared_.time.step_seconds == cursor_seconds_ &&
        shared_.time.stands_still != playing_)
        return;
    shared_.time.step = step();
    shared_.time.step_seconds = cursor_seconds_;
    shared_.time.stands_still = !playing_;
    shared_.changed = true;
    if (shared_.time.stands_still) shared_.wake_runner();
}

// A run that grows is shown at its newest frame. A complete run is played in real time or faster,
// in a second at most, and each time another frame is shown.
double Cursor::fastest(const Trajectory& t, double passed) const {
    const auto reached = static_cast<double>(t.steps_done());
    if (!t.complete) return std::max(cursor_, reached);
    const double steps_per_second = std::max(1 / cursor_seconds_, reached / longest_replay);
    return cursor_ + std::max(std::min(passed, longest_stall) * steps_per_second,
                              static_cast<double>(t.every));
}

void Cursor::move(Clock::time_point now) {
    const double passed = seconds(now - ticked_);
    ticked_ = now;
    if (!playing_ || shared_.mouse_pull || !shared_.shown || !shared_.scene) return;
    const Trajectory& t = *shared_.shown;
    if (t.scene->step_seconds != cursor_seconds_) return;  // a run with other steps comes
    const double before = cursor_, reached = static_cast<double>(t.steps_done());
    cursor_ = speed_ > 0 ? cursor_ + std::min(passed, longest_stall) * speed_ / cursor_seconds_
                         : fastest(t, passed);
    bool wrapped = false;
    if (cursor_ >= reached) {
        if (t.complete && repeat_ && reached > 0 && before >= reached) {
            cursor_ = 0;
            wrapped = true;
        } else {
            cursor_ = t.complete ? reached : std::max(before, reached);
            if (t.complete && !repeat_) playing_ = false;
        }
    }
    measure_speed(wrapped ? 0 : cursor_ - before, now);
    shared_.changed = true;
}

void Cursor::measure_speed(double steps, Clock::time_point now) {
    measured_steps_ += steps;
    const Clock::duration span = now - measured_since_;
    if (span < measure_interval) return;
    shared_.draft.run.speed_measured = measured_steps_ * cursor_seconds_ / seconds(span);
    measured_since_ = now;
    measured_steps_ = 0;
}

}  // namespace hindcast::session
