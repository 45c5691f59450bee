// Roll-outs under checkpoint plans: what they take, what is found when it changes, horizons, norms
// of adjoints. Their bits are compared in test_rollout_random.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "engine/backend/jit/interruption.hpp"
#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "engine/base/stopped.hpp"
#include "engine/runtime/launch/host_function.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/memory/allocations.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;

namespace {

const KernelDef total = kernel("total", {"x", "sum"},
                               [](Int i, Read<Float> x, Reduce<Float> sum) { sum += x[i] * x[i]; });

Launch integers(Launch launch) {
    launch.differentiate_only({});
    return launch;
}

// x <- x + h v, v <- v - h k sin(x) for many points; loss: sum of x^2 at the end.
const KernelDef swing = kernel("swing", {"k", "v", "x"},
                               [](Int i, Param<Float> k, ReadWrite<Float> v, ReadWrite<Float> x) {
                                   v[i] = v[i] - sin(x[i]) * k.value() * 0.01;
                                   x[i] = x[i] + v[i] * 0.01;
                               });
const KernelDef start = kernel("start", {"v", "x"}, [](Int i, Write<Float> v, Write<Float> x) {
    v[i] = 0.0;
    x[i] = Float(i % 17) * 0.1;
});

struct Pendulums {
    Array k{Type::f64, {1}}, loss{Type::f64, {1}}, x, v;
    std::unique_ptr<Rollout> rollout;

    Pendulums(const std::shared_ptr<Device>& device, std::int64_t points, std::int64_t steps)
        : x(Type::f64, {points}), v(Type::f64, {points}) {
        k.fill(3);
        const auto make = [&](const KernelDef& def, const std::vector<Argument>& arguments) {
            return Launch(device, def, Precision::f64, points, arguments);
        };
        Rollout::Parts parts;
        parts.prologue.add(make(start, {v, x}));
        parts.step.add(make(swing, {k, v, x}));
        parts.steps = steps;
        parts.events[steps].add(make(total, {x, loss}));
        rollout = std::make_unique<Rollout>(device, parts);
    }
    double gradient() {
        rollout->forward(true);
        rollout->backward({{loss, 1}});
        return k.gradient().value(0);
    }
};

}  // namespace

TEST_CASE("roll-out checkpoints: the measured peak is what the plan says") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const std::int64_t points = 1024, steps = 40;
        double expected = 0;
        std::int64_t all = 0;
        for (const double share : {1.0, 0.5, 0.3, 0.25, 0.2}) {
            CAPTURE(share);
            Pendulums p(device, points, steps);
            p.rollout->forward(false);
            const std::int64_t before = memory_use().current;
            reset_memory_peak();
            if (share < 1)
                p.rollout->limit_memory(
                    {.bytes = static_cast<std::int64_t>(share * static_cast<double>(all)),
                     .spill = {}});
            const CheckpointPlan plan = p.rollout->plan();
            CHECK((plan.kind == PlanKind::store_all) == (share == 1));
            const double g = p.gradient();
            if (share == 1) {
                all = plan.peak_bytes;
                expected = g;
            }
            CHECK(g == expected);
            const auto measured = static_cast<double>(memory_use().peak - before);
            CHECK(measured <= 1.2 * static_cast<double>(plan.peak_bytes));
            CHECK(measured >= static_cast<double>(plan.peak_bytes) / 1.2);
        }
        Pendulums p(device, points, steps);
        p.rollout->limit_memory({.bytes = 1000, .spill = {}});
        CHECK_THROWS_AS(p.rollout->forward(true), Error);
        p.rollout->forward(false);  // needs no gradient memory
    }
}

TEST_CASE("roll-out checkpoints: iterations after the first allocate nothing under any plan") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    const test::TemporaryFolder folder;
    for (const bool spill : {false, true}) {
        Pendulums p(test::cpu_device(), 100, 64);
        if (spill) p.rollout->limit_memory({.spill = folder.path()});
        p.rollout->force_plan(5, 3);
        const double first = p.gradient();
        const std::vector<Rollout::Seed> seeds{{p.loss, 1}};
        const std::int64_t before = test::allocations();
        for (int times = 0; times < 3; ++times) {
            p.rollout->forward(true);
            p.rollout->backward(seeds);
        }
        CHECK(test::allocations() == before);
        CHECK(p.k.gradient().value(0) == first);
    }
}

