// Waiting commands, and how soon they want the current run to stop. A run asks between two steps.
//
// A command that makes the run obsolete stops it at once. During an optimization an edit waits for
// the end of the row. An edit of a number also waits until the run of the edit before it is shown,
// so that the picture follows a number while it is dragged.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "app/session/threads/running/runner_state.hpp"

namespace hindcast::session {

enum class Interrupt : std::uint8_t { none, at_row, now };

class Interrupts {
public:
    // `serve`: work that is done between two steps of any run, when the runner is woken.
    Interrupts(RunnerState& state, std::function<void()> serve);

    // The waiting commands, in order; empty if there are none. Waits a moment for the run of the
    // last edit to be shown.
    std::deque<Command> take_commands();
    Interrupt check();
    bool stops_run() { return check() == Interrupt::now; }
    bool stops_row() { return check() != Interrupt::none; }
    // Work is chosen by the shared state as it is now. Call it under the shared lock.
    void begin_work();
    // Requests up to now are seen. Call it under the shared lock.
    void see_requests() { seen_ = shared_.runner_wakeups; }
    bool has_requests() const { return shared_.runner_wakeups != seen_; }
    // The current trajectory shows the last edit of a number. Call it under the shared lock.
    void note_edit();

    // While it lives, a run that nobody wants to see any more is stopped too. `is_wanted` is called
    // under the shared lock.
    class OnlyWhile {
    public:
        OnlyWhile(Interrupts& interrupts, std::function<bool()> is_wanted);
        ~OnlyWhile() { interrupts_.is_wanted_ = nullptr; }
        OnlyWhile(const OnlyWhile&) = delete;
        OnlyWhile& operator=(const OnlyWhile&) = delete;

    private:
        Interrupts& interrupts_;
    };

private:
    // These two: under the shared lock.
    bool edit_is_coming() const;
    void wait_for_shown_edit(Lock& lock);

    const RunnerState& state_;
    SharedState& shared_;
    std::function<void()> serve_;
    std::function<bool()> is_wanted_;  // of OnlyWhile; empty: always
    std::uint64_t seen_ = 0;           // SharedState::runner_wakeups when it was last read
    Interrupt interrupt_ = Interrupt::none;
    std::weak_ptr<Trajectory> edited_;  // the run that shows the last number edited
    Clock::time_point edited_at_;
    bool edit_waits_ = false;  // for that run
};

}  // namespace hindcast::session
