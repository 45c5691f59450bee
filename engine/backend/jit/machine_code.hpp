// LLVM text made into code that can be called, by way of the cache on disk.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/backend/jit/object_code.hpp"
#include "engine/base/hash.hpp"

namespace hindcast::backend {

// The function `name` of the text. `kind` tells one use of the cache from another; it changes when
// the meaning of emitted text does. Code that somebody still holds is not made again. Throws Error
// where LLVM is needed and refuses or is not there.
//
// HINDCAST_PERF_MAP=1 writes /tmp/perf-PID.map, by which `perf report` calls the code `title`.
std::shared_ptr<const ObjectCode> make_machine_code(const std::string& text,
                                                    const std::string& name,
                                                    const std::string& title, std::uint64_t kind);

// What this process has spent on planning, writing and compiling code, or reading it from the
// cache.
struct CodeStatistics {
    std::int64_t functions = 0;  // asked for
    std::int64_t compiled = 0;   // of these, by LLVM
    double seconds = 0;
};
CodeStatistics code_statistics();

// Adds its lifetime to the statistics; nested ones count once. Begins at an interruption point
// (interruption.hpp), so that what plans and compiles can be ended between kernels.
class CodeTimer {
public:
    CodeTimer();
    ~CodeTimer();
    CodeTimer(const CodeTimer&) = delete;
    CodeTimer& operator=(const CodeTimer&) = delete;

private:
    std::chrono::steady_clock::time_point start_;
};

}  // namespace hindcast::backend
