// A fork-join pool for launches: run(chunks, body) calls body(chunk) once for every chunk and
// returns when all are done.
//
// The result of a chunk must not depend on which thread runs it or when: then the results do not
// depend on the number of threads. Each thread owns a contiguous range of the chunks, the same in
// every run, so that it finds its data in its cache; a thread that has finished and waited a little
// takes chunks from the others, so that one that sleeps or was preempted delays no other.
//
// A dispatch allocates nothing and, while the workers spin, takes a few hundred nanoseconds.
// Workers that get no work for a while sleep, and a job takes no more of them than there are
// processors that no job of another pool keeps busy: several pools in one process do not fight. (A
// pool of more threads than processors uses them all, since that was asked for.)
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace hindcast {

// Threads that this process may run at once (its CPU affinity), at least 1.
int hardware_threads();

class ThreadPool {
public:
    using Task = void (*)(void* context, int chunk);

    static constexpr int max_threads = 1024;

    // `threads` counts the caller: 1 makes no thread. Throws Error unless 1 <= threads <= 1024.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return static_cast<int>(lanes_.size()); }

    // Calls task(context, chunk) for chunk = 0 ... chunks - 1, with the floating-point environment
    // of float_environment.hpp. All chunks run, also when one throws; then the exception of the
    // lowest chunk is thrown here. Called from inside a task, or while another thread runs
    // something on this pool, it runs all chunks on the calling thread.
    void run(int chunks, Task task, void* context) { run_body(chunks, task, context, 0); }

    // The same for a callable: run(n, [&](int chunk) { ... }). A small one without a destructor is
    // copied to each thread, which then finds it together with its first chunk: what it captures
    // by reference is one more cache line that another core has just written.
    template <class Body>
    void run(int chunks, const Body& body) {
        constexpr bool copied = std::is_trivially_copyable_v<Body> &&
                                sizeof(Body) <= closure_bytes && alignof(Body) <= closure_alignment;
        run_body(
            chunks, [](void* context, int chunk) { (*static_cast<const Body*>(context))(chunk); },
            const_cast<void*>(static_cast<const void*>(std::addressof(body))),
            copied ? sizeof(Body) : 0);
    }

private:
    static constexpr std::size_t closure_bytes = 96, closure_alignment = 32;

    // One thread's share of the current job, on cache lines of its own: the thread waits by
    // reading the first. `cursor` holds the next chunk (high half) and the end (low half); a thread
    // that adds 1 to the high half and was below the end has claimed a chunk. The rest is written
    // before the cursor and stays until every claimed chunk is done, so a claim may be late.
    struct alignas(128) Lane {
        std::atomic<std::uint64_t> cursor{0};
        Task task = nullptr;
        void* context = nullptr;  // maybe `closure`
        std::atomic<bool> stop{false};
        alignas(closure_alignment) std::byte closure[closure_bytes] = {};
    };
    static_assert(sizeof(Lane) == 128);

    void run_body(int chunks, Task task, void* context, std::size_t copied);
    void work(int self);
    bool wait_for_work(Lane& lane);
    std::uint32_t drain(Lane& lane);
    std::uint32_t steal(int self);
    bool is_patient(std::uint64_t begin, std::uint64_t end) const;
    void run_alone(int chunks, Task task, void* context);
    void run_chunk(Task task, void* context, int chunk) noexcept;
    void stop();
    void await(std::uint32_t expected);

    std::vector<Lane> lanes_;  // 0 belongs to the caller
    std::vector<std::thread> workers_;
    bool spins_;
    std::uint32_t expected_ = 0;  // finished_ after the current job

    alignas(64) std::atomic<std::uint32_t> finished_{0};  // chunks done by workers, ever
    std::atomic<bool> caller_sleeps_{false};

    alignas(64) std::atomic<std::uint32_t> wakeups_{0};
    std::atomic<int> sleepers_{0};
    std::atomic<bool> busy_{false};

    std::mutex error_mutex_;
    std::exception_ptr error_;  // of the lowest chunk that threw in the current job
    int error_chunk_ = 0;
};

}  // namespace hindcast
