#include "app/cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "engine/base/log.hpp"

namespace hindcast::cli {

namespace {

constexpr int bar_width = 16;

bool on_terminal() {
    const char* term = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

std::size_t terminal_width() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

// A closed terminal must not stop the work.
void put(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
}

std::string clock_text(double seconds) {
    const std::int64_t whole = std::llround(std::min(seconds, 1e9));
    if (whole >= 3600)
        return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string rate_text(double rate) {
    return rate >= 100 ? fmt::format("{:.0f}", rate) : fmt::format("{:.3g}", rate);
}

}  // namespace

Progress::Progress(std::string unit, std::int64_t total, Pipe pipe, bool quiet)
    : unit_(std::move(unit)), total_(total), every_(std::max<std::int64_t>(total / 20, 1)) {
    if (quiet) return;
    if (on_terminal())
        mode_ = Mode::bar;
    else if (pipe == Pipe::lines)
        mode_ = Mode::lines;
}

bool Progress::due(std::int64_t done, Time now) const {
    using namespace std::chrono_literals;
    if (mode_ == Mode::bar) return !shown_ || done == total_ || now - printed_ > 100ms;
    return done % every_ == 0 || done == total_ || (shown_ && now - printed_ > 30s);
}

void Progress::print(std::int64_t done, Time now, const std::string& text) {
    printed_ = now;
    shown_ = true;
    if (mode_ == Mode::lines) {
        log_info("{} {}/{}  {}", unit_, done, total_, text);
        return;
    }
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = seconds > 0 ? static_cast<double>(done - first_) / seconds : 0;
    const double share = total_ > 0 ? static_cast<double>(done) / static_cast<double>(total_) : 1.0;
    const int filled = static_cast<int>(share * bar_width);
    std::string line = fmt::format("[{:<{}}] {:3.0f}%  {} {}/{}", std::string(filled, '#'),
                                   bar_width, 100 * share, unit_, done, total_);
    if (!text.empty()) line += "  " + text;
    if (rate > 0)
        line += fmt::format("  {}/s  {} left", rate_text(rate),
                            clock_text(static_cast<double>(total_ - done) / rate));
    show_status(line);
}

void Progress::clear() {
    if (mode_ != Mode::bar || !shown_) return;
    show_status("");
    shown_ = false;
}

void show_status(const std::string& text) {
    if (!on_terminal()) return;
    put("\r" + text.substr(0, terminal_width() - 1) + "\x1b[K");
}

}  // namespace hindcast::cli
