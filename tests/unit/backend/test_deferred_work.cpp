// Loops over elements that wait (DeferredWork): each element sees them in their order, none twice,
// and what may not wait does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/backend/cpu/launch/deferred_work.hpp"
#include "engine/base/thread_pool.hpp"

using namespace hindcast;
using namespace hindcast::backend;

namespace {

DeferredWork::Loop over(std::int64_t count, ActiveRange range, double work = 1e9) {
    DeferredWork::Loop loop;
    loop.count = count;
    loop.range = range;
    loop.work = work;
    return loop;
}

// value = value * 3 + step: says which loops an element has seen, in which order.
struct Step {
    std::int64_t* values;
    std::int64_t step;
    void operator()(std::int64_t begin, std::int64_t end) const {
        for (std::int64_t k = begin; k < end; ++k) values[k] = values[k] * 3 + step;
    }
};

}  // namespace

TEST_CASE("deferred: every element sees those of its range, one after the other") {
    for (const int threads : {1, 2, 5})
        for (const std::int64_t count : {1, 64, 1000, 5000})
            for (const double work : {1.0, 1e9}) {
                ThreadPool pool(threads);
                std::vector<std::int64_t> values(static_cast<std::size_t>(count), 1);
                std::vector<std::int64_t> expected = values;
                DeferredWork deferred(&pool);
                // Begins are multiples of a block; one is over nothing.
                const ActiveRange ranges[] = {
                    {0, count}, {count / 128 * 64, count}, {0, 0}, {64, count * 2 / 3}};
                for (std::int64_t step = 0; step < 4; ++step) {
                    const ActiveRange& range = ranges[step];
                    DeferredWork::Loop loop = over(count, range, work);
                    loop.occupied = {count / 3, count / 2};  // only how it is cut
                    deferred.add(loop, Step{values.data(), step});
                    for (std::int64_t k = range.begin; k < range.end; ++k) {
                        std::int64_t& value = expected[static_cast<std::size_t>(k)];
                        value = value * 3 + step;
                    }
                }
                CHECK(values == std::vector<std::int64_t>(values.size(), 1));  // not yet
                CHECK(!deferred.empty());
                deferred.run();
                CHECK(deferred.empty());
                CHECK(values == expected);
                deferred.run();  // nothing is left
                CHECK(values == expected);
            }
}

TEST_CASE("deferred: one that does not begin with a block covers the block") {
    std::vector<std::int64_t> values(200, 1);
    {
        DeferredWork deferred;
        deferred.add(over(200, {100, 130}), Step{values.data(), 1});
    }  // the end of its life runs it
    for (std::int64_t k = 0; k < 200; ++k)
        CHECK(values[static_cast<std::size_t>(k)] == (k >= 64 && k < 130 ? 4 : 1));
}

TEST_CASE("occupied: columns of rows, once each, in whole blocks") {
    for (const ActiveRange::Columns columns : {ActiveRange::Columns{100, 20, 45},
                                               {100, 0, 1},
                                               {100, 99, 100},
                                               {37, 3, 30},
                                               {40, 1, 40},
                                               {1000, 400, 700}})
        for (const ActiveRange range : {ActiveRange{0, 1000}, {64, 65}, {128, 990}, {320, 333}})
            for (const std::int64_t from : {0, 64, 448, 960})
                for (const std::int64_t to : {64, 500, 961, 1000, 2000}) {
                    ActiveRange some = range;
                    some.columns = columns;
                    std::int64_t last = -1;
                    std::vector<char> seen(2000, 0);
                    some.each(from, to, 16, [&](std::int64_t begin, std::int64_t end) {
                        REQUIRE(begin < end);
                        CHECK(begin % 16 == 0);
                        CHECK(begin > last);
                        for (std::int64_t k = begin; k < end; ++k)
                            seen[static_cast<std::size_t>(k)] = 1;
                        last = end - 1;
                    });
                    // All that is asked for, and only blocks of which an element is.
                    const auto asked = [&](std::int64_t k) {
                        const std::int64_t column = k % columns.period;
                        return column >= columns.begin && column < columns.end;
                    };
                    bool all = true, none_else = true;
                    for (std::int64_t k = 0; k < 2000; ++k) {
                        bool block = false;
                        for (std::int64_t e = 0; e < 16; ++e) block |= asked(k / 16 * 16 + e);
                        const bool in_range =
                            k >= std::max(from, range.begin) && k < std::min(to, range.end);
                        const bool was = seen[static_cast<std::size_t>(k)] != 0;
                        all &= was || !in_range || !asked(k);
                        none_else &= !was || (in_range && block);
                    }
                    CHECK(all);
                    CHECK(none_else);
                }
}

