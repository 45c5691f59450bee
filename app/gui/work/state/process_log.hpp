// The log of the process, for the log panel: everything that goes through base/log.hpp and so to
// the error stream (warnings, notes, messages of Vulkan's validation layers), and errors that the
// window has shown.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "app/session/link/reports.hpp"

namespace hindcast::gui {

class ProcessLog {
public:
    // Receives the process's log while it lives; of several the newest one does.
    ProcessLog();
    ~ProcessLog();
    ProcessLog(const ProcessLog&) = delete;
    ProcessLog& operator=(const ProcessLog&) = delete;

    // From any thread. A repetition of the last line is dropped; beyond a bound, so are old lines.
    void add(session::LogLine::Level level, const std::string& text);
    // Oldest first; seconds since the log was made.
    std::vector<session::LogLine> lines() const;
    std::uint64_t serial() const;  // grows with each line

private:
    mutable std::mutex mutex_;
    std::vector<session::LogLine> lines_;
    std::uint64_t serial_ = 0;
    double begun_ = 0;
};

}  // namespace hindcast::gui
