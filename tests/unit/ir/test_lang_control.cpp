// Control flow of the language: which trips a loop makes (against host loops in 64 bits), what is
// unrolled, and what if_ and while_ do to variables.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <vector>

#include "engine/lang/kernel.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::OpCode;
using ir::Precision;
using test::Data;
using Whole = std::vector<std::int64_t>;

namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min(),
                       highest = std::numeric_limits<std::int32_t>::max();

struct Bounds {
    std::int64_t begin, end, step;
};

Whole host_trips(const Bounds& b) {
    Whole trips;
    if (b.step > 0)
        for (std::int64_t i = b.begin; i < b.end; i += b.step) trips.push_back(i);
    if (b.step < 0)
        for (std::int64_t i = b.begin; i > b.end; i += b.step) trips.push_back(i);
    return trips;
}

// The values that the loop variable takes, in order. `loop(begin, end, step, body)` sees traced
// bounds or literals.
constexpr std::size_t most = 40;
template <class Loop>
Whole traced_trips(const Bounds& bounds, Loop loop) {
    const auto def = kernel("trips", {"bounds", "seen", "count"},
                            [&](Int i, Read<Int3> from, WriteSlice<Int> seen, Write<Int> count) {
                                const Int3 b = from[i];
                                Int n = 0;
                                loop(b, [&](Int k) {
                                    seen.store_once(n, k);
                                    n += 1;
                                });
                                count[i] = n;
                            });
    Data data{.whole = {{"bounds", {bounds.begin, bounds.end, bounds.step}},
                        {"seen", Whole(most)},
                        {"count", {-1}}}};
    test::run(def.trace(Precision::f64), data, 1);
    data.whole["seen"].resize(static_cast<std::size_t>(data.whole["count"][0]));
    return data.whole["seen"];
}

int loops(const KernelDef& def) { return ir::count_ops(def.trace(Precision::f64), OpCode::for_); }

// One kernel with nested loops of the given constant trips.
int loops_left(const std::vector<int>& trips) {
    return loops(kernel("nest", {"f"}, [&](Int, Accumulate<Float> f) {
        const std::function<void(std::size_t)> nest = [&](std::size_t depth) {
            if (depth == trips.size())
                f[0] += 1;
            else
                for_(0, trips[depth], [&](Int) { nest(depth + 1); });
        };
        nest(0);
    }));
}

}  // namespace

TEST_CASE(
    "for_ makes the trips of the host's loop: any sign of the step, also 0, up to the ends of "
    "i32") {
    std::vector<Bounds> all;
    for (const std::int64_t begin : {-3, 0, 1, 7})
        for (const std::int64_t end : {-7, -3, 0, 1, 2, 8, 11})
            for (const std::int64_t step : {-5, -2, -1, 0, 1, 2, 3, 7})
                all.push_back({begin, end, step});
    for (const Bounds& extreme :
         {Bounds{lowest, highest, 0x40000000}, Bounds{highest, lowest, -0x40000000},
          Bounds{lowest, highest, highest}, Bounds{highest, lowest, lowest},
          Bounds{highest, lowest, 1}, Bounds{lowest, highest, -1}, Bounds{highest - 3, highest, 1},
          Bounds{lowest + 3, lowest, -1}, Bounds{highest - 3, highest, 2},
          Bounds{0, highest, 0x10000000}, Bounds{5, lowest, 1}, Bounds{1, lowest, 3}})
        all.push_back(extreme);
    for (const Bounds& b : all) {
        INFO(b.begin << " to " << b.end << " by " << b.step);
        const Whole expected = host_trips(b);
        REQUIRE(expected.size() <= most);
        CHECK(traced_trips(b, [](const Int3& t, auto body) { for_(t.x(), t.y(), t.z(), body); }) ==
              expected);
        CHECK(traced_trips(b, [&](const Int3& t, auto body) {
                  for_(t.x(), t.y(), b.step, body);
              }) == expected);
        CHECK(traced_trips(b, [&](const Int3& t, auto body) {
                  for_(b.begin, t.y(), b.step, body);
              }) == expected);
        CHECK(traced_trips(b, [&](const Int3&, auto body) {
                  for_(b.begin, b.end, b.step, body);
              }) == expected);
        if (b.step == 1)
            CHECK(traced_trips(b, [](const Int3& t, auto body) { for_(t.x(), t.y(), body); }) ==
                  expected);
    }
}

TEST_CASE("a loop of up to 8 trips is unrolled, as long as the copies stay below 64") {
    CHECK(loops_left({8}) == 0);
    CHECK(loops_left({9}) == 1);
    CHECK(loops_left({0}) == 0);
    CHECK(loops_left({8, 8}) == 0);
    CHECK(loops_left({4, 4, 4}) == 0);
    CHECK(loops_left({8, 8, 2}) == 64);  // the innermost stays a loop, once per copy
    CHECK(loops_left({9, 8}) == 1);
    CHECK(loops_left({9, 8, 8}) == 1);  // a loop that stays does not count
    CHECK(loops_left({9, 9}) == 2);
    CHECK(loops_left({8, 9}) == 8);
    // Traced bounds are never unrolled, unless folding shows them constant.
    CHECK(loops(kernel("traced", {"n", "f"}, [](Int i, Read<Int> n, Accumulate<Float> f) {
              for_(0, n[i], [&](Int) { f[0] += 1; });
          })) == 1);
    CHECK(loops(kernel("folded", {"f"}, [](Int, Accumulate<Float> f) {
              const Int three = 3;
              for_(three - 3, three * 2, [&](Int) { f[0] += 1; });
          })) == 0);
}

