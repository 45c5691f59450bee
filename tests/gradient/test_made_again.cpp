// Results that a roll-out makes again in its backward pass instead of keeping them.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "engine/backend/optional_passes.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::lang;

namespace {

// Every step: s = sum over neighbors of sin x (at traced indices), then x += h s x p.
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

std::shared_ptr<Device> without_rematerialization(const Device& device) {
    DeviceOptions options = device.options();
    options.passes = options.passes.without(Pass::rematerialization);
    return std::make_shared<Device>(options);
}

bool keeps(Rollout& rollout, const Array& array) {
    for (const Rollout::KeptValue& value : rollout.kept_values())
        if (value.array.same_memory(array)) return true;
    return false;
}

struct Run {
    Array p{ir::Type::f64, {8}}, x{ir::Type::f64, {8}}, s{ir::Type::f64, {8}},
        e{ir::Type::f64, {1}};
    std::unique_ptr<Rollout> rollout;

    // `before` and `after` add to the step, and to the events.
    using Add = std::function<void(const Run&, Rollout::Parts&, const std::shared_ptr<Device>&)>;
    explicit Run(const std::shared_ptr<Device>& device, const Add& before = {},
                 const Add& after = {}) {
        for (int i = 0; i < 8; ++i) p.set_value(i, 0, 0.4 + 0.1 * i);
        Rollout::Parts parts;
        parts.steps = 12;
        parts.prologue.add(launch(device, start, {p, x}));
        if (before) before(*this, parts, device);
        parts.step.add(launch(device, spread_out, {x, s}));
        parts.step.add(launch(device, move, {s, p, 0.05, x}));
        if (after) after(*this, parts, device);
        parts.events[12].add(launch(device, loss, {x, e}));
        rollout = std::make_unique<Rollout>(device, std::move(parts));
    }
    static Launch launch(const std::shared_ptr<Device>& device, const KernelDef& k,
                         std::vector<Argument> arguments) {
        return Launch(device, k, ir::Precision::f64, 8, std::move(arguments));
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
        Run kept(without_rematerialization(*device)), again(device);
        const std::vector<double> expected = kept.gradient();
        CHECK(again.gradient() == expected);
        CHECK(again.gradient() == expected);  // a second time
        CHECK(keeps(*kept.rollout, kept.s));
        CHECK(!keeps(*again.rollout, again.s));
        CHECK(keeps(*again.rollout, again.x));
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
    const auto run = [](const std::shared_ptr<Device>& any, int lines, bool again,
                        std::int64_t segment) {
        const auto device = again ? any : without_rematerialization(*any);
        const auto cell = [](const Int& i, int k) { return i * 128 + 16 * k; };
        const KernelDef scatter =
            kernel("scatter", {"x", "s"}, [=](Int i, Read<Float> x, Sum<Float> s) {
                const Int at = i + Int(x[i] * 1e-9);  // depends on values, so it is not known
                for (int k = 0; k < lines; ++k) s[cell(at, k)] += sin(x[i] * (1.0 + k));
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
        parts.step.add(launch(scatter, {x, s}));
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

TEST_CASE("roll-out: only what a launch alone defines, before anything reads it, is made again") {
    const KernelDef add_more =
        kernel("add_more", {"x", "s"},
               [](Int i, Read<Float> x, Accumulate<Float> s) { s[i] += 0.1 * x[i]; });
    const KernelDef look_at =
        kernel("look_at", {"s", "x"},
               [](Int i, Read<Float> s, ReadWrite<Float> x) { x[i] += 0.01 * s[i] * x[i]; });
    const KernelDef halve = kernel("halve", {"s"}, [](Int i, ReadWrite<Float> s) { s[i] *= 0.5; });
    const Run::Add more = [&](const Run& r, Rollout::Parts& parts, const auto& device) {
        parts.step.add(Run::launch(device, add_more, {r.x, r.s}));
        parts.step.add(Run::launch(device, move, {r.s, r.p, 0.05, r.x}));
    };
    const Run::Add earlier = [&](const Run& r, Rollout::Parts& parts, const auto& device) {
        parts.step.add(Run::launch(device, look_at, {r.s, r.x}));
    };
    const Run::Add event = [&](const Run& r, Rollout::Parts& parts, const auto& device) {
        parts.events[5].add(Run::launch(device, halve, {r.s}));
    };
    for (const auto& device : test::devices())
        for (const auto& [before, after] :
             {std::pair{Run::Add(), more}, {earlier, Run::Add()}, {Run::Add(), event}}) {
            CAPTURE(device->describe());
            Run plain(without_rematerialization(*device), before, after),
                run(device, before, after);
            CHECK(run.gradient() == plain.gradient());
            CHECK(keeps(*run.rollout, run.s));
        }
}

TEST_CASE("roll-out: cheap launches of what stays the same are made again, others are kept") {
    for (const auto& device : test::devices())
        for (const int terms : {1, 100}) {
            CAPTURE(device->describe());
            CAPTURE(terms);
            const KernelDef weigh =
                kernel("weigh", {"p", "w"}, [=](Int i, Read<Float> p, Write<Float> w) {
                    Float sum = p[i];
                    for (int k = 0; k < terms; ++k) sum = sum * p[i] * 0.5 + 0.1;
                    w[i] = sum;
                });
            const KernelDef grow =
                kernel("grow", {"w", "x"}, [](Int i, Read<Float> w, ReadWrite<Float> x) {
                    x[i] += 0.01 * w[i] * x[i] * w[i];
                });
            const Array w(ir::Type::f64, {8});
            const Run::Add add = [&](const Run& r, Rollout::Parts& parts, const auto& where) {
                parts.step.add(Run::launch(where, weigh, {r.p, w}));
                parts.step.add(Run::launch(where, grow, {w, r.x}));
            };
            Run plain(without_rematerialization(*device), add), run(device, add);
            const std::vector<double> expected = plain.gradient();
            CHECK(run.gradient() == expected);
            CHECK(run.gradient() == expected);
            std::int64_t again = 0;
            run.rollout->profile(true);
            CHECK(run.gradient() == expected);
            for (const Rollout::Profile& entry : run.rollout->profiles())
                if (entry.launch == "weigh" && entry.direction == Direction::forward)
                    again = entry.runs - 12;
            CHECK(again == (terms == 1 ? 12 : 0));
        }
}
