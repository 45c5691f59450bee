// backend::Batch: texts for many members by hand. What is shared, what a member's own, what moves
// with the step, and which group is marked when one member faults or is not finite.
#include <doctest/doctest.h>

#include <array>
#include <limits>

#include "engine/backend/cpu/program/batch.hpp"
#include "engine/backend/jit/llvm.hpp"
#include "engine/base/thread_pool.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::backend {

using namespace lang;

namespace {

#define HINDCAST_NEEDS_LLVM() \
    if (!llvm_info().available) HINDCAST_SKIP(llvm_info().problem)

template <class T>
Binding bind(T& array) {
    return {array.data(), static_cast<std::int64_t>(array.size()), 1, 1, 0};
}

ProgramCall call(const ir::Kernel& kernel, std::vector<Binding> bindings, std::int64_t items) {
    return {&kernel, std::move(bindings), items, kernel.name, {}};
}

}  // namespace

TEST_CASE("batch program: x[i] = x[i] * gain + table[t], kept at every step") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef step =
        kernel("step", {"gain", "table", "n", "x"},
               [](Int i, Param<Float> gain, Read<Float> table, Param<Int> n, ReadWrite<Float> x) {
                   x[i] = Float(x[i]) * gain.value() + table[n.value()];
               });
    const ir::Kernel k = step.trace(ir::Precision::f32);
    std::array<double, 1> gain{2};
    std::array<float, 4> table{1, 10, 100, 1000};
    std::array<std::int32_t, 1> counter{-1};
    std::array<float, 3> x{1, 2, 3};
    std::array<float, 12> kept{};
    ProgramText text;
    text.parts.push_back({{ProgramCounter{counter.data(), 0}}, 0, 1});
    text.parts.push_back({{ProgramCopy{x.data(), {kept.data(), sizeof x, 0}, sizeof x},
                           call(k, {bind(gain), bind(table), bind(counter), bind(x)}, 3),
                           ProgramCounter{counter.data(), 1}},
                          0,
                          4});
    const void* const differs[] = {gain.data(), x.data()};
    for (const int lanes : {4, 8, 16})
        for (const int width : {0, 1, 4}) {
            Batch batch({text}, differs, lanes, width);
            batch.resize(21);
            CHECK(batch.members() % static_cast<std::size_t>(lanes) == 0);
            for (std::size_t m = 0; m < batch.members(); ++m) {
                gain[0] = 1 + 0.25 * static_cast<double>(m % 3);
                x = {static_cast<float>(m), 2, 3};
                batch.put(m, gain.data());
                batch.put(m, x.data());
            }
            std::vector<char> marked;
            ThreadPool pool(3);
            batch.run(0, &pool, marked);
            for (const char mark : marked) CHECK(mark == 0);
            for (std::size_t m = 0; m < 21; ++m) {
                batch.get(m, x.data());
                batch.get(m, kept.data());
                const auto g = static_cast<float>(1 + 0.25 * static_cast<double>(m % 3));
                std::array<float, 3> expected{static_cast<float>(m), 2, 3};
                for (std::size_t t = 0; t < 4; ++t)
                    for (std::size_t i = 0; i < 3; ++i) {
                        CHECK(kept[3 * t + i] == expected[i]);
                        expected[i] = expected[i] * g + table[t];  // exact: small numbers
                    }
                CHECK(x == expected);
            }
            CHECK(table == std::array<float, 4>{1, 10, 100, 1000});
            CHECK(counter[0] == -1);  // each group has its own
            x = {1, 2, 3};
        }
}

