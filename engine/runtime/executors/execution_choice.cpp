#include "engine/runtime/executors/execution_choice.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace hindcast {

namespace {
// Launches of less than this are worth compiling together, in seconds each.
constexpr double short_launch = 2e-6;
}  // namespace

double ExecutionChoice::now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void ExecutionChoice::took(double seconds) {
    ++launched;
    launches = std::min(launches, seconds);
}

void ExecutionChoice::called_once(double seconds) {
    function = std::min(function, seconds);
    if (++called == trials) choice = function < launches ? Choice::function : Choice::launches;
}

bool ExecutionChoice::is_long(std::int64_t launch_count) const {
    return launches > short_launch * static_cast<double>(std::max<std::int64_t>(launch_count, 1));
}

std::string ExecutionChoice::report() const {
    const auto microseconds = [](double seconds) {
        char text[32];
        std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
        return std::string(text);
    };
    const std::string times = called > 0 && launched > 0
                                  ? " (" + microseconds(function) + " against " +
                                        microseconds(launches) + " launch by launch)"
                                  : "";
    if (!refusal.empty()) return "launch by launch: " + refusal;
    if (choice == Choice::launches) return "launch by launch" + times;
    return program ? "one function" + times : "launch by launch: run a few times only";
}

}  // namespace hindcast
