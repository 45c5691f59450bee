// Messages for the person at the terminal. They go to the error stream, so that results on the
// output stream stay clean in a pipe.
//
//     log_info("compiled {} kernels in {:.1f} ms", count, time);
//
// The level is one per process, as the error stream is. Any thread may log. A listener (the log
// panel of the window, a test) sees every message that the level lets through.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <string_view>

namespace hindcast {

enum class LogLevel { debug, info, warning, error, silent };

// Messages below the level are dropped. The default is info; `--quiet` sets warning.
void set_log_level(LogLevel level);
LogLevel log_level();

// Called with the level and the text of each message, one at a time, on the thread that logs it; it
// must not log. An empty function removes it.
void set_log_listener(std::function<void(LogLevel, std::string_view)> listener);

void log(LogLevel level, fmt::string_view format, fmt::format_args arguments);

template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::debug, format, fmt::make_format_args(args...));
}

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::info, format, fmt::make_format_args(args...));
}

template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::warning, format, fmt::make_format_args(args...));
}

template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
    log(LogLevel::error, format, fmt::make_format_args(args...));
}

}  // namespace hindcast
