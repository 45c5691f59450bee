// Threads that share one CUDA device: each with launches, arrays, streams and graphs of its own.
// On the driver in software.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "engine/runtime/launch/launch.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/software_cuda.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;
using test::fresh_device;
using test::Software;
using Doubles = std::vector<double>;

namespace {

constexpr int threads = 4, turns = 60;

// Runs work(thread, turn), which says whether all was right.
template <class Work>
int wrong_turns(const Work& work) {
    std::atomic<int> wrong = 0;
    std::vector<std::thread> list;
    for (int t = 0; t < threads; ++t)
        list.emplace_back([&, t] {
            for (int turn = 0; turn < turns; ++turn) {
                try {
                    if (!work(t, turn)) ++wrong;
                } catch (...) {
                    ++wrong;
                }
            }
        });
    for (std::thread& thread : list) thread.join();
    return wrong;
}

}  // namespace

TEST_CASE("CUDA threads: launches, arrays and streams of several threads on one device") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("seed=3");
    const auto device = fresh_device();
    const KernelDef scale =
        kernel("scale", {"x", "k", "y", "sum"},
               [](Int i, Read<Float> x, Param<Float> k, Write<Float> y, Reduce<Float> sum) {
                   y[i] = k * x[i];
                   sum += x[i];
               });
    const int wrong = wrong_turns([&](int thread, int turn) {
        const double k = 1 + thread;
        const Array x = turn % 2 == 0 ? Array(Type::f64, {50})
                                      : Array::on(device->cuda(), Type::f64, {50}),
                    y = Array::on(device->cuda(), Type::f64, {50}), sum(Type::f64, {1});
        x.fill(turn);
        Launch launch(device, scale, Precision::f64, 50, {x, k, y, sum});
        if (turn % 3 == 0) launch.move_to(Stream(device));
        launch.forward().run();
        launch.forward().run();
        return y.to_doubles() == Doubles(50, k * turn) && sum.value(0) == 100.0 * turn;
    });
    CHECK(wrong == 0);
    CHECK(device.use_count() == 1);
}

TEST_CASE("CUDA threads: what one thread notes for a graph is not disturbed by another") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("seed=4");
    const auto device = fresh_device();
    const KernelDef grow = kernel(
        "grow", {"x", "k"}, [](Int i, ReadWrite<Float> x, Read<Float> k) { x[i] = x[i] * k[i]; });
    const KernelDef begin = kernel("begin", {"x"}, [](Int i, Write<Float> x) { x[i] = 1.0; });
    const int wrong = wrong_turns([&](int thread, int turn) {
        const double factor = 1 + thread;
        const Array x = Array::from(Doubles(3, 1.0), Type::f64, {3}),
                    k = Array::from(Doubles(3, factor), Type::f64, {3});
        if (thread % 2 == 0) {  // work of the host, memory, launches without graphs
            const Launch launch(device, grow, Precision::f64, 3, {x, k});
            for (int n = 0; n < 4; ++n) launch.forward().run();
            return x.value(2) == factor * factor * factor * factor && turn >= 0;
        }
        Rollout::Parts parts;
        parts.prologue.add(Launch(device, begin, Precision::f64, 3, {x}));
        parts.step.add(Launch(device, grow, Precision::f64, 3, {x, k}));
        parts.steps = 4;
        Rollout rollout(device, std::move(parts));
        bool right = true;
        for (int n = 0; n < 3; ++n) {
            rollout.forward(true);
            rollout.backward({{x, 1.0}});
            right = right && x.value(1) == factor * factor * factor * factor &&
                    k.gradient().value(0) == 4 * factor * factor * factor;
        }
        return right;
    });
    CHECK(wrong == 0);
}