TEST_CASE("batch program: the group of a member that faults or is not finite is marked") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef halve = kernel("halve", {"x", "n"}, [](Int i, Read<Float> x, Write<Float> n) {
        Float rest = x[i], count = 0;
        while_([&] { return rest > 1; }, [&] { rest *= 0.5, count += 1; }, 10);
        n[i] = count / x[i];
    });
    const ir::Kernel k = halve.trace(ir::Precision::f32);
    std::array<float, 1> x{}, n{};
    std::int32_t flag = 0;
    ProgramText text;
    text.parts.push_back(
        {{call(k, {bind(x), bind(n)}, 1), ProgramCheck{n.data(), ir::Type::f32, 1, 1, 1, &flag}},
         0,
         1});
    const void* const differs[] = {x.data()};
    Batch batch({text}, differs, 8, 0);
    batch.resize(32);
    for (std::size_t m = 0; m < 32; ++m) {
        x[0] = m == 9 ? 4096.0F : m == 30 ? 0.0F : 8.0F;  // 12 trips; 0 / 0
        batch.put(m, x.data());
    }
    std::vector<char> marked{0, 0, 1, 0};  // group 2 is left out
    batch.run(0, nullptr, marked);
    CHECK(marked == std::vector<char>{0, 1, 1, 1});
    batch.get(3, n.data());
    CHECK(n[0] == 3.0F / 8.0F);
    batch.get(17, n.data());
    CHECK(n[0] == 0);  // did not run
    CHECK(flag == 0);
    // A mark is of one run: with other values all is well.
    x[0] = 2;
    for (std::size_t m = 0; m < 32; ++m) batch.put(m, x.data());
    marked.assign(4, 0);
    batch.run(0, nullptr, marked);
    CHECK(marked == std::vector<char>(4, 0));
}

TEST_CASE("batch program: large arrays are copied and cleared in loops") {
    HINDCAST_NEEDS_LLVM();
    constexpr std::size_t n = 301;
    const KernelDef scale =
        kernel("scale", {"to", "x", "sum"},
               [](Int i, Read<Int> to, Read<Float> x, Sum<Float> sum) { sum[to[i]] += x[i]; });
    const ir::Kernel k = scale.trace(ir::Precision::f64);
    std::array<std::int32_t, n> to{};
    std::array<double, n> x{}, sum{}, copy{}, cleared{};
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<std::int32_t>(i / 3);
    sum.fill(7), cleared.fill(7);
    ProgramText text;
    text.parts.push_back({{call(k, {bind(to), bind(x), bind(sum)}, n),
                           ProgramCopy{sum.data(), {copy.data(), 0, 0}, sizeof sum},
                           ProgramClear{cleared.data(), sizeof cleared}},
                          0,
                          1});
    const void* const differs[] = {x.data()};
    Batch batch({text}, differs, 8, 0);
    batch.resize(8);
    for (std::size_t m = 0; m < 8; ++m) {
        for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i % 10 + m);
        batch.put(m, x.data());
    }
    std::vector<char> marked;
    batch.run(0, nullptr, marked);
    for (std::size_t m = 0; m < 8; ++m) {
        batch.get(m, copy.data());
        batch.get(m, cleared.data());
        std::array<double, n> expected{};
        for (std::size_t i = 0; i < n; ++i) expected[i / 3] += static_cast<double>(i % 10 + m);
        CHECK(copy == expected);
        CHECK(cleared == std::array<double, n>{});
    }
    batch.fill(x.data(), 0.5);
    batch.get(3, x.data());
    CHECK(x[300] == 0.5);
}

TEST_CASE("batch program: refusals say why") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef scatter =
        kernel("scatter", {"x", "sum"},
               [](Int i, Read<Float> x, Accumulate<Float> sum) { sum[Int(Float(x[i]))] += 1; });
    const ir::Kernel k = scatter.trace(ir::Precision::f32);
    std::array<float, 4> x{}, sum{};
    ProgramText text;
    text.parts.push_back({{call(k, {bind(x), bind(sum)}, 4)}, 0, 1});
    CHECK_THROWS_WITH_AS(Batch({text}, {}, 8, 0), doctest::Contains("sums in fixed point"), Error);
    const KernelDef copy =
        kernel("copy", {"x", "y"}, [](Int i, Read<Float> a, Write<Float> y) { y[i] = a[i]; });
    const ir::Kernel c = copy.trace(ir::Precision::f32);
    text.parts[0].items = {call(c, {bind(x), bind(x)}, 4)};
    CHECK_THROWS_WITH_AS(Batch({text}, {}, 8, 0), doctest::Contains("reads and writes one array"),
                         Error);
}

}  // namespace hindcast::backend
