// The thread pool: every chunk runs once, for any number of threads, under load, with exceptions,
// nested and concurrent calls, and without allocating.
#include <doctest/doctest.h>
#include <immintrin.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/base/float_environment.hpp"
#include "engine/base/thread_pool.hpp"
#include "tests/support/memory/allocations.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;

TEST_CASE("every chunk runs exactly once for any number of threads and chunks") {
    for (const int threads : {1, 2, 3, 8}) {
        ThreadPool pool(threads);
        CHECK(pool.threads() == threads);
        for (const int chunks : {0, 1, 2, 3, 7, 8, 9, 64, 1000}) {
            std::vector<int> runs(static_cast<std::size_t>(chunks), 0);
            for (int repeat = 0; repeat < 20; ++repeat) {
                pool.run(chunks, [&](int chunk) { ++runs[static_cast<std::size_t>(chunk)]; });
            }
            for (const int count : runs) REQUIRE(count == 20);
        }
    }
}

TEST_CASE("callables of every size and kind are called with what they captured") {
    ThreadPool pool(3);
    const auto run = [&](const auto& values) {
        std::atomic<int> wrong{0};
        std::atomic<int>* const count = &wrong;
        for (int repeat = 0; repeat < 50; ++repeat)
            pool.run(20, [values, count](int chunk) {
                for (std::size_t k = 0; k < values.size(); ++k)
                    if (values[k] != static_cast<int>(k) + 1) count->fetch_add(1 + chunk);
            });
        CHECK(wrong == 0);
    };
    const auto counted = [](auto values) {
        std::iota(values.begin(), values.end(), 1);
        return values;
    };
    run(counted(std::array<int, 1>{}));
    run(counted(std::array<int, 22>{}));  // 96 bytes with the pointer: the most that is copied
    run(counted(std::array<int, 24>{}));  // too large
    run(counted(std::vector<int>(5)));    // with a destructor
    struct alignas(64) Line : std::array<int, 4> {};
    run(counted(Line{}));  // aligned to more than the memory for copies is
}

TEST_CASE("a negative number of chunks is none") {
    ThreadPool pool(2);
    int runs = 0;
    pool.run(-3, [&](int) { ++runs; });
    CHECK(runs == 0);
}

TEST_CASE("thousands of short jobs see each other's results") {
    // Each job adds what the job before wrote in the next chunk: a missing barrier shows as a
    // wrong sum. The closed form is that of Pascal's triangle on a ring, kept modulo 2^32.
    constexpr int chunks = 6, jobs = 5000;
    std::vector<std::uint32_t> expected(chunks, 1), next(chunks);
    for (int job = 0; job < jobs; ++job) {
        for (std::size_t c = 0; c < chunks; ++c) {
            next[c] = 3 * expected[c] + expected[(c + 1) % chunks];
        }
        expected.swap(next);
    }
    for (const int threads : {2, 3, 8}) {
        ThreadPool pool(threads);
        std::vector<std::uint32_t> state(chunks, 1), fresh(chunks);
        for (int job = 0; job < jobs; ++job) {
            pool.run(chunks, [&](int chunk) {
                const auto c = static_cast<std::size_t>(chunk);
                fresh[c] = 3 * state[c] + state[(c + 1) % chunks];
            });
            state.swap(fresh);
        }
        CHECK(state == expected);
    }
}

TEST_CASE("workers wake up again after they went to sleep") {
    ThreadPool pool(3);
    std::atomic<int> runs{0};
    for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        pool.run(30, [&](int) { runs.fetch_add(1); });
    }
    CHECK(runs == 600);
}

TEST_CASE("a slow chunk does not hold the others up") {
    // Chunk 0 belongs to the caller and waits until all others are done: the worker must take the
    // caller's other chunks.
    ThreadPool pool(2);
    std::atomic<int> done{0};
    pool.run(10, [&](int chunk) {
        if (chunk == 0) {
            while (done.load() < 9) std::this_thread::yield();
        } else {
            done.fetch_add(1);
        }
    });
    CHECK(done == 9);
}

TEST_CASE("the exception of the lowest chunk reaches the caller, and all chunks run") {
    for (const int threads : {1, 2, 8}) {
        ThreadPool pool(threads);
        for (int repeat = 0; repeat < 50; ++repeat) {
            std::atomic<int> runs{0};
            std::string message;
            try {
                pool.run(40, [&](int chunk) {
                    runs.fetch_add(1);
                    if (chunk % 10 == 7) throw Error("chunk " + std::to_string(chunk));
                });
            } catch (const Error& error) {
                message = error.what();
            }
            REQUIRE(message == "chunk 7");
            REQUIRE(runs == 40);
            // The pool works on.
            pool.run(40, [&](int) { runs.fetch_add(1); });
            REQUIRE(runs == 80);
        }
    }
}

