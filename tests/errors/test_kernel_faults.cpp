// Faults of a running kernel: a loop over its limit, an index out of range, a second store, a value
// that is not finite. Each names the kernel, the source line, the lowest work item concerned, and
// the numbers involved. Here for the interpreter, which defines them.
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "engine/ad/differentiate.hpp"
#include "engine/backend/interpreter/interpreter.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using test::Data;

namespace {

struct Fault {
    std::vector<std::string> words;
    const int& line;  // read after tracing, which sets it
    std::int64_t item;
    std::string kernel = "k";
};

void check_fault(const ir::Kernel& kernel, Data data, std::int64_t items, const Fault& fault,
                 const test::Compile& compile = test::interpreter()) {
    try {
        test::run(kernel, data, items, compile);
    } catch (const Error& e) {
        const std::string text = e.what();
        INFO(text);
        for (const std::string& word : fault.words) {
            INFO(word);
            CHECK(text.find(word) != std::string::npos);
        }
        CHECK(e.kernel() == fault.kernel);
        CHECK(e.item() == fault.item);
        CHECK(e.place().file == "tests/errors/test_kernel_faults.cpp");
        CHECK(e.place().line == fault.line);
        CHECK(!e.what_to_do().empty());
        return;
    }
    FAIL_CHECK("no fault: " << fault.words.front());
}

ir::Kernel trace(const KernelDef& def) { return def.trace(Precision::f64); }

}  // namespace

TEST_CASE("a for_ over its max_trips raises, forward and in the adjoint") {
    int line = 0;
    const auto def =
        kernel("k", {"x", "n", "y"}, [&](Int i, Read<Float> x, Read<Int> n, Write<Float> y) {
            Float p = 1;
            line = __LINE__ + 1;
            for_(
                0, n[i], [&](Int) { p *= x[i]; }, 4);
            y[i] = p;
        });
    const ir::Kernel k = trace(def);
    const std::vector<double> three(3, 2.0);
    Data data{.real = {{"x", three}, {"y", three}, {"x.a1", three}, {"y.a1", three}},
              .whole = {{"n", {4, 5, 6}}}};
    check_fault(k, data, 3, {{"more than its max_trips of 4 trips", "raise max_trips"}, line, 1});
    check_fault(ad::adjoint(k), data, 3, {{"more than its max_trips of 4 trips"}, line, 1, "k.a1"});
    CHECK_NOTHROW(test::run(k, data, 1));  // exactly 4 is allowed
}

TEST_CASE("a for_ whose bounds overflow i32 is over its limit, not empty") {
    constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min(),
                           highest = std::numeric_limits<std::int32_t>::max();
    int line = 0;
    const auto def =
        kernel("k", {"from", "to", "y"}, [&](Int i, Read<Int> from, Read<Int> to, Write<Float> y) {
            Float p = 0;
            line = __LINE__ + 1;
            for_(
                from[i], to[i], [&](Int) { p += 1.0; }, 10);
            y[i] = p;
        });
    const ir::Kernel k = trace(def);
    const auto run = [&](std::int64_t from, std::int64_t to) {
        return Data{.real = {{"y", {9}}}, .whole = {{"from", {from}}, {"to", {to}}}};
    };
    check_fault(k, run(lowest, highest), 1, {{"max_trips of 10"}, line, 0});
    check_fault(k, run(-1, highest), 1, {{"max_trips of 10"}, line, 0});
    check_fault(k, run(lowest, 0), 1, {{"max_trips of 10"}, line, 0});
    for (const auto& [from, to, trips] : {std::array{highest, lowest, std::int64_t{0}},
                                          std::array{std::int64_t{1}, lowest, std::int64_t{0}},
                                          std::array{lowest, lowest + 3, std::int64_t{3}},
                                          std::array{highest - 2, highest, std::int64_t{2}}}) {
        Data data = run(from, to);
        test::run(k, data, 1);
        CHECK(data.real["y"][0] == static_cast<double>(trips));
    }
}