TEST_CASE("roll-out checkpoints: what only recomputing reads must not change either") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        // x <- x + g: the adjoint reads nothing, but a step run again reads g.
        const KernelDef drift =
            kernel("drift", {"g", "x"},
                   [](Int i, Param<Float> g, ReadWrite<Float> x) { x[i] += g.value(); });
        const Array g(Type::f64, {1}), x(Type::f64, {3}), loss(Type::f64, {1});
        g.fill(0.5);
        Rollout::Parts parts;
        parts.prologue.add(Launch(device,
                                  kernel("zero", {"x"}, [](Int i, Write<Float> y) { y[i] = 0.0; }),
                                  Precision::f64, 3, {x}));
        parts.step.add(Launch(device, drift, Precision::f64, 3, {g, x}, "drift along"));
        parts.steps = 8;
        for (const std::int64_t t : {4, 8})
            parts.events[t].add(Launch(device, total, Precision::f64, 3, {x, loss}));
        Rollout rollout(device, parts);
        rollout.forward(true);
        rollout.backward({{loss, 1}});
        // d/dg of 3 (4g)^2 + 3 (8g)^2 = 6 g (16 + 64)
        CHECK(g.gradient().value(0) == 6 * 0.5 * 80);
        rollout.force_plan(2, 1);
        rollout.forward(true);
        rollout.backward({{loss, 1}});
        CHECK(g.gradient().value(0) == 6 * 0.5 * 80);
        g.fill(0.25);
        CHECK_THROWS_WITH_AS(
            rollout.backward({{loss, 1}}),
            "in kernel 'drift along': 'g' was changed between forward and backward; "
            "run forward(true) again before backward(), and change nothing in between",
            Error);
    }
}

TEST_CASE("roll-out checkpoints: a fault on the way back leaves the final state, and no gradient") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        // The adjoint of the power loops n times as well; n is raised beyond max_trips in between.
        const KernelDef power =
            kernel("power", {"n", "x"}, [](Int i, Read<Int> trips, ReadWrite<Float> x) {
                Float p = 1;
                for_(
                    0, trips[0], [&](Int) { p *= x[i]; }, 8);
                x[i] = p;
            });
        const KernelDef grow = kernel(
            "grow", {"n", "x"}, [](Int i, Read<Int> trips, ReadWrite<Int> k) { k[i] += trips[i]; });
        const Array p(Type::f64, {1}), x(Type::f64, {1}), trips(Type::i32, {1}),
            one(Type::i32, {1});
        p.fill(1.01);
        one.fill(0);
        Rollout::Parts parts;
        parts.prologue.add_copy(device, x, p);
        parts.prologue.add(
            integers(Launch(device, kernel("two", {"k"}, [](Int i, Write<Int> k) { k[i] = 2; }),
                            Precision::f64, 1, {trips})));
        parts.step.add(Launch(device, power, Precision::f64, 1, {trips, x}, "raise it"));
        parts.step.add(integers(Launch(device, grow, Precision::f64, 1, {one, trips})));
        parts.steps = 4;
        Rollout rollout(device, parts);
        rollout.force_plan(1, 1);
        rollout.forward(true);
        const double final_x = x.value(0);
        CHECK(final_x == doctest::Approx(std::pow(1.01, 16)));
        rollout.backward({{x, 1}});
        CHECK(p.gradient().value(0) == doctest::Approx(16 * std::pow(1.01, 15)));
        CHECK(x.value(0) == final_x);
        // A file system that fails is not at hand: a launch that fails when it runs again is.
        one.fill(5);
        CHECK_THROWS_AS(rollout.backward({{x, 1}}), Error);
        CHECK(x.value(0) == final_x);
    }
}

