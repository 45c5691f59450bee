// Random roll-outs: programs with everything in them have the same bits under every checkpoint
// plan, horizon and device, in first and second order.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;

namespace {

constexpr std::int64_t n = 5;

const KernelDef mix = kernel("mix", {"y", "x"}, [](Int i, Read<Float> y, ReadWrite<Float> x) {
    x[i] = x[i] * 0.7 + sin(y[i] * x[i]) * 0.3;
});
const KernelDef square = kernel(
    "square", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * x[i] * 0.5; });
const KernelDef scatter = kernel("scatter", {"x", "z"}, [](Int i, Read<Float> x, Sum<Float> z) {
    z[(i * 3 + 1) % 5] += cos(x[i]);
});
const KernelDef add_to =
    kernel("add_to", {"x", "z"},
           [](Int i, Read<Float> x, Accumulate<Float> z) { z[(i + 2) % 5] += sin(x[i]) * 0.1; });
const KernelDef total = kernel("total", {"x", "sum"},
                               [](Int i, Read<Float> x, Reduce<Float> sum) { sum += x[i] * x[i]; });
const KernelDef use_total =
    kernel("use_total", {"sum", "x"}, [](Int i, Param<Float> sum, ReadWrite<Float> x) {
        x[i] = x[i] * 0.9 + sin(sum.value()) * 0.1;
    });
const KernelDef turn = kernel("turn", {"p", "x"}, [](Int i, Param<Float> p, ReadWrite<Float> x) {
    x[i] = x[i] * cos(p.value());
});
const KernelDef tick =
    kernel("tick", {"step", "x"}, [](Int i, Param<Int> step, ReadWrite<Float> x) {
        x[i] = x[i] + sin(Float(step.value()) + x[i]) * 0.2;
    });
const KernelDef shuffle =
    kernel("shuffle", {"k"}, [](Int i, ReadWrite<Int> k) { k[i] = (k[i] * 3 + 1) % 5; });
const KernelDef pick =
    kernel("pick", {"k", "x", "y"},
           [](Int i, Read<Int> k, Read<Float> x, Write<Float> y) { y[i] = x[k[i]] * 0.9; });
const KernelDef give = kernel(
    "give", {"k", "x", "z"},
    [](Int i, Read<Int> k, Read<Float> x, Accumulate<Float> z) { z[k[i]] += x[i] * x[i] * 0.05; });
const KernelDef begin =
    kernel("begin", {"p", "k", "x"}, [](Int i, Param<Float> p, Write<Int> k, Write<Float> x) {
        k[i] = i;
        x[i] = sin(p.value() * Float(i + 1));
    });
const KernelDef copy =
    kernel("copy", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i]; });

struct Case {
    std::shared_ptr<Device> device;
    std::vector<Array> x;  // real state
    Array k{Type::i32, {n}}, sum{Type::f64, {1}}, loss{Type::f64, {1}};
    Array p{Type::f64, {1}}, q{Type::f64, {1}};
    Array counter = Rollout::make_step_counter();
    Rollout::Parts parts;

    Launch make(const KernelDef& def, const std::vector<Argument>& arguments,
                std::int64_t items = n) const {
        return Launch(device, def, Precision::f64, items, arguments);
    }

    static Launch integers(Launch launch) {
        launch.differentiate_only({});
        return launch;
    }