TEST_CASE("a while_ that still holds after max_trips raises") {
    int line = 0;
    const auto def = kernel("k", {"x", "y"}, [&](Int i, Read<Float> x, Write<Float> y) {
        Float s = x[i];
        line = __LINE__ + 1;
        while_([&] { return s > 1.0; }, [&] { s *= 0.5; }, 3);
        y[i] = s;
    });
    const ir::Kernel k = trace(def);
    Data data{.real = {{"x", {8, 1, 17, 9}},
                       {"y", {0, 0, 0, 0}},
                       {"x.a1", {0, 0, 0, 0}},
                       {"y.a1", {0, 0, 0, 0}},
                       {"x.t1", {0, 0, 0, 0}},
                       {"y.t1", {0, 0, 0, 0}}}};
    check_fault(k, data, 4,
                {{"more than its max_trips of 3 trips", "check the condition"}, line, 2});
    check_fault(ad::adjoint(k), data, 4, {{"max_trips of 3"}, line, 2, "k.a1"});
    check_fault(ad::tangent(k), data, 4, {{"max_trips of 3"}, line, 2, "k.t1"});
    CHECK_NOTHROW(test::run(k, data, 2));
}

TEST_CASE("a while_ whose result nobody needs raises all the same") {
    int line = 0;
    const auto def = kernel("k", {"x", "y"}, [&](Int i, Read<Float> x, Write<Float> y) {
        Float s = x[i];
        line = __LINE__ + 1;
        while_([&] { return s > 1.0; }, [&] { s *= 0.5; }, 3);
        y[i] = x[i];
    });
    check_fault(trace(def), {.real = {{"x", {17}}, {"y", {0}}}}, 1, {{"max_trips of 3"}, line, 0});
}

TEST_CASE("an index out of range names item, line, index and size, for every kind of access") {
    int line = 0;
    const auto load =
        kernel("k", {"x", "at", "y"}, [&](Int i, Read<Vec2> x, Read<Int> at, Write<Vec2> y) {
            line = __LINE__ + 1;
            y[i] = x[at[i]];
        });
    const Data six{.real = {{"x", {0, 1, 2, 3, 4, 5}}, {"y", std::vector<double>(6)}}};
    const auto with = [&](std::vector<std::int64_t> at) {
        Data data = six;
        data.whole["at"] = std::move(at);
        return data;
    };
    const ir::Kernel k = trace(load);
    check_fault(k, with({0, 3, 7}), 3,
                {{"index 3 is out of range", "'x' has 3 elements"}, line, 1});
    check_fault(k, with({0, 1, -1}), 3,
                {{"index -1 is out of range", "'x' has 3 elements"}, line, 2});
    check_fault(k, with({0, 1, 2}), 4,
                {{"index 3 is out of range", "'at' has 3 elements"}, line, 3});

    const auto add = kernel("k", {"at", "f"}, [&](Int i, Read<Int> at, Accumulate<Float> f) {
        line = __LINE__ + 1;
        f[at[i]] += 1;
    });
    check_fault(trace(add), {.real = {{"f", {0, 0}}}, .whole = {{"at", {1, 2}}}}, 2,
                {{"index 2 is out of range", "'f' has 2 elements"}, line, 1});

    const auto slice = kernel("k", {"z"}, [&](Int i, WriteSlice<Float> z) {
        line = __LINE__ + 1;
        z.store_once(i * 2 + 1, 1);
    });
    check_fault(trace(slice), {.real = {{"z", {0, 0, 0}}}}, 2,
                {{"index 3 is out of range", "'z' has 3 elements"}, line, 1});

    const auto count = kernel("k", {"n"}, [&](Int i, Atomic<Int> n) {
        line = __LINE__ + 1;
        n[i].add(1);
    });
    check_fault(trace(count), {.whole = {{"n", {0}}}}, 2,
                {{"index 1 is out of range", "'n' has 1 elements"}, line, 1});
}