TEST_CASE("roll-out checkpoints: plans by measured costs leave the arrays alone") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        Pendulums p(device, 300, 40);
        p.x.fill(0.7);
        const StepCosts costs = p.rollout->measure();
        CHECK(costs.measured);
        CHECK(costs.advance > 0);
        CHECK(costs.adjoint > 0);
        CHECK(p.x.value(3) == 0.7);
        p.rollout->limit_memory({.bytes = 60'000, .spill = {}});
        CHECK(p.rollout->plan().measured);
        CHECK(p.rollout->plan().kind != PlanKind::store_all);
        CHECK(p.rollout->plan().describe().find("measured") != std::string::npos);
        const double limited = p.gradient();
        CHECK(limited == Pendulums(device, 300, 40).gradient());
    }
}

TEST_CASE("roll-out checkpoints: a horizon takes the state before it as given") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        // x <- a x, n times; loss = x_n (+ x_m): with horizon K the first n - K factors are
        // constants.
        const KernelDef grow =
            kernel("grow", {"a", "x"},
                   [](Int i, Param<Float> a, ReadWrite<Float> x) { x[i] *= a.value(); });
        const KernelDef sum_up =
            kernel("sum_up", {"x", "loss"},
                   [](Int i, Read<Float> x, Reduce<Float> loss) { loss += x[i]; });
        const KernelDef from =
            kernel("from", {"x0", "b", "x", "m"},
                   [](Int i, Read<Float> x0, Read<Float> b, Write<Float> x, Write<Float> m) {
                       x[i] = x0[i];
                       m[i] = b[i] * b[i];
                   });
        const KernelDef push = kernel(
            "push", {"m", "x"}, [](Int i, Read<Float> m, ReadWrite<Float> x) { x[i] += m[i]; });
        const std::int64_t steps = 12;
        for (const std::int64_t horizon : {0, 1, 5, 11, 12, 40})
            for (const std::int64_t segment : {0, 1, 2, 3}) {
                CAPTURE(horizon);
                CAPTURE(segment);
                const double a = 1.1, b = 0.5, x0 = 2;
                const auto scalar = [](double value) {
                    const Array s(Type::f64, {1});
                    s.fill(value);
                    return s;
                };
                const Array a_array = scalar(a), b_array = scalar(b), x0_array = scalar(x0);
                const Array x = scalar(0), m = scalar(0), loss = scalar(0);
                const auto one = [&](const KernelDef& def, const std::vector<Argument>& arguments) {
                    return Launch(device, def, Precision::f64, 1, arguments);
                };
                Rollout::Parts parts;
                parts.prologue.add(one(from, {x0_array, b_array, x, m}));
                parts.step.add(one(grow, {a_array, x}));
                parts.step.add(one(push, {m, x}));
                parts.steps = steps;
                for (const std::int64_t t : {std::int64_t{3}, std::int64_t{9}, steps})
                    parts.events[t].add(one(sum_up, {x, loss}));
                Rollout rollout(device, parts);
                rollout.set_horizon(horizon);
                if (segment > 0) rollout.force_plan(segment, 2);
                rollout.forward(true);
                rollout.backward({{loss, 1}});
                // By hand: d x_t / d(a, m, x0), restarted from zero at the cut.
                const std::int64_t cut =
                    horizon == 0 ? 0 : std::max<std::int64_t>(steps - horizon, 0);
                double value = x0, by_a = 0, by_m = 0, by_x0 = cut == 0 ? 1 : 0;
                double sum_a = 0, sum_m = 0, sum_x0 = 0;
                for (std::int64_t t = 1; t <= steps; ++t) {
                    by_a = a * by_a + value;
                    by_m = a * by_m + 1;
                    by_x0 = a * by_x0;
                    value = a * value + b * b;
                    if (t <= cut) by_a = by_m = by_x0 = 0;
                    if (t > cut && (t == 3 || t == 9 || t == steps)) {
                        sum_a += by_a;
                        sum_m += by_m;
                        sum_x0 += by_x0;
                    }
                }
                CHECK(a_array.gradient().value(0) == doctest::Approx(sum_a).epsilon(1e-13));
                CHECK(b_array.gradient().value(0) == doctest::Approx(sum_m * 2 * b).epsilon(1e-13));
                CHECK(x0_array.gradient().value(0) == doctest::Approx(sum_x0).epsilon(1e-13));
                if (cut > 0) {  // the run must reach into the horizon
                    rollout.forward(true, [&](std::int64_t t) { return t < cut; });
                    CHECK_THROWS_AS(rollout.backward({{loss, 1}}), Error);
                }
            }
        Rollout::Parts none;
        CHECK_THROWS_AS(Rollout(device, none).set_horizon(-1), Error);
    }
}

