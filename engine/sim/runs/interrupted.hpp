// Long calls that ask whether they are to go on.
#pragma once

#include <chrono>
#include <exception>

namespace hindcast::runs {

// Between two questions of a long call whether it is to go on.
inline constexpr std::chrono::milliseconds asking_interval{20};

// go_on() said no, or somebody ended the work.
struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace hindcast::runs
