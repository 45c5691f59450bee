// Passes over elements that are put off: each element sees them in their order, none twice, and
// what may not wait does not.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "engine/backend/passes.hpp"
#include "engine/base/thread_pool.hpp"

using namespace hindcast;
using namespace hindcast::backend;

namespace {

Passes::Pass over(std::int64_t count, Occupied range, double work = 1e9) {
    Passes::Pass pass;
    pass.count = count;
    pass.range = range;
    pass.work = work;
    return pass;
}

// value = value * 3 + step: says which passes an element has seen, in which order.
struct Step {
    std::int64_t* values;
    std::int64_t step;
    void operator()(std::int64_t begin, std::int64_t end) const {
        for (std::int64_t k = begin; k < end; ++k) values[k] = values[k] * 3 + step;
    }
};

}  // namespace

TEST_CASE("passes: every element sees those of its range, one after the other") {
    for (const int threads : {1, 2, 5})
        for (const std::int64_t count : {1, 64, 1000, 5000})
            for (const double work : {1.0, 1e9}) {
                ThreadPool pool(threads);
                std::vector<std::int64_t> values(static_cast<std::size_t>(count), 1);
                std::vector<std::int64_t> expected = values;
                Passes passes(&pool);
                // Begins are multiples of a block; one is over nothing.
                const Occupied ranges[] = {
                    {0, count}, {count / 128 * 64, count}, {0, 0}, {64, count * 2 / 3}};
                for (std::int64_t step = 0; step < 4; ++step) {
                    const Occupied& range = ranges[step];
                    Passes::Pass pass = over(count, range, work);
                    pass.occupied = {count / 3, count / 2};  // only how it is cut
                    passes.add(pass, Step{values.data(), step});
                    for (std::int64_t k = range.begin; k < range.end; ++k) {
                        std::int64_t& value = expected[static_cast<std::size_t>(k)];
                        value = value * 3 + step;
                    }
                }
                CHECK(values == std::vector<std::int64_t>(values.size(), 1));  // not yet
                CHECK(!passes.empty());
                passes.run();
                CHECK(passes.empty());
                CHECK(values == expected);
                passes.run();  // nothing is left
                CHECK(values == expected);
            }
}

TEST_CASE("passes: one that does not begin with a block covers the block") {
    std::vector<std::int64_t> values(200, 1);
    {
        Passes passes;
        passes.add(over(200, {100, 130}), Step{values.data(), 1});
    }  // the end of its life runs it
    for (std::int64_t k = 0; k < 200; ++k)
        CHECK(values[static_cast<std::size_t>(k)] == (k >= 64 && k < 130 ? 4 : 1));
}

TEST_CASE("passes: what does not go together runs one after the other") {
    std::vector<std::int64_t> few(100, 1), many(200, 1);
    const std::int64_t* const first = &few.front();
    const Contents a, b;
    const Contents* const pa = &a;
    const Contents* const pb = &b;
    const auto writes = [](const Contents* const& array) {
        Passes::Pass pass = over(100, {0, 100});
        pass.written = {&array, 1};
        return pass;
    };
    const auto reads = [](const Contents* const& array) {
        Passes::Pass pass = over(100, {0, 100});
        pass.read_elsewhere = {&array, 1};
        return pass;
    };
    Passes passes;
    SUBCASE("other elements") {
        passes.add(over(100, {0, 100}), Step{few.data(), 1});
        passes.add(over(200, {0, 200}), Step{many.data(), 1});
        CHECK(*first == 4);
        CHECK(many.front() == 1);
    }
    SUBCASE("one reads elsewhere what another has written") {
        passes.add(writes(pa), Step{few.data(), 1});
        passes.add(reads(pb), Step{few.data(), 2});
        CHECK(*first == 1);
        CHECK(passes.reads_elsewhere(b));
        CHECK(!passes.reads_elsewhere(a));
        passes.add(reads(pa), Step{few.data(), 3});
        CHECK(*first == (1 * 3 + 1) * 3 + 2);
        CHECK(passes.reads_elsewhere(a));
    }
    SUBCASE("one writes what another reads elsewhere") {
        passes.add(reads(pa), Step{few.data(), 1});
        passes.make_way(writes(pa));
        CHECK(*first == 4);
        CHECK(passes.empty());
    }
    SUBCASE("there is no end of them") {
        std::int64_t expected = 1;
        for (std::int64_t step = 0; step < 30; ++step) {
            passes.add(over(100, {0, 100}), Step{few.data(), step % 3});
            expected = expected * 3 + step % 3;
        }
        passes.run();
        CHECK(*first == expected);
    }
    passes.run();
}