    Case(std::shared_ptr<Device> d, unsigned seed) : device(std::move(d)) {
        std::mt19937 random(seed);
        const auto below = [&](std::size_t limit) { return random() % limit; };
        for (int a = 0; a < 4; ++a) x.emplace_back(Type::f64, std::vector<std::int64_t>{n});
        p.fill(0.8);
        q.fill(0.3);
        for (const Array& a : x) parts.prologue.add(make(begin, {p, k, a}));
        const auto random_launch = [&]() -> Launch {
            const Array& a = x[below(4)];
            Array b = x[below(4)];
            while (b.same_memory(a)) b = x[below(4)];
            switch (below(11)) {
                case 0: return make(mix, {a, b});
                case 1: return make(square, {a, b});
                case 2: return make(square, {a, b}, n - 2);  // some elements stay
                case 3: return make(scatter, {a, b});
                case 4: return make(add_to, {a, b});
                case 5: return make(total, {a, sum});
                case 6: return make(use_total, {sum, a});
                case 7: return make(turn, {q, a});
                case 8: return make(tick, {counter, a});
                case 9:
                    if (below(2) == 0)
                        return make(pick, {k, a, b});
                    else
                        return integers(make(shuffle, {k}));
                default: return make(give, {k, a, b});
            }
        };
        const auto some = [&](std::size_t launches) {
            Program program;
            for (std::size_t l = 0; l < launches; ++l) program.add(random_launch());
            return program;
        };
        parts.step = some(1 + below(6));
        parts.steps = static_cast<std::int64_t>(1 + below(17));
        Program often;  // several launches, with values between them
        often.add(make(square, {x[0], x[3]}));
        often.add(make(total, {x[3], loss}));
        if (below(2) == 0) often = some(2);
        for (std::int64_t t = 0; t <= parts.steps; ++t)
            if (below(3) == 0) parts.events[t].append(often);
        if (below(2) == 0)
            parts
                .events[static_cast<std::int64_t>(below(static_cast<std::size_t>(parts.steps) + 1))]
                .append(some(2));
        for (const Array& a : x) parts.events[parts.steps].add(make(total, {a, loss}));
    }
    Rollout rollout() const {
        Rollout r(device, parts);
        r.set_step_counter(counter);
        return r;
    }
};

// 0: none.
std::int64_t random_horizon(std::mt19937& random) {
    return random() % 3 == 0 ? static_cast<std::int64_t>(1 + random() % 12) : 0;
}
// After how many steps a run is stopped; one with a horizon goes to its end.
std::int64_t random_stop(std::mt19937& random, std::int64_t horizon, std::int64_t steps) {
    return horizon == 0 && random() % 3 == 0 ? static_cast<std::int64_t>(random() % 12) : steps;
}

std::string bytes(const Array& a) {
    return std::string(static_cast<const char*>(a.data()), a.bytes());
}

// Everything that a run leaves behind.
std::vector<std::string> outcome(const Case& c, Rollout& r, RolloutMode mode, std::int64_t stop,
                                 int times) {
    std::vector<std::string> all;
    c.p.tangent().fill(0.5);
    c.q.tangent().fill(-1.25);
    c.p.gradient().clear();
    c.q.gradient().clear();
    // Without a watch steps may run many at once.
    Rollout::Watch watch;
    if (stop < c.parts.steps) watch = [&](std::int64_t t) { return t < stop; };
    r.forward(true, watch, mode);
    for (int k = 0; k < times; ++k) {
        r.backward({{c.loss, 1}, {c.x[1], 0.5}, {c.sum, 2}}, mode);
        for (const Array& a : {c.p, c.q}) {
            all.push_back(bytes(a.gradient()));
            if (mode == RolloutMode::second) all.push_back(bytes(a.gradient().tangent()));
        }
        for (const Array& a : c.x) {
            all.push_back(bytes(a));
            all.push_back(bytes(a.gradient()));
        }
        for (const Array& a : {c.k, c.sum, c.loss, c.counter}) all.push_back(bytes(a));
    }
    return all;
}

// How a program runs, and what the interpreter comes to, with everything stored.
struct Reference {
    std::int64_t horizon, stop;
    std::vector<std::string> expected;
};
Reference reference(const Case& c, RolloutMode mode, std::mt19937& random) {
    Reference r;
    r.horizon = random_horizon(random);
    r.stop = random_stop(random, r.horizon, c.parts.steps);
    Rollout all = c.rollout();
    all.set_horizon(r.horizon);
    r.expected = outcome(c, all, mode, r.stop, 2);
    return r;
}

}  // namespace

TEST_CASE("roll-out checkpoints: random programs have the same bits under random plans") {
    std::mt19937 random(7);
    int plans = 0, gradients = 0;
    for (unsigned seed = 1; seed <= 150; ++seed) {
        CAPTURE(seed);
        const Case c(test::interpreter_device(), seed);
        for (const RolloutMode mode : {RolloutMode::first, RolloutMode::second}) {
            Rollout all = c.rollout();
            const std::int64_t horizon = random_horizon(random),
                               stop = random_stop(random, horizon, c.parts.steps);
            CAPTURE(mode == RolloutMode::second);
            CAPTURE(horizon);
            CAPTURE(stop);
            all.set_horizon(horizon);
            const auto expected = outcome(c, all, mode, stop, 2);
            CHECK(all.plan(mode).kind == PlanKind::store_all);
            gradients += c.p.gradient().value(0) != 0;
            for (int trial = 0; trial < 4; ++trial) {
                Rollout r = c.rollout();
                const auto segment = static_cast<std::int64_t>(1 + random() % 7),
                           checkpoints = static_cast<std::int64_t>(1 + random() % 4);
                CAPTURE(segment);
                CAPTURE(checkpoints);
                r.force_plan(segment, checkpoints);
                r.set_horizon(horizon);
                CHECK((outcome(c, r, mode, stop, 2) == expected));
                plans += r.plan(mode).kind != PlanKind::store_all;
            }
        }
    }
    CHECK(plans > 700);
    CHECK(gradients > 150);
}

