// One spdlog logger, made on first use and never destroyed, so that threads may log until the end.
#include "engine/base/log.hpp"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/base/text/shorten.hpp"

namespace hindcast {

namespace {

std::atomic<LogLevel> current_level{LogLevel::info};

struct Output {
    std::mutex mutex;  // keeps the listener and the error stream in the same order
    spdlog::logger logger{"hindcast", std::make_shared<spdlog::sinks::stderr_color_sink_st>()};
    std::function<void(LogLevel, std::string_view)> listener;

    Output() {
        logger.set_level(spdlog::level::trace);
        logger.set_pattern("%v");
    }
};

Output& output() {
    static Output* const instance = new Output;
    return *instance;
}

void print(spdlog::logger& logger, LogLevel level, const std::string& text) {
    // Plain text for what is expected, a colored word before what needs attention.
    switch (level) {
        case LogLevel::debug: logger.set_pattern("debug: %v"); break;
        case LogLevel::info: logger.set_pattern("%v"); break;
        case LogLevel::warning: logger.set_pattern("%^warning:%$ %v"); break;
        default: logger.set_pattern("%^error:%$ %v"); break;
    }
    constexpr spdlog::level::level_enum levels[] = {spdlog::level::debug, spdlog::level::info,
                                                    spdlog::level::warn, spdlog::level::err,
                                                    spdlog::level::err};
    logger.log(levels[static_cast<int>(level)], spdlog::string_view_t(text));
    logger.flush();
}

}  // namespace

void set_log_level(LogLevel level) { current_level.store(level, std::memory_order_relaxed); }

LogLevel log_level() { return current_level.load(std::memory_order_relaxed); }

void set_log_listener(std::function<void(LogLevel, std::string_view)> listener) {
    const std::lock_guard lock(output().mutex);
    output().listener = std::move(listener);
}

void log(LogLevel level, fmt::string_view format, fmt::format_args arguments) {
    if (level < log_level() || level == LogLevel::silent) return;
    const std::string text = shortened(fmt::vformat(format, arguments));
    Output& out = output();
    const std::lock_guard lock(out.mutex);
    print(out.logger, level, text);
    if (out.listener) out.listener(level, text);
}

}  // namespace hindcast
