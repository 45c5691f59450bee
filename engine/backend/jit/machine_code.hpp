// Machine code of LLVM text, by way of the cache on disk. Code that is requested before it is
// waited for is compiled side by side, on as many threads as there are processors. Long texts are
// compiled twice: first in a fourth of the time, to be run at once, then optimized. Both give the
// same bits. The optimized code takes over when it is ready, also in the cache.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/jit/object_code.hpp"
#include "engine/base/hash.hpp"

namespace hindcast::backend {

enum class Haste { quick, patient };  // quick: code that is not optimized yet will do

// Code that is there, or is being made.
class CodeRequest {
public:
    // The best code that there is. Waits for the first one, at interruption points
    // (interruption.hpp); it is then compiled before code without a waiting thread. The result
    // lives as long as the request. Throws Error if LLVM is needed and fails or is missing.
    const ObjectCode& get() {
        const ObjectCode* const code = best_.load(std::memory_order_acquire);
        return code != nullptr ? *code : wait();
    }

private:
    friend class CodeQueue;
    friend std::shared_ptr<CodeRequest> request_machine_code(const std::string& text,
                                                             const std::string& name,
                                                             const std::string& title,
                                                             std::uint64_t kind, Haste haste);
    const ObjectCode& wait();

    std::string text_, name_, title_;
    Hash128 key_{}, quick_key_{};
    bool wants_quick_ = false;
    std::atomic<const ObjectCode*> best_ = nullptr;  // the last of codes_
    // Under the lock of the queue:
    std::vector<std::shared_ptr<const ObjectCode>> codes_;
    std::exception_ptr error_;
};

// The function `name` of the text. `kind` tells one use of the cache from another; it changes when
// the meaning of emitted text does. Code that is still held is not made again. A request whose last
// holder has let go is dropped.
//
// HINDCAST_PERF_MAP=1 writes /tmp/perf-PID.map, by which `perf report` calls the code `title`.
std::shared_ptr<CodeRequest> request_machine_code(const std::string& text, const std::string& name,
                                                  const std::string& title, std::uint64_t kind,
                                                  Haste haste);
// Waits until nothing is left to be optimized: for measurements.
void wait_for_all_code();
// Drops code without a holder (the latest few megabytes are otherwise kept, for launches that are
// recorded again and again): the next request goes to the cache on disk. For tests of it.
void drop_kept_code();

// While it lives, this thread tells the innermost listener when it has waited for code for half a
// second: what to show (such as "compiling kernel 12 of 46"), again whenever another one is there, and
// in the end "". A listener may not wait for code.
class CodeListener {
public:
    explicit CodeListener(std::function<void(const std::string&)> show);
    ~CodeListener();
    CodeListener(const CodeListener&) = delete;
    CodeListener& operator=(const CodeListener&) = delete;

private:
    friend class CodeQueue;
    std::function<void(const std::string&)> show_;
    CodeListener* outer_;
};

// Time that this process has spent on planning and writing code, reading it from the cache, and
// waiting for it to be compiled.
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
