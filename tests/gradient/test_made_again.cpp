// Results that a roll-out makes again in its backward pass instead of keeping them.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::lang;

namespace {

// Every step: s = sum over neighbours of sin x (at traced indices), then x += h s x p.
const KernelDef spread_out =
    kernel("spread_out", {"x", "s"}, [](Int i, Read<Float> x, Sum<Float> s) {
        const Int to = Int(abs(x[i]) * 4.0) % 8;
        s[to] += sin(x[i]);
        s[i] += x[i] * x[i];
    });
const KernelDef move = kernel("move", {"s", "p", "h", "x"},
                              [](Int i, Read<Float> s, Read<Float> p, Param<Float> h,
                                 ReadWrite<Float> x) { x[i] += h.value() * s[i] * x[i] * p[i]; });
const KernelDef start = kernel(
    "start", {"p", "x"}, [](Int i, Read<Float> p, Write<Float> x) { x[i] = p[i] * 0.31 + 0.107; });
const KernelDef loss =
    kernel("loss", {"x", "e"}, [](Int i, Read<Float> x, Reduce<Float> e) { e += x[i] * x[i]; });

struct Run {
    Array p{ir::Type::f64, {8}}, x{ir::Type::f64, {8}}, s{ir::Type::f64, {8}},
        e{ir::Type::f64, {1}};
    std::unique_ptr<Rollout> rollout;

    Run(const std::shared_ptr<Device>& device, bool again) {
        const auto launch = [&](const KernelDef& k, std::vector<Argument> arguments) {
            return Launch(device, k, ir::Precision::f64, 8, std::move(arguments));
        };
        for (int i = 0; i < 8; ++i) p.set_value(i, 0, 0.4 + 0.1 * i);
        Rollout::Parts parts;
        parts.steps = 12;
        parts.prologue.add(launch(start, {p, x}));
        Launch spread = launch(spread_out, {x, s});
        if (again) spread.make_again();
        parts.step.add(spread);
        parts.step.add(launch(move, {s, p, 0.05, x}));
        parts.events[12].add(launch(loss, {x, e}));
        rollout = std::make_unique<Rollout>(device, std::move(parts));
    }
    std::vector<double> gradient() {
        rollout->forward(true);
        rollout->backward({{e, 1}});
        return p.gradient().to_doubles();
    }
};

}  // namespace

TEST_CASE("roll-out: what is made again is not kept, and gradients have the same bits") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        Run kept(device, false), again(device, true);
        const std::vector<double> expected = kept.gradient();
        CHECK(again.gradient() == expected);
        CHECK(again.gradient() == expected);  // a second time
        const auto keeps = [](Run& run, const Array& array) {
            for (const Rollout::KeptValue& value : run.rollout->kept_values())
                if (value.array.same_memory(array)) return true;
            return false;
        };
        CHECK(keeps(kept, kept.s));
        CHECK(!keeps(again, again.s));
        CHECK(keeps(again, again.x));
        // Against central differences.
        for (int k = 0; k < 8; ++k) {
            const double p = again.p.value(k, 0), step = 1e-6;
            const auto value = [&](double at) {
                again.p.set_value(k, 0, at);
                again.rollout->forward(false);
                return again.e.value(0);
            };
            CHECK((value(p + step) - value(p - step)) / (2 * step) ==
                  doctest::Approx(expected[static_cast<std::size_t>(k)]).epsilon(1e-7));
            again.p.set_value(k, 0, p);
        }
    }
}

TEST_CASE("roll-out: what is made again is kept where most of it is zero") {
    // 1024 numbers, 128 cache lines, of which each of 8 items touches `lines`: a quarter is kept.
    const auto run = [](const std::shared_ptr<Device>& device, int lines, bool again,
                        std::int64_t segment) {
        const auto cell = [](const Int& i, int k) { return i * 128 + 16 * k; };
        const KernelDef scatter =
            kernel("scatter", {"x", "s"}, [=](Int i, Read<Float> x, Sum<Float> s) {
                for (int k = 0; k < lines; ++k) s[cell(i, k)] += sin(x[i] * (1.0 + k));
            });
        const KernelDef gather =
            kernel("gather", {"s", "p", "x"},
                   [=](Int i, Read<Float> s, Read<Float> p, ReadWrite<Float> x) {
                       Float sum = 0;
                       for (int k = 0; k < lines; ++k) sum += s[cell(i, k)] * s[cell(i, k)];
                       x[i] += 0.01 * sum * x[i] * p[i];
                   });
        const Array p(ir::Type::f64, {8}), x(ir::Type::f64, {8}), s(ir::Type::f64, {1024}),
            e(ir::Type::f64, {1});
        for (int i = 0; i < 8; ++i) p.set_value(i, 0, 0.4 + 0.1 * i);
        const auto launch = [&](const KernelDef& k, std::vector<Argument> arguments) {
            return Launch(device, k, ir::Precision::f64, 8, std::move(arguments));
        };
        Rollout::Parts parts;
        parts.steps = 10;
        parts.prologue.add(launch(start, {p, x}));
        Launch to_cells = launch(scatter, {x, s});
        if (again) to_cells.make_again();
        parts.step.add(to_cells);
        parts.step.add(launch(gather, {s, p, x}));
        parts.events[10].add(launch(loss, {x, e}));
        Rollout rollout(device, std::move(parts));
        if (segment > 0) rollout.force_plan(segment, 2);
        rollout.profile(true);
        std::vector<double> gradient;
        for (int round = 0; round < 2; ++round) {  // in the second one slots held something
            rollout.forward(true);
            rollout.backward({{e, 1}});
            gradient = p.gradient().to_doubles();
        }
        std::int64_t scatters = 0;
        for (const Rollout::Profile& entry : rollout.profiles())
            if (entry.launch == "scatter" && entry.direction == Direction::forward)
                scatters += entry.runs;
        return std::pair{gradient, scatters};
    };
    for (const auto& device : test::devices())
        for (const int lines : {4, 5}) {  // 32 lines fit, 40 do not
            CAPTURE(device->describe());
            const auto [expected, runs] = run(device, lines, false, 0);
            CHECK(runs == 20);
            for (const std::int64_t segment : {0, 4}) {
                const std::int64_t recomputed =
                    segment > 0 ? run(device, lines, false, segment).second : 20;
                const auto [gradient, scatters] = run(device, lines, true, segment);
                CHECK(gradient == expected);
                // What is mostly zero a host keeps without the zeros.
                CHECK(scatters == recomputed + (lines == 4 && !device->cuda() ? 0 : 20));
            }
        }
}

TEST_CASE("roll-out: only what a launch alone defines can be made again") {
    const auto device = test::interpreter_device();
    Run run(device, false);
    Rollout::Parts parts;
    parts.steps = 2;
    Launch moves(device, move, ir::Precision::f64, 8, {run.s, run.p, 0.05, run.x});
    moves.make_again();
    parts.step.add(moves);
    Rollout rollout(device, std::move(parts));
    CHECK_THROWS_WITH_AS(rollout.forward(true), doctest::Contains("cannot be made again"), Error);
}
