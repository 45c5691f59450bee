// The course of a job: the caller fills the lanes (task, context, then the cursor), takes chunks
// itself, and waits until the workers have reported the rest in finished_. A worker that comes late
// finds all cursors at their end and waits on; it never reads a job that is over, since task and
// context are read only after a chunk was claimed, and a claimed chunk keeps its job alive.
#include "engine/base/thread_pool.hpp"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "engine/base/error.hpp"
#include "engine/base/float_environment.hpp"

namespace hindcast {

namespace {

using Clock = std::chrono::steady_clock;

// Long enough to bridge the gap between two launches of a step, short beside a time slice.
constexpr std::chrono::microseconds spin_time{40};
constexpr int pauses_per_look = 32;

constexpr std::uint64_t one_chunk = std::uint64_t{1} << 32;

// Threads of this process that are at jobs, of all pools with as many threads as processors or
// fewer.
std::atomic<int> at_work{0};

// The caller and the workers that it may have, while it is there.
class Crew {
public:
    Crew(int lanes, bool shares) : shares_(shares), count_(lanes) {
        if (!shares_) return;
        static const int processors = hardware_threads();
        const int others = at_work.fetch_add(lanes, std::memory_order_relaxed);
        count_ = std::clamp(processors - others, 1, lanes);
        if (count_ < lanes) at_work.fetch_sub(lanes - count_, std::memory_order_relaxed);
    }
    ~Crew() {
        if (shares_) at_work.fetch_sub(count_, std::memory_order_relaxed);
    }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    int count() const { return count_; }

private:
    bool shares_;
    int count_;
};

std::uint64_t pack(int begin, int end) {
    return static_cast<std::uint64_t>(begin) << 32 | static_cast<std::uint32_t>(end);
}

bool has_work(std::uint64_t cursor) { return (cursor >> 32) < (cursor & 0xffffffffu); }

// Reads the clock now and then while pausing.
class Spin {
public:
    explicit Spin(bool spins) : left_(spins ? pauses_per_look : 0), spins_(spins) {}

    // False when it is time to sleep.
    bool pause() {
        if (!spins_) return false;
        _mm_pause();
        if (--left_ > 0) return true;
        left_ = pauses_per_look;
        const auto now = Clock::now();
        if (end_ == Clock::time_point{}) end_ = now + spin_time;
        return now < end_;
    }

private:
    int left_;
    bool spins_;
    Clock::time_point end_{};
};

}  // namespace

int hardware_threads() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads)
    : lanes_(threads >= 1 && threads <= max_threads ? static_cast<std::size_t>(threads) : 0),
      // More threads than processors: spinning would keep the others from running.
      spins_(threads <= hardware_threads()) {
    if (lanes_.empty()) {
        throw Error("cannot run with " + std::to_string(threads) + " threads")
            .remedy("choose between 1 and " + std::to_string(max_threads));
    }
    // Workers inherit the signal mask: Ctrl-C is the main thread's affair.
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
        workers_.reserve(lanes_.size() - 1);
        for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error& error) {
        pthread_sigmask(SIG_SETMASK, &previous, nullptr);
        const std::size_t made = workers_.size() + 1;
        stop();
        throw Error("cannot start thread " + std::to_string(made + 1) + ": " + error.what())
            .remedy("use fewer threads");
    }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
    for (Lane& lane : lanes_) lane.stop.store(true, std::memory_order_release);
    wakeups_.fetch_add(1);
    wakeups_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_body(int chunks, Task task, void* context, std::size_t copied) {
    if (chunks <= 0) return;
    const FloatEnvironment environment;
    if (chunks == 1 || lanes_.size() == 1 || busy_.exchange(true, std::memory_order_acquire)) {
        run_alone(chunks, task, context);
        return;
    }
    const Crew crew(threads(), spins_);
    // Rounding up gives the caller the first chunk when there are fewer chunks than threads.
    const auto count = static_cast<std::int64_t>(crew.count());
    const auto begin_of = [&](std::int64_t lane) {
        return static_cast<int>((lane * chunks + count - 1) / count);
    };
    for (std::int64_t i = count - 1; i > 0; --i) {
        Lane& lane = lanes_[static_cast<std::size_t>(i)];
        lane.task = task;
        lane.context = copied > 0 ? lane.closure : context;
        if (copied > 0) std::memcpy(lane.closure, context, copied);
        lane.cursor.store(pack(begin_of(i), begin_of(i + 1)), std::memory_order_release);
    }
    // The caller's first chunk is claimed by not being offered.
    Lane& own = lanes_[0];
    own.task = task;
    own.context = context;
    own.cursor.store(pack(1, begin_of(1)), std::memory_order_release);
    // An addition of nothing instead of a load: either it sees the sleeper, or the sleeper's own
    // addition comes later and sees the cursors (wait_for_work).
    if (sleepers_.fetch_add(0) > 0) {
        wakeups_.fetch_add(1);
        wakeups_.notify_all();
    }
    const std::uint64_t start = __rdtsc();
    run_chunk(task, context, 0);
    const std::uint32_t mine = 1 + drain(own);
    const std::uint64_t end = __rdtsc();
    expected_ += static_cast<std::uint32_t>(chunks) - mine;
    const auto all_done = [this] { return finished_.load(std::memory_order_acquire) == expected_; };
    while (!all_done() && is_patient(start, end)) _mm_pause();
    if (!all_done()) {
        expected_ -= steal(0);
        await(expected_);
    }
    const std::exception_ptr error = std::exchange(error_, nullptr);
    busy_.store(false, std::memory_order_release);
    if (error) std::rethrow_exception(error);
}