TEST_CASE("an exception that is no Error passes unchanged") {
    ThreadPool pool(2);
    const auto fail = [](int) { throw std::out_of_range("far"); };
    CHECK_THROWS_AS(pool.run(4, fail), std::out_of_range);
}

TEST_CASE("a job inside a job runs on the thread that asked for it") {
    ThreadPool pool(3);
    std::atomic<int> runs{0}, elsewhere{0};
    pool.run(6, [&](int) {
        const auto self = std::this_thread::get_id();
        pool.run(5, [&](int) {
            runs.fetch_add(1);
            if (std::this_thread::get_id() != self) elsewhere.fetch_add(1);
        });
    });
    CHECK(runs == 30);
    CHECK(elsewhere == 0);
}

TEST_CASE("two threads may use one pool at once, and several pools run side by side") {
    ThreadPool shared(3);
    std::atomic<int> total{0};
    std::vector<std::thread> users;
    for (int user = 0; user < 3; ++user) {
        users.emplace_back([&] {
            ThreadPool own(2);
            for (int i = 0; i < 300; ++i) {
                int sum[8] = {};
                shared.run(8, [&](int chunk) { sum[chunk] = chunk; });
                own.run(8, [&](int chunk) { sum[chunk] += chunk; });
                total.fetch_add(std::accumulate(sum, sum + 8, 0));
            }
        });
    }
    for (std::thread& user : users) user.join();
    CHECK(total == 3 * 300 * 56);
}

TEST_CASE("jobs of several pools together use no more threads than processors and callers") {
    const int processors = hardware_threads();
    if (processors < 2) HINDCAST_SKIP("one processor: no pool has a worker");
    constexpr int users = 3;
    std::atomic<int> now{0}, most{0}, begun{0};
    std::vector<std::thread> callers;
    for (int user = 0; user < users; ++user)
        callers.emplace_back([&] {
            ThreadPool pool(processors);
            begun.fetch_add(1);
            while (begun < users) std::this_thread::yield();
            for (int job = 0; job < 200; ++job)
                pool.run(4 * processors, [&](int) {
                    const int here = now.fetch_add(1) + 1;
                    for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
                    }
                    for (int k = 0; k < 2000; ++k) _mm_pause();
                    now.fetch_sub(1);
                });
        });
    for (std::thread& caller : callers) caller.join();
    // Each caller works at its own job; workers only fill up the processors that are left.
    CHECK(most <= processors + users - 1);
    CHECK(most >= 2);
    // Alone again, a job has all of them.
    ThreadPool pool(processors);
    std::atomic<int> together{0};
    pool.run(processors, [&](int) {
        together.fetch_add(1);
        while (together < processors) std::this_thread::yield();
    });
    CHECK(together == processors);
}

TEST_CASE("a pool of one thread makes no thread") {
    const auto threads = [] {
        const std::filesystem::directory_iterator tasks("/proc/self/task");
        return std::distance(begin(tasks), end(tasks));
    };
    const auto before = threads();
    ThreadPool one(1);
    std::thread::id where;
    one.run(3, [&](int) { where = std::this_thread::get_id(); });
    CHECK(threads() == before);
    CHECK(where == std::this_thread::get_id());
    const ThreadPool two(2);
    CHECK(threads() == before + 1);
}

TEST_CASE("chunks run in the kernels' floating-point environment, the caller's is restored") {
    ThreadPool pool(3);
    const unsigned before = _mm_getcsr();
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
    _MM_SET_ROUNDING_MODE(_MM_ROUND_DOWN);
    std::atomic<int> wrong{0};
    pool.run(64, [&](int) {
        if (!FloatEnvironment::active()) wrong.fetch_add(1);
    });
    pool.run(1, [&](int) {
        if (!FloatEnvironment::active()) wrong.fetch_add(1);
    });
    const bool kept =
        _MM_GET_FLUSH_ZERO_MODE() == _MM_FLUSH_ZERO_ON && _MM_GET_ROUNDING_MODE() == _MM_ROUND_DOWN;
    _mm_setcsr(before);
    CHECK(wrong == 0);
    CHECK(kept);
}

TEST_CASE("a dispatch allocates nothing") {
    ThreadPool pool(2);
    std::atomic<int> runs{0};
    pool.run(4, [&](int) { runs.fetch_add(1); });
    const auto before = test::allocations();
    for (int i = 0; i < 1000; ++i) pool.run(4, [&](int) { runs.fetch_add(1); });
    const auto after = test::allocations();
    CHECK(after == before);
    CHECK(runs == 4004);
}

TEST_CASE("an impossible number of threads is refused") {
    CHECK_THROWS_WITH_AS(ThreadPool(0), "cannot run with 0 threads; choose between 1 and 1024",
                         Error);
    CHECK_THROWS_AS(ThreadPool(-1), Error);
    CHECK_THROWS_AS(ThreadPool(1025), Error);
    CHECK(hardware_threads() >= 1);
}
