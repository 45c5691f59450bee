// The launch shape of one function, by measurement: the candidates run in turn in launches that are
// made anyway, and the fastest stays. A shape never changes a bit.
//
// Candidates are one item per thread, in blocks of several sizes, and a function of its own whose
// threads stride over the items, as many as the device holds at once: they compute what all items
// have in common once for many of them, with more registers.
//
// Launches that a device fills many times are measured, all of the same number of items. If one
// takes less than `long_enough` the choice by occupancy stays. The finding is kept in the code
// cache, under the function's text and the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/hash.hpp"

namespace hindcast::backend::cuda {

struct LaunchShape {
    int threads = 0;  // of a block; strides: by occupancy
    bool strides = false;
    bool operator==(const LaunchShape&) const = default;
};

class Tuner {
public:
    static constexpr double long_enough = 20e-6;  // seconds
    static constexpr int runs = 2;                // of each candidate; the fastest counts

    // `function`: a name that stands for its text. `device`: what was measured on another one does
    // not hold here. `threads`: the choice by occupancy, the largest that is tried.
    Tuner(const std::string& function, const std::string& device, int threads);

    LaunchShape shape() const { return shape_; }  // as far as is known
    // True if a launch over so many items is to be measured, in the shape candidate().
    bool wants(std::int64_t items, int multiprocessors) const;
    LaunchShape candidate() const { return candidates_[next_].shape; }
    void note(std::int64_t items, double seconds);  // a launch in the shape candidate()

private:
    struct Candidate {
        LaunchShape shape;
        double seconds = 1e300;
        int runs = 0;
    };
    void decide(LaunchShape shape);

    Hash128 key_;
    LaunchShape shape_;
    bool warm_ = false;  // the first launch of a function also loads its code
    bool decided_ = false;
    std::int64_t items_ = 0;  // of the launches that are measured
    std::vector<Candidate> candidates_;
    std::size_t next_ = 0;
};

}  // namespace hindcast::backend::cuda
