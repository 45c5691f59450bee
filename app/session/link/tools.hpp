// Results of the session's tools: gradient check, scan of the loss, profile and code of launches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/session/link/command.hpp"

namespace hindcast::session {

struct CheckRow {
    std::string name;
    double gradient = 0, difference = 0, error = 0;  // error: relative, as in `hindcast check`
    bool passed = false;
    std::string
        verdict;  // "ok", "a kink", "not smooth" ... (engine/sim/gradients/slope_verdict.hpp)
};

// A scan of the loss around the parameters: `count` values along one parameter, or count x count.
struct Landscape {
    std::array<std::string, 2> names;         // the varied parameters; the second empty in 1-D
    std::array<double, 2> center{}, slope{};  // their values, and the exact gradient there
    std::array<std::array<double, 2>, 2> range{};
    int count = 0;
    std::vector<double> losses;  // row by row; NaN: not computed yet
    bool done = false;
};

struct LaunchInfo {
    std::string name;
    Direction direction = Direction::forward;
    std::int64_t runs = 0;
    double seconds = 0;
    double bytes = 0;  // read and written by one run, counted from its bindings
};

// The answer to a LaunchText: the text, or the reason why there is none.
struct LaunchTextAnswer {
    LaunchText asked;
    std::string text, problem;
};

struct ToolsSnapshot {
    std::shared_ptr<const std::vector<CheckRow>> check;
    std::shared_ptr<const std::vector<double>> check_at;  // the parameters it was made at
    std::shared_ptr<const Landscape> landscape;
    std::vector<LaunchInfo> launches;
    std::shared_ptr<const LaunchTextAnswer> launch_text;  // the last answer

    // Drops the results that belong to the loss before an edit.
    void forget_loss() {
        check = nullptr;
        check_at = nullptr;
        landscape = nullptr;
    }
};

}  // namespace hindcast::session