TEST_CASE("the loop variable of a body is the body's own") {
    const auto def = kernel("own_variable", {"seen"}, [](Int, WriteSlice<Int> seen) {
        for_(0, 10, [&](Int k) {
            k = k * 2;  // changes nothing outside this trip
            seen.store_once(k, k);
        });
    });
    Data data{.whole = {{"seen", Whole(20, -1)}}};
    test::run(def.trace(Precision::f64), data, 1);
    for (std::size_t k = 0; k < 20; ++k)
        CHECK(data.whole["seen"][k] == (k % 2 == 0 ? static_cast<std::int64_t>(k) : -1));
}

TEST_CASE("variables after branches and loops hold what was assigned last") {
    const auto def = kernel("assigned", {"x", "y"}, [](Int i, Read<Float> x, Write<Vec4> y) {
        Float a = 1, b = 2, c = 3, d = 4;
        if_(
            x[i] > 0,
            [&] {
                a = x[i];
                b = a + 1;
                if_(
                    x[i] > 10, [&] { c = b; }, [&] { d = b; });
            },
            [&] { b = -a; });
        for_(0, 20, [&](Int k) { if_(k == 19, [&] { d += Float(k); }); });
        y[i] = Vec4(a, b, c, d);
    });
    Data data{.real = {{"x", {5, 20, -1}}, {"y", std::vector<double>(12)}}};
    test::run(def.trace(Precision::f64), data, 3);
    CHECK(data.real["y"] == std::vector<double>{5, 6, 3, 25, 20, 21, 21, 23, 1, -1, 3, 23});
}

TEST_CASE("while_ checks before each trip, and 0 trips are fine") {
    const auto def = kernel("collatz", {"n", "steps"}, [](Int i, Read<Int> n, Write<Int> steps) {
        Int v = n[i], count = 0;
        while_([&] { return v != 1; },
               [&] {
                   v = select(v % 2 == 0, v / 2, v * 3 + 1);
                   count += 1;
               },
               200);
        steps[i] = count;
    });
    Data data{.whole = {{"n", {1, 2, 7, 27}}, {"steps", Whole(4)}}};
    test::run(def.trace(Precision::f64), data, 4);
    CHECK(data.whole["steps"] == Whole{0, 1, 16, 111});
}

TEST_CASE("copies are variables of their own") {
    const auto def = kernel("copies", {"x", "y"}, [](Int i, Read<Vec2> x, Write<Vec4> y) {
        Vec2 v = x[i];
        const Vec2 before = v;
        Float a = v.x(), b = a;
        a += 10;
        v.x() = 100;
        b *= 2;
        y[i] = Vec4(before.x(), a, b, v.x());
    });
    Data data{.real = {{"x", {3, 4}}, {"y", std::vector<double>(4)}}};
    test::run(def.trace(Precision::f64), data, 1);
    CHECK(data.real["y"] == std::vector<double>{3, 13, 6, 100});
}

TEST_CASE("a kernel is traced anew each time: host if and captured numbers specialize it") {
    for (const bool twice : {false, true}) {
        const auto def =
            kernel("host_if", {"x", "y"}, [twice](Int i, Read<Float> x, Write<Float> y) {
                Float v = x[i];
                if (twice) v = v * 2.0;
                y[i] = v;
            });
        const ir::Kernel k = def.trace(Precision::f64);
        CHECK(ir::count_ops(k, OpCode::mul) == (twice ? 1 : 0));
        CHECK(ir::print(k) == ir::print(def.trace(Precision::f64)));
    }
}

TEST_CASE("integers of every width, bits and conversions") {
    const auto def = kernel(
        "integers", {"a", "u", "l", "ul", "out"},
        [](Int i, Read<Int> a, Read<UInt> u, Read<Long> l, Read<ULong> ul, WriteSlice<Long> out) {
            out.store_once(0, Long(a[i] / -2) + Long(a[i] % 4));  // -7 / -2 = 3, -7 % 4 = -3
            out.store_once(1, Long((u[i] >> 28) ^ 3u));           // 15 ^ 3
            out.store_once(2, l[i] * 3 - (l[i] << 1));            // l
            out.store_once(3, Long(ul[i] >> 60));                 // 15
            out.store_once(4, Long(UInt(a[i])));                  // 2^32 - 7
            out.store_once(5, Long(Float(a[i]) * 0.5 - 0.25));    // -3.75 truncates to -3
            out.store_once(6, Long(min(a[i], Int(2)) + max(a[i], 5) + abs(a[i])));  // -7 + 5 + 7
            out.store_once(7, Long(clamp(a[i], -3, 3)) | 8);                        // -3 | 8
            out.store_once(8, Long(Int(u[i])));                                     // -1
            out.store_once(9, select(a[i] < 0 && !(u[i] < 5u), Long(1), Long(2)));
        });
    Data data{.whole = {{"a", {-7}},
                        {"u", {4294967295}},
                        {"l", {5000000000}},
                        {"ul", {-1}},
                        {"out", Whole(10)}}};
    test::run(def.trace(Precision::f64), data, 1);
    CHECK(data.whole["out"] == Whole{0, 12, 5000000000, 15, 4294967289, -3, 5, -3 | 8, -1, 1});
}
