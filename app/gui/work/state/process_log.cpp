#include "app/gui/work/state/process_log.hpp"

#include <chrono>

#include "engine/base/log.hpp"

namespace hindcast::gui {

namespace {

using Level = session::LogLine::Level;

constexpr std::size_t most_lines = 20000;

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

ProcessLog::ProcessLog() : begun_(now()) {
    set_log_listener([this](LogLevel level, std::string_view text) {
        add(level == LogLevel::warning ? Level::warning
            : level == LogLevel::error ? Level::error
                                       : Level::information,
            std::string(text));
    });
}

ProcessLog::~ProcessLog() { set_log_listener({}); }

void ProcessLog::add(Level level, const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (!lines_.empty() && lines_.back().text == text && lines_.back().level == level) return;
    if (lines_.size() >= most_lines) lines_.erase(lines_.begin(), lines_.begin() + most_lines / 4);
    lines_.push_back({level, text, now() - begun_});
    ++serial_;
}

std::vector<session::LogLine> ProcessLog::lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
}

std::uint64_t ProcessLog::serial() const {
    const std::lock_guard lock(mutex_);
    return serial_;
}

}  // namespace hindcast::gui
