#include "app/cli/interrupt.hpp"

#include <signal.h>

#include <initializer_list>

namespace hindcast::cli {

namespace {

volatile sig_atomic_t caught = 0;

void remember(int signal) { caught = signal; }

}  // namespace

void catch_signals() {
    struct sigaction action {};
    action.sa_handler = remember;
    // Reset after the first, so that a second one works even if the program never asks.
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

bool interrupted() { return caught != 0; }

int interrupted_status() { return 128 + static_cast<int>(caught); }

}  // namespace hindcast::cli
