// How work is cut into tasks: every element once, whatever is occupied, and what is occupied in
// equal parts.
#include <doctest/doctest.h>

#include <vector>

#include "engine/backend/plan/work_split.hpp"

using namespace hindcast;
using backend::ActiveRange;
using backend::Cut;

TEST_CASE("cut: every element once, in whole blocks, whatever is occupied") {
    for (const int threads : {1, 2, 3, 8}) {
        ThreadPool pool(threads);
        for (const std::int64_t count : {0, 1, 63, 64, 65, 1000, 14400})
            for (const std::int64_t block : {1, 64, 1024})
                for (const ActiveRange occupied :
                     {ActiveRange{}, ActiveRange{0, count}, ActiveRange{count / 3, count / 2},
                      ActiveRange{count / 2, count / 2 + 1}, ActiveRange{count, count + 5},
                      ActiveRange{10, 5}, ActiveRange{70, 3 * count}}) {
                    CAPTURE(threads);
                    CAPTURE(count);
                    CAPTURE(block);
                    CAPTURE(occupied.begin);
                    CAPTURE(occupied.end);
                    const Cut cut(&pool, count, block, occupied);
                    std::vector<int> times(static_cast<std::size_t>(count), 0);
                    std::vector<std::int64_t> inside;
                    for (std::int64_t task = 0; task < cut.tasks(); ++task) {
                        std::int64_t within = 0;
                        cut.each(task, [&](std::int64_t begin, std::int64_t end) {
                            REQUIRE(begin < end);
                            REQUIRE(begin % block == 0);
                            REQUIRE((end % block == 0 || end == count));
                            for (std::int64_t k = begin; k < end; ++k) {
                                ++times[static_cast<std::size_t>(k)];
                                within += k >= occupied.begin && k < occupied.end ? 1 : 0;
                            }
                        });
                        inside.push_back(within);
                    }
                    for (const int t : times) REQUIRE(t == 1);
                    // Shares differ by a block, and by what the first and the last one have beside.
                    for (const std::int64_t a : inside)
                        for (const std::int64_t b : inside) REQUIRE(a - b <= 3 * block);
                }
    }
}

TEST_CASE("cut: one task without threads, or of one block") {
    CHECK(Cut(nullptr, 100000, 64, {5, 900}).tasks() == 1);
    ThreadPool pool(4);
    CHECK(Cut(&pool, 64, 64).tasks() == 1);
    CHECK(Cut(&pool, 65, 64).tasks() == 2);
}

TEST_CASE("split: what every task gets, on the pool's threads or on the caller") {
    ThreadPool threads(3);
    for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), &threads}) {
        std::vector<int> times(5000, 0);
        backend::split(pool, Cut(pool, 5000, 16, {100, 700}),
                       [&](std::int64_t begin, std::int64_t end) {
                           for (std::int64_t k = begin; k < end; ++k)
                               ++times[static_cast<std::size_t>(k)];
                       });
        CHECK(times == std::vector<int>(5000, 1));
    }
}
