// Long work that can be ended from elsewhere, as by Ctrl-C in a script that waits for it.
//
//     const Interruptible here([] { if (asked) throw Stopped(); });   // for this thread, while it lives
//     ...
//     interruption_point();   // in the work: calls the innermost function, not too often
//
// Work is ended only where it leaves nothing half done: between kernels that are compiled, parts of a
// model that are built, steps of a run.
#pragma once

#include <chrono>
#include <functional>

namespace hindcast::backend {

class Interruptible {
public:
    // `ask` throws to end the work.
    explicit Interruptible(std::function<void()> ask);
    ~Interruptible();
    Interruptible(const Interruptible&) = delete;
    Interruptible& operator=(const Interruptible&) = delete;

private:
    friend void interruption_point();
    std::function<void()> ask_;
    std::chrono::steady_clock::time_point asked_{};
    Interruptible* outer_;
};

// True if somebody can end the work of this thread.
bool is_interruptible();
void interruption_point();

// While one lives, a thread is at work that the end of the process does not wait for: nothing is taken
// apart then that it may use.
class LeftBehind {
public:
    LeftBehind();
    ~LeftBehind();
    LeftBehind(const LeftBehind&) = delete;
    LeftBehind& operator=(const LeftBehind&) = delete;
};

// Runs `start`, which makes a thread, such that signals are for the threads that were there before.
void start_without_signals(const std::function<void()>& start);

// work() on a thread of its own, while this one waits at interruption points. If one throws, the
// other thread goes on to its end, so `work` must own everything it uses. A process that exits
// before does not wait for it. Without an interruption handler work() is called on this thread.
void run_interruptibly(std::function<void()> work);

}  // namespace hindcast::backend