TEST_CASE("roll-out checkpoints: norms of adjoints, and the first that is not finite") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        // x <- a x: the adjoint of x after t steps is a^(n - t) for a loss x_n.
        const KernelDef grow =
            kernel("grow", {"a", "x"},
                   [](Int i, Param<Float> a, ReadWrite<Float> x) { x[i] *= a.value(); });
        const KernelDef sum_up =
            kernel("sum_up", {"x", "loss"},
                   [](Int i, Read<Float> x, Reduce<Float> loss) { loss += x[i]; });
        const Array a(Type::f64, {1}), x(Type::f64, {4}), loss(Type::f64, {1});
        Rollout::Parts parts;
        parts.step.add(Launch(device, grow, Precision::f64, 4, {a, x}));
        parts.steps = 30;
        parts.events[30].add(Launch(device, sum_up, Precision::f64, 4, {x, loss}));
        Rollout rollout(device, parts);
        rollout.record_adjoint_norms(true);
        for (const double factor : {1.5, 1e-20, 1e20}) {
            CAPTURE(factor);
            a.fill(factor);
            x.fill(0);
            rollout.forward(true);
            rollout.backward({{loss, 1}});
            const Rollout::AdjointNorms& n = rollout.adjoint_norms();
            REQUIRE(n.norms.size() == 31);
            CHECK(n.first == 0);
            for (std::size_t t = 0; t <= 30; ++t) {
                CAPTURE(t);
                const double expected = 2 * std::pow(factor, 30.0 - static_cast<double>(t));
                if (std::isfinite(expected) && expected > 1e-300)
                    CHECK(n.norms[t] == doctest::Approx(expected).epsilon(1e-12));
            }
            // 1e20 to the 16th leaves the range of f64: 16 steps before the end.
            CHECK(n.not_finite == (factor == 1e20 ? 14 : -1));
            if (factor == 1e20) CHECK(n.culprit.same_memory(x));
        }
        rollout.set_horizon(10);
        a.fill(2);
        rollout.forward(true);
        rollout.backward({{loss, 1}});
        CHECK(rollout.adjoint_norms().first == 20);
        CHECK(rollout.adjoint_norms().norms.size() == 11);
        CHECK(rollout.adjoint_norms().norms[0] == 2 * std::pow(2.0, 10));
    }
}

TEST_CASE("rollout: the adjoint of the state is shown at every step, under every plan") {
    // x(t+1) = a x(t), loss = sum x(30): the adjoint of x(t) is a^(30-t), exact for a = 2.
    const KernelDef grow = kernel(
        "grow", {"a", "x"}, [](Int i, Param<Float> a, ReadWrite<Float> x) { x[i] *= a.value(); });
    const KernelDef sum_up = kernel("sum_up", {"x", "loss"},
                                    [](Int i, Read<Float> x, Reduce<Float> loss) { loss += x[i]; });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array a(Type::f64, {1}), x(Type::f64, {4}), loss(Type::f64, {1});
        a.fill(2);
        Rollout::Parts parts;
        parts.step.add(Launch(device, grow, Precision::f64, 4, {a, x}));
        parts.steps = 30;
        parts.events[30].add(Launch(device, sum_up, Precision::f64, 4, {x, loss}));
        Rollout rollout(device, parts);
        for (const bool segments : {false, true}) {
            if (segments) rollout.force_plan(7, 2);
            std::vector<std::int64_t> seen;
            rollout.watch_adjoints([&](std::int64_t t) {
                seen.push_back(t);
                CHECK(x.gradient().value(3) == std::pow(2.0, 30.0 - static_cast<double>(t)));
            });
            rollout.forward(true);
            rollout.backward({{loss, 1}});
            std::vector<std::int64_t> all(31);
            for (std::size_t k = 0; k <= 30; ++k) all[k] = 30 - static_cast<std::int64_t>(k);
            CHECK(seen == all);
            // Without the watch again, as fast as ever.
            rollout.watch_adjoints({});
            rollout.forward(true);
            rollout.backward({{loss, 1}});
            CHECK(seen.size() == 31);
        }
    }
}