TEST_CASE("occupied: a hull has the columns of both, or all") {
    const ActiveRange a{100, 200, {50, 10, 20}}, b{150, 300, {50, 15, 40}}, c{0, 10, {60, 1, 2}};
    const ActiveRange both = hull(a, b), other = hull(a, c), all = hull(a, {0, 5});
    CHECK(both.begin == 100);
    CHECK(both.end == 300);
    CHECK(both.columns.period == 50);
    CHECK(both.columns.begin == 10);
    CHECK(both.columns.end == 40);
    CHECK(other.begin == 0);
    CHECK(other.end == 200);
    CHECK(other.columns.period == 0);
    CHECK(all.columns.period == 0);
    CHECK(hull(a, {}).columns.period == 50);
    CHECK(hull({}, c).columns.period == 60);
}

TEST_CASE("deferred: of rows only the columns that are asked for") {
    for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        constexpr std::int64_t count = 128 * 200;
        std::vector<std::int64_t> values(count, 1);
        DeferredWork deferred(&pool);
        ActiveRange left{0, count, {128, 16, 32}}, right{128 * 20, 128 * 100, {128, 24, 60}};
        deferred.add(over(count, left), Step{values.data(), 1});
        deferred.add(over(count, {0, count}), Step{values.data(), 2});
        deferred.add(over(count, right), Step{values.data(), 3});
        deferred.run();
        for (std::int64_t k = 0; k < count; ++k) {
            std::int64_t expected = 1;
            const std::int64_t column = k % 128, row = k / 128;
            if (column >= 16 && column < 32) expected = expected * 3 + 1;
            expected = expected * 3 + 2;
            if (row >= 20 && row < 100 && column >= 16 && column < 64) expected = expected * 3 + 3;
            CHECK(values[static_cast<std::size_t>(k)] == expected);
        }
    }
}

TEST_CASE("deferred: who writes what the first one reads nearby stays behind it") {
    const ArrayFacts near;
    const ArrayFacts* const pn = &near;
    struct Arrays {
        std::vector<std::int64_t> x, f, y;
        std::int64_t total = 0;
    };
    for (const int threads : {1, 2, 3, 8})
        for (const std::int64_t count : {64, 1000, 4096, 30000})
            for (const std::int64_t reach : {0, 1, 63, 64, 200}) {
                CAPTURE(threads);
                CAPTURE(count);
                CAPTURE(reach);
                const auto size = static_cast<std::size_t>(count);
                Arrays is{std::vector<std::int64_t>(size), std::vector<std::int64_t>(size),
                          std::vector<std::int64_t>(size)};
                for (std::int64_t k = 0; k < count; ++k)
                    is.x[static_cast<std::size_t>(k)] = k * k % 1009;
                Arrays expected = is;
                const auto neighbors = [=](Arrays& a, std::int64_t k) {
                    const std::int64_t left = std::max<std::int64_t>(k - reach, 0),
                                       right = std::min(k + reach, count - 1);
                    a.f[static_cast<std::size_t>(k)] = 2 * a.x[static_cast<std::size_t>(left)] -
                                                       a.x[static_cast<std::size_t>(right)] + k;
                };
                const auto advance = [](Arrays& a, std::int64_t k) {
                    const auto at = static_cast<std::size_t>(k);
                    a.x[at] = (a.x[at] * 3 + a.f[at]) % 100003;
                };
                const auto note = [](Arrays& a, std::int64_t k) {
                    const auto at = static_cast<std::size_t>(k);
                    a.y[at] = a.y[at] * 5 % 1000 + a.x[at];
                };
                const auto sum = [](Arrays& a) {
                    for (const std::int64_t f : a.f) a.total += f;
                };
                ThreadPool pool(threads);
                DeferredWork deferred(&pool);
                for (int step = 0; step < 5; ++step) {
                    DeferredWork::Loop first = over(count, {0, count}), second = first;
                    first.read_near = {&pn, 1};
                    first.reach = reach;
                    second.written = {&pn, 1};
                    deferred.add(first, [&is, &neighbors](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t k = begin; k < end; ++k) neighbors(is, k);
                    });
                    CHECK(deferred.reads_elsewhere(near));
                    deferred.then([&is, &sum](ThreadPool*) { sum(is); });
                    const std::uint64_t number = deferred.number();
                    deferred.add(second, [&is, &advance](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t k = begin; k < end; ++k) advance(is, k);
                    });
                    // Together, where each thread can have a task of more than its borders.
                    const std::int64_t around = 2 * ((reach + 63) / 64 * 64) + 64;
                    CHECK((deferred.number() == number) == (count >= around * threads));
                    deferred.add(over(count, {0, count}),
                                 [&is, &note](std::int64_t begin, std::int64_t end) {
                                     for (std::int64_t k = begin; k < end; ++k) note(is, k);
                                 });
                    for (std::int64_t k = 0; k < count; ++k) neighbors(expected, k);
                    sum(expected);
                    for (std::int64_t k = 0; k < count; ++k) advance(expected, k);
                    for (std::int64_t k = 0; k < count; ++k) note(expected, k);
                }
                deferred.run();
                CHECK(is.x == expected.x);
                CHECK(is.f == expected.f);
                CHECK(is.y == expected.y);
                CHECK(is.total == expected.total);
            }
}

