// What the driver in software pretends, and what it counted. See README.md for the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace software_cuda {

struct Failure {
    std::string function;
    int result = 0;
    long long call = 0;  // the only call that fails, counted from 1; 0: every one
    long long calls = 0;
};

struct Settings {
    int version = 13000, devices = 1;
    std::uint64_t seed = 1;
    std::size_t memory = std::size_t{8} << 30;
    std::size_t queue = 4096;  // operations of a stream beyond which some are executed
    long long out_of_memory = 0, launch_fails = 0, sticky = 0, lost = 0;  // 0: never
    std::string uuid;  // of every device, in hexadecimal digits; empty: one of its own
    // Blocks of so many threads, if so many (0: any number), take so many microseconds, others
    // twice that; 0: each launch takes 1.
    unsigned likes = 0, likes_blocks = 0;
    long long likes_us = 0;
    std::vector<Failure> failures;

    // What the function's next call returns without doing anything; 0 if it does its work.
    int failure(const char* function);
};
// Words with commas between them. A word that is unknown ends the process: a test is wrong.
Settings read_settings(const char* text);

struct Counters {
    long long launches = 0, graph_launches = 0, nodes = 0, allocations = 0, host_allocations = 0,
              allocated_bytes = 0, copies_to_device = 0, copies_to_host = 0,
              copied_to_host_bytes = 0, streams = 0, events = 0, synchronizations = 0, executed = 0,
              executed_launches = 0, launch_calls = 0, abandoned = 0, microseconds = 0;
    // -1: there is no counter of that name.
    long long find(const std::string& name) const;
};

}  // namespace software_cuda