namespace {

// x <- x, which takes long, in both directions.
class Pause final : public HostFunction {
public:
    static constexpr std::chrono::milliseconds length{30};
    int forward = 0, back = 0;  // runs

    const std::vector<ir::Parameter>& parameters() const override { return parameters_; }
    void differentiate_only(const std::vector<std::string>&) override {}
    void run(Direction direction, const ir::Kernel&, const backend::Binding*) override {
        ++(direction == Direction::forward ? forward : back);
        std::this_thread::sleep_for(length);
    }

private:
    std::vector<ir::Parameter> parameters_{{"x", ir::Access::read_write, Type::f64, 1, 1}};
};

}  // namespace

TEST_CASE("roll-out checkpoints: slow steps are measured on a few") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const auto pause = std::make_shared<Pause>();
        Array x(Type::f64, {1});
        x.fill(2);
        Rollout::Parts parts;
        parts.step.add(Launch(device, pause, Precision::f64, std::vector<Argument>{x}, "pause"));
        parts.steps = 40;
        Rollout rollout(device, parts);
        rollout.measure();
        // Everything is stored, and nothing weighed: each allocates what it works with.
        CHECK(pause->forward <= 5);
        CHECK(pause->back <= 5);
        CHECK(x.value(0) == 2);
        const int forward = pause->forward;
        rollout.measure();
        CHECK(pause->forward == forward);
        // Now steps are made again, and their costs tell how many.
        const std::int64_t all = rollout.plan().peak_bytes;
        rollout.limit_memory({.bytes = all - 8 * 20, .spill = {}});
        const StepCosts costs = rollout.measure();
        CHECK(costs.measured);
        CHECK(costs.advance >= std::chrono::duration<double>(Pause::length).count());
        CHECK(pause->forward - forward <= 10);
        CHECK(rollout.plan().kind != PlanKind::store_all);
    }
}

TEST_CASE("roll-out checkpoints: an interruption ends the way back at the next step") {
    for (const auto& device : test::devices())
        for (const std::int64_t segment : {5, 2}) {
            CAPTURE(device->describe());
            CAPTURE(segment);
            const auto pause = std::make_shared<Pause>();
            Array x(Type::f64, {1});
            x.fill(2);
            Rollout::Parts parts;
            parts.step.add(
                Launch(device, pause, Precision::f64, std::vector<Argument>{x}, "pause"));
            parts.steps = 5;
            Rollout rollout(device, parts);
            rollout.force_plan(segment, 1);
            rollout.forward(true);
            {
                // Asked for after each pause.
                const backend::Interruptible here([&] {
                    if (pause->back >= 2) throw Stopped();
                });
                CHECK_THROWS_AS(rollout.backward({{x, 1}}), Stopped);
            }
            CHECK(pause->back == 2);
            const int forward = pause->forward;
            {
                const backend::Interruptible here([&] {
                    if (pause->forward >= forward + 4) throw Stopped();
                });
                CHECK_THROWS_AS(rollout.forward(true), Stopped);
            }
            CHECK(pause->forward <= forward + 4);
            rollout.forward(true);
            rollout.backward({{x, 1}});
            CHECK(x.gradient().value(0) == 1);
            CHECK(x.value(0) == 2);
        }
}
