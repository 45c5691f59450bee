// The same bits for any number of threads and any width: reductions, accumulation, and what a
// replay costs in memory.
#include <doctest/doctest.h>

#include <numeric>

#include "engine/ad/differentiate.hpp"
#include "engine/base/hash.hpp"
#include "engine/lang/kernel.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/support/memory/allocations.hpp"
#include "tests/support/skip.hpp"

namespace hindcast::test {

using namespace lang;
using ir::Precision;

namespace {
const KernelDef energy =
    kernel("energy", {"x", "k", "e"}, [](Int i, Read<Vec3> x, Param<Float> k, Reduce<Vec2> e) {
        const Float s = squared_norm(Vec3(x[i]) - Vec3(1, 0, 0));
        if_(s > 1.0, [&] { e += Vec2(k * s, 1.0 / s); });
        e += Vec2(0.0, sqrt(s));
    });
}  // namespace

TEST_CASE("CPU: reductions of every size, on any number of threads") {
    HINDCAST_NEEDS_LLVM();
    for (const Precision precision : {Precision::f32, Precision::f64})
        for (const std::int64_t items : {0, 1, 15, 16, 17, 1023, 1024, 1025, 5000, 70000}) {
            CAPTURE(items);
            Launch launch(energy.trace(precision), items);
            CHECK(launch.differences(false, {1, 2, 3, 8}) == "");
        }
}

TEST_CASE(
    "CPU: adjoints of parameters are reductions with the same bits on any number of threads") {
    HINDCAST_NEEDS_LLVM();
    Launch launch(ad::adjoint(energy.trace(Precision::f32)), 20000);
    CHECK(launch.differences(false, {2, 3}) == "");
}

TEST_CASE("CPU: a large spring net has one hash, whatever the width and the threads") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k =
        kernel("net", {"ends", "x", "force", "energy"},
               [](Int s, Read<Int2> ends, Read<Vec3> x, Sum<Vec3> force, Reduce<Float> total) {
                   Int a = ends[s].x(), b = ends[s].y();
                   Vec3 d = x[b] - x[a];
                   const Float length = norm(d);
                   const Vec3 f = d * (1.0 - 0.5 / length);
                   force[a] += f;
                   force[b] -= f;
                   total += length * length;
               });
    constexpr int side = 90;
    std::vector<double> ends;
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
            if (j + 1 < side)
                ends.insert(ends.end(), {1.0 * (i * side + j), 1.0 * (i * side + j + 1)});
            if (i + 1 < side)
                ends.insert(ends.end(), {1.0 * (i * side + j), 1.0 * (i * side + j + side)});
        }
    Launch launch(k.trace(Precision::f32), static_cast<std::int64_t>(ends.size()) / 2);
    launch.set("ends", ends);
    CHECK(launch.differences(false, {2, 3, 8}) == "");
}

TEST_CASE("CPU: a run allocates nothing once it has run") {
    HINDCAST_NEEDS_LLVM();
    const ir::Kernel k = energy.trace(Precision::f32);
    const auto executable = backend::compile_cpu(k);
    std::vector<float> x(3 * 4000, 0.5f);
    double stiffness = 2, e[2] = {0, 0};
    const backend::Binding bindings[] = {
        {x.data(), 4000, 3, 1, 1}, {&stiffness, 1, 1, 1, 2}, {e, 1, 2, 1, 3}};
    ThreadPool pool(2);
    for (const std::int64_t items : {4000, 8}) executable->run(bindings, items, {&pool});
    const auto before = allocations();
    for (int round = 0; round < 10; ++round)
        for (const std::int64_t items : {4000, 8}) executable->run(bindings, items, {&pool});
    CHECK(allocations() == before);
}

TEST_CASE("CPU: a host that flushes subnormals gets the same bits, and keeps its setting") {
    HINDCAST_NEEDS_LLVM();
    const KernelDef k = kernel("subnormal", {"x", "y"},
                               [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * 0.5; });
    Launch launch(k.trace(Precision::f32), 40);
    launch.set("x", std::vector<double>(40, 2e-38));
    const auto executable = backend::compile_cpu(launch.kernel());
    const auto expected = launch.run(*executable);
    const unsigned saved = _mm_getcsr(), flushing = saved | 0x8040;
    _mm_setcsr(flushing);
    const auto found = launch.run(*executable);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(saved);
    CHECK(found == expected);
    CHECK((after & 0xffc0u) == (flushing & 0xffc0u));
}

}  // namespace hindcast::test