// A thread that is done waits a little, while the others come to their ends: taking a chunk from a
// thread that is just about to begin it costs both the lines that they have in their caches.
bool ThreadPool::is_patient(std::uint64_t begin, std::uint64_t end) const {
    constexpr std::uint64_t least = 3000, most = 60000;  // about 1 and 20 microseconds
    return spins_ && __rdtsc() - end < std::min((end - begin) / 4 + least, most);
}

// Also for nested and concurrent calls: touches nothing that a job under way uses.
void ThreadPool::run_alone(int chunks, Task task, void* context) {
    std::exception_ptr error;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        try {
            task(context, chunk);
        } catch (...) {
            if (!error) error = std::current_exception();
        }
    }
    if (error) std::rethrow_exception(error);
}

void ThreadPool::run_chunk(Task task, void* context, int chunk) noexcept {
    try {
        task(context, chunk);
    } catch (...) {
        const std::lock_guard lock(error_mutex_);
        if (!error_ || chunk < error_chunk_) {
            error_ = std::current_exception();
            error_chunk_ = chunk;
        }
    }
}

// Claims and runs the lane's chunks until there are none; returns how many it ran.
std::uint32_t ThreadPool::drain(Lane& lane) {
    std::uint32_t done = 0;
    while (has_work(lane.cursor.load(std::memory_order_relaxed))) {
        const std::uint64_t claimed = lane.cursor.fetch_add(one_chunk, std::memory_order_acquire);
        if (!has_work(claimed)) break;
        run_chunk(lane.task, lane.context, static_cast<int>(claimed >> 32));
        ++done;
    }
    return done;
}

std::uint32_t ThreadPool::steal(int self) {
    std::uint32_t done = 0;
    const int count = threads();
    for (int step = 1; step < count; ++step) {
        done += drain(lanes_[static_cast<std::size_t>((self + step) % count)]);
    }
    return done;
}

void ThreadPool::work(int self) {
    const FloatEnvironment environment;
    pthread_setname_np(pthread_self(), ("hindcast-" + std::to_string(self)).c_str());
    Lane& lane = lanes_[static_cast<std::size_t>(self)];
    const auto report = [this](std::uint32_t done) {
        if (done == 0) return;
        finished_.fetch_add(done);
        if (caller_sleeps_.load()) finished_.notify_one();
    };
    while (wait_for_work(lane)) {
        const std::uint64_t start = __rdtsc();
        // Its own share is reported before it looks for more: the caller may be waiting for it.
        report(drain(lane));
        const std::uint64_t end = __rdtsc();
        const auto has_next = [&] { return has_work(lane.cursor.load(std::memory_order_relaxed)); };
        while (!has_next() && is_patient(start, end)) _mm_pause();
        if (!has_next()) report(steal(self));
    }
}

// Returns false when the pool ends.
bool ThreadPool::wait_for_work(Lane& lane) {
    Spin spin(spins_);
    while (!has_work(lane.cursor.load(std::memory_order_relaxed))) {
        if (lane.stop.load(std::memory_order_relaxed)) return false;
        if (spin.pause()) continue;
        const std::uint32_t seen = wakeups_.load();
        sleepers_.fetch_add(1);
        if (!has_work(lane.cursor.load(std::memory_order_relaxed)) &&
            !lane.stop.load(std::memory_order_relaxed))
            wakeups_.wait(seen);
        sleepers_.fetch_sub(1);
        spin = Spin(spins_);
    }
    return true;
}

void ThreadPool::await(std::uint32_t expected) {
    Spin spin(spins_);
    for (;;) {
        std::uint32_t now = finished_.load(std::memory_order_acquire);
        if (now == expected) return;
        if (spin.pause()) continue;
        caller_sleeps_.store(true);
        for (now = finished_.load(); now != expected; now = finished_.load()) finished_.wait(now);
        caller_sleeps_.store(false);
        return;
    }
}

}  // namespace hindcast
