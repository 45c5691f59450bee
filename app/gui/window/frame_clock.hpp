// The time of the window's frames in s: the machine's, or without a screen the time that calls let go
// by.
#pragma once

#include <chrono>
#include <utility>

namespace hindcast::gui {

class FrameClock {
public:
    explicit FrameClock(bool has_screen) : has_screen_(has_screen) {}

    double now() const {
        if (!has_screen_) return passed_;
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
    // Without a screen: so much time goes by.
    void pass(double seconds) { passed_ += seconds; }
    // Without a screen: the time that has gone by since the last call.
    double take_passed() { return passed_ - std::exchange(taken_, passed_); }

private:
    bool has_screen_ = true;
    double passed_ = 0, taken_ = 0;
};

}  // namespace hindcast::gui