TEST_CASE("an own element out of range is placed at the statement that assigned it last") {
    int line = 0, read = 0;
    const auto def =
        kernel("k", {"x", "y", "z"}, [&](Int i, Read<Float> x, Write<Float> y, ReadWrite<Float> z) {
            y[i] = 1;
            line = __LINE__ + 1;
            y[i] = x[i] * 2.0;
            read = __LINE__ + 1;
            z[i] += x[i];
        });
    const std::vector<double> two(2), three(3);
    check_fault(trace(def), {.real = {{"x", three}, {"y", two}, {"z", three}}}, 3,
                {{"index 2 is out of range", "'y' has 2 elements"}, line, 2});
    check_fault(trace(def), {.real = {{"x", three}, {"y", three}, {"z", two}}}, 3,
                {{"index 2 is out of range", "'z' has 2 elements"}, read, 2});
}

TEST_CASE("an index out of range in an adjoint names the adjoint kernel and the forward's line") {
    int line = 0;
    const auto def =
        kernel("k", {"x", "at", "y"}, [&](Int i, Read<Float> x, Read<Int> at, Write<Float> y) {
            line = __LINE__ + 1;
            const Float v = x[at[i]];
            y[i] = v * v;
        });
    const Data data{.real = {{"x", {1, 2, 3}}, {"x.a1", {0, 0}}, {"y", {0}}, {"y.a1", {1}}},
                    .whole = {{"at", {2}}}};
    check_fault(ad::adjoint(trace(def)), data, 1,
                {{"index 2 is out of range", "'x.a1' has 2 elements"}, line, 0, "k.a1"});
}

TEST_CASE("a second store into an element of a slice") {
    int line = 0;
    const auto def = kernel("k", {"at", "z"}, [&](Int i, Read<Int> at, WriteSlice<Vec2> z) {
        line = __LINE__ + 1;
        z.store_once(at[i], Vec2(1, 2));
    });
    auto code = backend::interpret(trace(def));
    const test::Compile same = [&](const ir::Kernel&) { return code; };
    Data data{.real = {{"z", std::vector<double>(8)}}, .whole = {{"at", {3, 1, 3}}}};
    check_fault(trace(def), data, 3,
                {{"element 3 of 'z' is stored a second time", "at most once per launch"}, line, 2},
                same);
    // After a fault the next launch starts afresh: storing once per launch is fine.
    data.whole["at"] = {3, 1, 0};
    for (int launch = 0; launch < 2; ++launch) CHECK_NOTHROW(test::run(*code, data, 3));
}

TEST_CASE("checked: the first value that is not finite, where it is stored") {
    int line = 0;
    const auto def = kernel("k", {"x", "f", "e"},
                            [&](Int i, Read<Float> x, Accumulate<Float> f, Reduce<Float> e) {
                                const Float inverse = 1.0 / x[i];  // infinite here, but not stored
                                line = __LINE__ + 1;
                                f[i] += inverse * x[i];
                                e += x[i];
                            });
    const Data data{.real = {{"x", {1, 2, 0, 0}}, {"f", {0, 0, 0, 0}}, {"e", {0}}}};
    const test::Compile checked = [](const ir::Kernel& kernel) {
        return backend::interpret(kernel, {.checked = true});
    };
    check_fault(trace(def), data, 4, {{"not finite", "'f'"}, line, 2}, checked);
    Data unchecked = data;
    CHECK_NOTHROW(test::run(trace(def), unchecked, 4));
}

TEST_CASE("trace_item shows every value of one item and writes nothing") {
    const auto def = kernel("k", {"x", "y", "f"},
                            [](Int i, Read<Float> x, ReadWrite<Float> y, Accumulate<Float> f) {
                                const Float root = sqrt(x[i]).name("root");
                                y[i] = root * 3.0;
                                f[0] += root;
                            });
    const ir::Kernel k = trace(def);
    double x[] = {4, 9}, y[] = {7, 7}, f[] = {1};
    const backend::Binding bindings[] = {{x, 2, 1, 1, 1}, {y, 2, 1, 1, 1}, {f, 1, 1, 1, 1}};
    double root = 0;
    backend::trace_item(k, bindings, 1, [&](ir::Value v, std::uint64_t bits) {
        if (k.op(v).name >= 0 && k.names[static_cast<std::size_t>(k.op(v).name)] == "root")
            root = ir::real_of(bits, ir::Type::f64);
    });
    CHECK(root == 3);
    CHECK(y[1] == 7);
    CHECK(f[0] == 1);
}