TEST_CASE("deferred: what comes then does not wait where nothing waits") {
    int calls = 0;
    DeferredWork deferred;
    deferred.then([&calls](ThreadPool*) { ++calls; });
    CHECK(calls == 1);
    deferred.add(over(100, {0, 100}), [](std::int64_t, std::int64_t) {});
    deferred.then([&calls](ThreadPool*) { ++calls; });
    CHECK(calls == 1);
    deferred.run();
    CHECK(calls == 2);
    deferred.run();
    CHECK(calls == 2);
}

TEST_CASE("deferred: what does not go together runs one after the other") {
    std::vector<std::int64_t> few(100, 1), many(200, 1);
    const std::int64_t* const first = &few.front();
    const ArrayFacts a, b;
    const ArrayFacts* const pa = &a;
    const ArrayFacts* const pb = &b;
    const auto writes = [](const ArrayFacts* const& array) {
        DeferredWork::Loop loop = over(100, {0, 100});
        loop.written = {&array, 1};
        return loop;
    };
    const auto reads = [](const ArrayFacts* const& array) {
        DeferredWork::Loop loop = over(100, {0, 100});
        loop.read_elsewhere = {&array, 1};
        return loop;
    };
    DeferredWork deferred;
    SUBCASE("other elements") {
        deferred.add(over(100, {0, 100}), Step{few.data(), 1});
        deferred.add(over(200, {0, 200}), Step{many.data(), 1});
        CHECK(*first == 4);
        CHECK(many.front() == 1);
    }
    SUBCASE("one reads elsewhere what another has written") {
        deferred.add(writes(pa), Step{few.data(), 1});
        deferred.add(reads(pb), Step{few.data(), 2});
        CHECK(*first == 1);
        CHECK(deferred.reads_elsewhere(b));
        CHECK(!deferred.reads_elsewhere(a));
        deferred.add(reads(pa), Step{few.data(), 3});
        CHECK(*first == (1 * 3 + 1) * 3 + 2);
        CHECK(deferred.reads_elsewhere(a));
    }
    SUBCASE("one writes what another reads elsewhere") {
        deferred.add(reads(pa), Step{few.data(), 1});
        deferred.make_way(writes(pa));
        CHECK(*first == 4);
        CHECK(deferred.empty());
    }
    SUBCASE("there is no end of them") {
        std::int64_t expected = 1;
        for (std::int64_t step = 0; step < 30; ++step) {
            deferred.add(over(100, {0, 100}), Step{few.data(), step % 3});
            expected = expected * 3 + step % 3;
        }
        deferred.run();
        CHECK(*first == expected);
    }
    deferred.run();
}
