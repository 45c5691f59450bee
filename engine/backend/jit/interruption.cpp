#include "engine/backend/jit/interruption.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace hindcast::backend {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds asking_interval{20};

thread_local Interruptible* innermost = nullptr;

std::atomic<int> left_behind{0};  // threads that still work after their waiter has left

// Ends the process without the destructors of libraries that threads still use.
void leave_at_once(int status, void* /*unused*/) {
    if (left_behind.load() == 0) return;
    std::fflush(nullptr);
    ::_exit(status);
}

struct Abandoned {};

struct Work {
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false;
    std::atomic<bool> abandoned{false};
    std::exception_ptr error;
    std::optional<LeftBehind> left;
};

}  // namespace

Interruptible::Interruptible(std::function<void()> ask)
    : ask_(std::move(ask)), outer_(std::exchange(innermost, this)) {}

Interruptible::~Interruptible() { innermost = outer_; }

bool is_interruptible() { return innermost != nullptr; }

void interruption_point() {
    if (innermost == nullptr) return;
    const Clock::time_point now = Clock::now();
    if (now - innermost->asked_ < asking_interval) return;
    innermost->asked_ = now;
    innermost->ask_();
}

LeftBehind::LeftBehind() {
    static std::once_flag once;
    std::call_once(once, [] { ::on_exit(leave_at_once, nullptr); });
    ++left_behind;
}

LeftBehind::~LeftBehind() { --left_behind; }

void start_without_signals(const std::function<void()>& start) {
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
        start();
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &previous, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

void run_interruptibly(std::function<void()> work) {
    if (!is_interruptible()) return work();
    const auto shared = std::make_shared<Work>();
    std::thread thread;
    auto run = [shared, work = std::move(work)]() mutable {
        std::exception_ptr error;
        try {
            const Interruptible here([&shared] {
                if (shared->abandoned) throw Abandoned();
            });
            work();
        } catch (...) {
            error = std::current_exception();
        }
        work = nullptr;
        const std::lock_guard lock(shared->mutex);
        shared->done = true;
        shared->error = error;
        shared->left.reset();
        shared->ended.notify_one();
    };
    start_without_signals([&] { thread = std::thread(std::move(run)); });
    const auto is_done = [&] { return shared->done; };
    try {
        std::unique_lock lock(shared->mutex);
        while (!shared->ended.wait_for(lock, asking_interval, is_done)) {
            lock.unlock();
            interruption_point();
            lock.lock();
        }
    } catch (...) {
        const std::lock_guard lock(shared->mutex);
        if (!shared->done) {
            shared->abandoned = true;
            shared->left.emplace();
        }
        thread.detach();
        throw;
    }
    thread.join();
    if (shared->error) std::rethrow_exception(shared->error);
}

}  // namespace hindcast::backend
