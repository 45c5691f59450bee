// The session's reports: its activity, its last failure and its log.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.hpp"

namespace hindcast::session {

enum class Activity : std::uint8_t { empty, building, idle, simulating, optimizing, stopping };

struct LogLine {
    enum class Level : std::uint8_t { information, warning, error } level = Level::information;
    std::string text;
    double seconds = 0;  // since the session started
};

struct ReportsSnapshot {
    Activity activity = Activity::empty;
    std::string activity_text;           // "compiling 12 kernels", "iteration 7 of 30"
    double progress = -1;                // 0 .. 1; -1: unknown
    std::shared_ptr<const Error> error;  // the last failure; null after a success
    std::shared_ptr<const std::vector<LogLine>> log;
};

}  // namespace hindcast::session
