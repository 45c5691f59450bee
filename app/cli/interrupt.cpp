#include "app/cli/interrupt.hpp"

#include <signal.h>

#include <chrono>
#include <initializer_list>

#include "engine/base/stopped.hpp"

namespace hindcast::cli {

namespace {

volatile sig_atomic_t caught = 0, asked = 0;

void remember(int signal) {
    if (caught == 0) caught = signal;
    if (asked != 0) return;
    ::signal(signal, SIG_DFL);
    ::raise(signal);  // takes effect when this function returns
}

}  // namespace

void catch_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
        struct sigaction before {};
        ::sigaction(signal, nullptr, &before);
        if (signal == SIGHUP && before.sa_handler == SIG_IGN) continue;
        struct sigaction action {};
        action.sa_handler = remember;
        // Reset after the first, so that a second one works even if the program never asks. A
        // closed pipe is met with every line that is printed.
        action.sa_flags = SA_RESTART;
        if (signal != SIGPIPE) action.sa_flags |= static_cast<int>(SA_RESETHAND);
        ::sigaction(signal, &action, nullptr);
    }
    ::signal(SIGXFSZ, SIG_IGN);  // a file over its limit is an error of write()
}

bool interrupted() {
    asked = 1;
    return caught != 0;
}

void stop_if_interrupted() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds patience{60};  // for the end of a step or an iteration
    static Clock::time_point seen{};
    if (caught == 0) return;
    const Clock::time_point now = Clock::now();
    if (seen == Clock::time_point{}) seen = now;
    if (now - seen > patience) throw Stopped();
}

int interrupted_status() { return 128 + static_cast<int>(caught); }

bool pipe_is_closed() { return caught == SIGPIPE; }

}  // namespace hindcast::cli