// The definition fuses nothing, and makes no graphs.
TEST_CASE("roll-out checkpoints: random programs have the interpreter's bits on every device") {
    for (const auto& device : test::devices()) {
        if (device == test::interpreter_device()) continue;
        CAPTURE(device->describe());
        std::mt19937 random(8);
        for (unsigned seed = 1; seed <= (test::full() ? 40u : 15u); ++seed) {
            CAPTURE(seed);
            const Case c(test::interpreter_device(), seed), d(device, seed);
            for (const RolloutMode mode : {RolloutMode::first, RolloutMode::second}) {
                const auto [horizon, stop, expected] = reference(c, mode, random);
                CAPTURE(mode == RolloutMode::second);
                CAPTURE(stop);
                CAPTURE(horizon);
                for (const std::int64_t segment : {0, 1, 2, 5}) {
                    Rollout r = d.rollout();
                    r.set_horizon(horizon);
                    const auto checkpoints = static_cast<std::int64_t>(1 + random() % 4);
                    CAPTURE(segment);
                    CAPTURE(checkpoints);
                    if (segment > 0) r.force_plan(segment, checkpoints);
                    for (int k = 0; k < 3; ++k) {
                        CAPTURE(k);
                        std::vector<std::string> found;
                        CHECK_NOTHROW(found = outcome(d, r, mode, stop, 2));
                        CHECK((found == expected));
                    }
                }
            }
        }
    }
}

TEST_CASE("roll-out checkpoints: the compiled program, and checkpoints in a file") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    const test::TemporaryFolder folder;
    for (unsigned seed = 201; seed <= 206; ++seed) {
        CAPTURE(seed);
        const Case c(test::cpu_device(), seed);
        Rollout all = c.rollout();
        const auto expected = outcome(c, all, RolloutMode::first, c.parts.steps, 1);
        for (const bool spill : {false, true}) {
            Rollout r = c.rollout();
            if (spill) r.limit_memory({.spill = folder.path()});
            r.force_plan(2, 2);
            CHECK((outcome(c, r, RolloutMode::first, c.parts.steps, 1) == expected));
            CHECK(std::filesystem::is_empty(folder.path()));
        }
    }
}

TEST_CASE("roll-out checkpoints: random programs with compiled steps have the interpreter's bits") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    const auto device = std::make_shared<Device>(
        DeviceOptions{.threads = 1, .whole_program = WholeProgramUse::always});
    std::mt19937 random(9);
    int compiled = 0, refused = 0;
    for (unsigned seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        const Case c(test::interpreter_device(), seed), d(device, seed);
        for (const RolloutMode mode : {RolloutMode::first, RolloutMode::second}) {
            const auto [horizon, stop, expected] = reference(c, mode, random);
            CAPTURE(mode == RolloutMode::second);
            CAPTURE(stop);
            CAPTURE(horizon);
            for (const std::int64_t segment : {2, 5}) {
                Rollout r = d.rollout();
                r.set_horizon(horizon);
                const auto checkpoints = static_cast<std::int64_t>(1 + random() % 4);
                CAPTURE(segment);
                CAPTURE(checkpoints);
                r.force_plan(segment, checkpoints);
                if (r.plan(mode).kind == PlanKind::store_all && horizon == 0) continue;
                try {
                    for (int k = 0; k < 2; ++k) {
                        const auto found = outcome(d, r, mode, stop, 2);
                        CHECK((found == expected));
                    }
                    ++compiled;
                } catch (const Error& e) {
                    CAPTURE(e.happened());
                    CHECK(e.happened().find("cannot be one function") != std::string::npos);
                    ++refused;
                }
            }
        }
    }
    CHECK(compiled > 40);
    MESSAGE(compiled << " compiled, " << refused << " refused");
}
