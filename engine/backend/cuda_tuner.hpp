// The block size of one function, by measurement: the candidates run in turn in launches that are
// made anyway, and the fastest stays. A block size never changes a bit.
//
// Launches that a device fills many times are measured, all of the same number of items. Where one
// takes less than `long_enough` the choice by occupancy stays. What was found is kept in the code
// cache, under the function's text and the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/hash.hpp"

namespace hindcast::backend::cuda {

class Tuner {
public:
    static constexpr double long_enough = 20e-6;  // seconds
    static constexpr int runs = 2;                // of each candidate; the fastest counts

    // `function`: a name that stands for its text. `device`: what was measured on another one does
    // not hold here. `threads`: the choice by occupancy, the largest that is tried.
    Tuner(const std::string& function, const std::string& device, int threads);

    int threads() const { return threads_; }  // of a block, as far as is known
    // Whether a launch over so many items is to be measured, and in blocks of how many threads.
    bool wants(std::int64_t items, int multiprocessors) const;
    int candidate() const { return candidates_[next_].threads; }
    void note(std::int64_t items, double seconds);  // a launch in blocks of candidate()

private:
    struct Candidate {
        int threads = 0;
        double seconds = 1e300;
        int runs = 0;
    };
    void decide(int threads);

    Hash128 key_;
    int threads_;
    bool warm_ = false;  // the first launch of a function also loads its code
    bool decided_ = false;
    std::int64_t items_ = 0;  // of the launches that are measured
    std::vector<Candidate> candidates_;
    std::size_t next_ = 0;
};

}  // namespace hindcast::backend::cuda
