// Progress of a long command, on the error stream: a bar with rate and remaining time on a
// terminal, in a pipe a line for about every twentieth of the work (at least every half minute), or
// nothing.
//
//     Progress progress("step", 1000, Progress::Pipe::silent, quiet);
//     progress.update(k, [&] { return fmt::format("loss {:.6g}", loss); });
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace hindcast::cli {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Progress {
public:
    enum class Pipe { lines, silent };

    Progress(std::string unit, std::int64_t total, Pipe pipe, bool quiet);
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // `text` is asked only when something is printed. Cheap: may be called for every small step.
    // The first call says where the work starts.
    template <class Text>
    void update(std::int64_t done, Text text) {
        if (mode_ == Mode::off) return;
        const auto now = std::chrono::steady_clock::now();
        if (first_ < 0) {
            first_ = done;
            start_ = now;
        }
        if (due(done, now)) print(done, now, text());
    }
    void update(std::int64_t done) {
        update(done, [] { return std::string(); });
    }
    void clear();  // takes the bar off the screen

private:
    using Time = std::chrono::steady_clock::time_point;
    enum class Mode { off, bar, lines };

    bool due(std::int64_t done, Time now) const;
    void print(std::int64_t done, Time now, const std::string& text);

    std::string unit_;
    std::int64_t total_, first_ = -1, every_;
    Mode mode_ = Mode::off;
    Time start_, printed_;
    bool shown_ = false;
};

// A short text that is replaced by the next one, on terminals; "" takes it off. Nothing in pipes.
void show_status(const std::string& text);

}  // namespace hindcast::cli
