// Roll-outs: what is kept, what must not change, and that plans follow what is set. Each case is a
// way in which a stale value could be taken for the right one.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/program/tape.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using hindcast::test::message;
using ir::Precision;
using ir::Type;
using test::array;
using Values = std::vector<double>;

namespace {

const KernelDef square =
    kernel("square", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * x[i]; });
const KernelDef grow =
    kernel("grow", {"a", "x"}, [](Int i, Param<Float> a, ReadWrite<Float> x) { x[i] *= a; });
const KernelDef multiply = kernel(
    "multiply", {"a", "x"}, [](Int i, Read<Float> a, ReadWrite<Float> x) { x[i] = x[i] * a[i]; });
const KernelDef set_to = kernel("set_to", {"value", "x"},
                                [](Int i, Param<Float> value, Write<Float> x) { x[i] = value; });
const KernelDef add_up =
    kernel("add_up", {"x", "loss"}, [](Int i, Read<Float> x, Reduce<Float> loss) { loss += x[i]; });
const KernelDef add_squares =
    kernel("add_squares", {"x", "loss"},
           [](Int i, Read<Float> x, Reduce<Float> loss) { loss += x[i] * x[i]; });

Launch one(const std::shared_ptr<Device>& device, const KernelDef& def,
           const std::vector<Argument>& arguments, const std::string& description = "") {
    return Launch(device, def, Precision::f64, 1, arguments, description);
}

const std::int64_t bytes = static_cast<std::int64_t>(Array(Type::f64, {1}).bytes());

}  // namespace

TEST_CASE("roll-out plan: only what an adjoint reads is kept") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array p = array({2}), x = array({0}), a = array({1.5}), b = array({3}),
                    loss = array({0});
        const auto kept = [&](const std::function<void(Rollout::Parts&)>& fill) {
            Rollout::Parts parts;
            parts.prologue.add_copy(device, x, p);
            parts.steps = 10;
            fill(parts);
            Rollout rollout(device, parts);
            CHECK(rollout.kept_bytes() == 0);
            rollout.forward(false);
            CHECK(rollout.kept_bytes() == 0);
            rollout.forward(true);
            return rollout.kept_bytes() / bytes;
        };
        // x *= b with a constant b: the adjoint of x needs b only, the adjoint of b would need x.
        Launch constant = one(device, multiply, {b, x});
        constant.differentiate_only({"x"});
        CHECK(kept([&](Rollout::Parts& parts) {
                  parts.step.add(constant);
                  parts.events[10].add(one(device, add_up, {x, loss}));
              }) == 0);
        // A quadratic loss needs x where it looks: once, not at every step.
        CHECK(kept([&](Rollout::Parts& parts) {
                  parts.step.add(constant);
                  parts.events[10].add(one(device, add_squares, {x, loss}));
              }) == 1);
        CHECK(kept([&](Rollout::Parts& parts) {
                  parts.step.add(constant);
                  for (const int t : {0, 4, 10})
                      parts.events[t].add(one(device, add_squares, {x, loss}));
              }) == 3);
        // x *= a with a varying: x at the start of each step; a loss shares these.
        CHECK(kept([&](Rollout::Parts& parts) {
                  parts.step.add(one(device, multiply, {a, x}));
              }) == 11);
        CHECK(kept([&](Rollout::Parts& parts) {
                  parts.step.add(one(device, multiply, {a, x}));
                  for (const int t : {0, 4, 10})
                      parts.events[t].add(one(device, add_squares, {x, loss}));
              }) == 11);
    }
}

TEST_CASE("roll-out plan: a launch of the prologue that stands there twice, or in a step too") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        // Its adjoint finds older values in the prologue's history and its own array otherwise;
        // what one call was given must not stay for the next.
        const Array p = array({3}), x = array({0}), y = array({0}), loss = array({0});
        const Launch take = one(device, square, {x, y}, "take"),
                     spoil = one(device, set_to, {5, x}, "spoil");
        Rollout::Parts parts;
        parts.prologue.add_copy(device, x, p);
        parts.prologue.add(take);  // needs x = 3, overwritten
        parts.prologue.add(one(device, add_up, {y, loss}));
        parts.prologue.add(spoil);
        parts.prologue.add(take);  // needs x = 5, as it stays
        parts.step.add(take);
        parts.step.add(one(device, add_up, {y, loss}));
        parts.steps = 2;
        Rollout rollout(device, parts);
        rollout.forward(true);
        CHECK(loss.value(0) == 9 + 25 + 25);
        for (int times = 0; times < 3; ++times) {
            rollout.backward({{loss, 1}});
            CHECK(p.gradient().value(0) == 6);
        }
        // Elsewhere the launch is as before, also when the roll-out is gone.
        rollout.forward(true);
        rollout.backward({{loss, 1}});
        { const Rollout gone = std::move(rollout); }
        x.fill(7);
        x.gradient().clear();
        y.gradient().fill(1);
        take.adjoint().run();
        CHECK(x.gradient().value(0) == 14);
    }
}

TEST_CASE("roll-out plan: an event of several launches, with values between them") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        // After steps 1 and 3: m = x^2, m = m^2, loss += m^2, and m is written again at the next
        // event.
        const Array p = array({1.1}), x = array({0}), m = array({0}), loss = array({0});
        Rollout::Parts parts;
        parts.prologue.add_copy(device, x, p);
        parts.step.add(one(device, grow, {2, x}));
        parts.steps = 3;
        Program event;
        event.add(one(device, square, {x, m}));
        event.add(one(device, multiply, {x, m}));  // m = x^3: needs m and x
        event.add(one(device, add_squares, {m, loss}));
        for (const int t : {1, 3}) parts.events[t].append(event);
        Rollout rollout(device, parts);
        rollout.forward(true);
        const double expected = std::pow(2.2, 6) + std::pow(8.8, 6);
        CHECK(loss.value(0) == doctest::Approx(expected));
        for (int times = 0; times < 2; ++times) {
            rollout.backward({{loss, 1}});
            CHECK(p.gradient().value(0) == doctest::Approx(6 * expected / 1.1));
        }
    }
}

TEST_CASE("roll-out plan: an event that writes what steps read") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        // After step 2 the gain g is squared; steps multiply by it: x = p g g (g^2) (g^2) = p g^6.
        const Array p = array({2}), q = array({1.5}), x = array({0}), g = array({0}),
                    loss = array({0});
        const KernelDef square_own =
            kernel("square_own", {"x"}, [](Int i, ReadWrite<Float> v) { v[i] = v[i] * v[i]; });
        Rollout::Parts parts;
        parts.prologue.add_copy(device, x, p);
        parts.prologue.add_copy(device, g, q);
        parts.step.add(one(device, multiply, {g, x}));
        parts.steps = 4;
        parts.events[2].add(one(device, square_own, {g}));
        parts.events[4].add(one(device, add_up, {x, loss}));
        Rollout rollout(device, parts);
        rollout.forward(true);
        const double expected = 2 * std::pow(1.5, 6);
        CHECK(loss.value(0) == doctest::Approx(expected));
        rollout.backward({{loss, 1}});
        CHECK(p.gradient().value(0) == doctest::Approx(expected / 2));
        CHECK(q.gradient().value(0) == doctest::Approx(6 * expected / 1.5));
        // The same with what a step reads at its end: y = x^2 of the step before, overwritten by
        // events.
        const Array y = array({0}), total = array({0});
        Rollout::Parts ends;
        ends.prologue.add_copy(device, x, p);
        ends.step.add(one(device, grow, {1.5, x}));
        ends.step.add(one(device, add_squares, {x, total}));  // x as it stands at the end
        ends.steps = 3;
        for (const int t : {1, 2}) ends.events[t].add(one(device, set_to, {t, x}));
        Rollout at_end(device, ends);
        at_end.forward(true);
        CHECK(total.value(0) == 3.0 * 3.0 + 1.5 * 1.5 + 3.0 * 3.0);
        at_end.backward({{total, 1}});
        CHECK(p.gradient().value(0) == 2 * 1.5 * 1.5 * 2);  // of the first step only
    }
}

TEST_CASE("roll-out plan: after another array was set, the next run plans again") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array p = array({3}), x = array({0}), y = array({0}), other = array({4});
        const Array loss = array({0});
        Launch take = one(device, square, {x, y});
        Rollout::Parts parts;
        parts.prologue.add_copy(device, x, p);
        parts.step.add(take);
        parts.step.add(one(device, add_up, {y, loss}));
        parts.step.add(one(device, grow, {2, x}));
        parts.steps = 2;
        Rollout rollout(device, parts);
        rollout.forward(true);
        CHECK(loss.value(0) == 9 + 36);
        take.set("x", other);
        CHECK(message([&] {
                  rollout.backward({{loss, 1}});
              }) ==
              "backward() without a forward run that kept its values; call forward(true) first");
        rollout.forward(true);
        CHECK(loss.value(0) == 32);
        rollout.backward({{loss, 1}});
        CHECK(other.gradient().value(0) == 16);
        CHECK(p.gradient().value(0) == 0);
        take.set("x", x);
        rollout.forward(true);
        rollout.backward({{loss, 1}});
        CHECK(p.gradient().value(0) == 2 * 3 + 2 * 6 * 2);
    }
}

TEST_CASE("roll-out plan: what is changed between forward and backward is found") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array p = array({3}), x = array({0}), b = array({2}), loss = array({0});
        Launch scale = one(device, grow, {1.5, x}, "scale x"),
               apply = one(device, multiply, {b, x}, "apply b");
        Rollout::Parts parts;
        parts.prologue.add_copy(device, x, p);
        parts.step.add(scale);
        parts.step.add(apply);
        parts.steps = 2;
        parts.events[2].add(one(device, add_up, {x, loss}));
        Rollout rollout(device, parts);
        CHECK(message([&] { rollout.backward({}); }) ==
              "backward() without a forward run that kept its values; call forward(true) first");
        rollout.forward(false);
        CHECK_THROWS_AS(rollout.backward({}), Error);
        rollout.forward(true);
        b.fill(7);
        CHECK(
            message([&] {
                rollout.backward({{loss, 1}});
            }) ==
            "in kernel 'apply b': 'a' was changed between forward and backward; run forward(true) "
            "again before backward(), and change nothing in between");
        rollout.forward(true);
        scale.set("a", 2);
        CHECK(message([&] {
                  rollout.backward({{loss, 1}});
              }).find("in kernel 'scale x': 'a' was changed between forward and backward") == 0);
        rollout.forward(true);
        p.fill(100);  // only copied: no adjoint reads it
        x.fill(100);  // kept
        loss.fill(100);
        rollout.backward({{loss, 1}});
        CHECK(p.gradient().value(0) == 14 * 14);
        // A later run without keeping forgets what was kept.
        rollout.forward(false);
        CHECK_THROWS_AS(rollout.backward({{loss, 1}}), Error);
    }
}

TEST_CASE("roll-out plan: a watch that changes what the program works on is found") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array p = array({3}), x = array({0}), b = array({2}), loss = array({0});
        Rollout::Parts parts;
        parts.prologue.add_copy(device, x, p);
        parts.step.add(one(device, multiply, {b, x}, "apply b"));
        parts.steps = 3;
        Rollout rollout(device, parts);
        const auto drag = [&](std::int64_t t) {
            if (t == 2) x.fill(1);
            return true;
        };
        CHECK(rollout.forward(false, drag) == 3);  // no gradient: the watch may steer
        CHECK(x.value(0) == 2);
        CHECK(message([&] { rollout.forward(true, drag); }) ==
              "the watch of a roll-out changed an array that the program works on, after step 2; a "
              "watch only looks; to change the state, stop and start another run, or run without "
              "keeping values");
        CHECK_THROWS_AS(rollout.backward({}), Error);
        CHECK(message([&] {
                  rollout.forward(true, [&](std::int64_t) {
                      b.fill(3);
                      return true;
                  });
              }).find("in kernel 'apply b': 'a' was changed while the roll-out ran") == 0);
        CHECK_THROWS_AS(rollout.backward({}), Error);
        rollout.forward(true, [&](std::int64_t) { return x.value(0) < 1e9; });
        rollout.backward({{x, 1}});
        CHECK(p.gradient().value(0) == 27);
    }
}

TEST_CASE("roll-out plan: a gradient used as an argument is not changed unseen") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3}), s = array({0}), y = array({0}), loss = array({0});
        x.gradient().fill(2);
        Rollout::Parts parts;
        parts.step.add(one(device, square, {x.gradient(), s}, "square the gradient"));
        parts.step.add(one(device, square, {x, y}));
        parts.step.add(one(device, add_up, {y, loss}));
        parts.steps = 1;
        Rollout rollout(device, parts);
        rollout.forward(true);
        const std::string what = message([&] { rollout.backward({{loss, 1}}); });
        CAPTURE(what);
        CHECK(what.find("in kernel 'square the gradient") == 0);  // and what it is joined with
        CHECK(what.find("was changed by an adjoint that adds to it") != std::string::npos);
    }
}

TEST_CASE("roll-out plan: sums over the run start from zero") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array p = array({3}), x = array({0}), loss = array({50});
        Rollout::Parts parts;
        parts.prologue.add_copy(device, x, p);
        parts.step.add(one(device, add_up, {x, loss}));
        parts.steps = 4;
        Rollout rollout(device, parts);
        for (int times = 0; times < 2; ++times) {
            rollout.forward(times == 1);
            CHECK(loss.value(0) == 12);
        }
    }
}

TEST_CASE("roll-out errors: steps, events, memory") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3}), loss = array({0});
        const auto with = [&](std::int64_t steps, std::int64_t event) {
            Rollout::Parts parts;
            parts.steps = steps;
            parts.step.add(one(device, multiply, {array({2}), x}));
            if (event != 0) parts.events[event].add(one(device, add_up, {x, loss}));
            return parts;
        };
        CHECK(message([&] { Rollout(device, with(-1, 0)); }) ==
              "a roll-out of -1 steps is not possible");
        CHECK(message([&] { Rollout(device, with(3, 4)); }) ==
              "an event after step 4 of a roll-out of 3 steps");
        CHECK_THROWS_AS(Rollout(device, with(3, -1)), Error);
        CHECK(message([&] { Rollout(nullptr, with(3, 0)); }) == "a roll-out needs a device");
        // What cannot be kept is an error that says what and how often, each time it is tried;
        // sizes that wrap round are no exception.
        const std::int64_t before = memory_use().current;
        for (const std::int64_t steps : {std::int64_t{1} << 45, std::int64_t{1} << 57,
                                         std::numeric_limits<std::int64_t>::max() - 1}) {
            Rollout rollout(device, with(steps, 0));
            for (int times = 0; times < 2; ++times)
                CHECK(message([&] { rollout.forward(true); }).find("to keep 'x', 128 bytes, ") !=
                      std::string::npos);
            CHECK(rollout.forward(false, [](std::int64_t t) { return t < 3; }) == 3);
            CHECK_THROWS_AS(rollout.set_step_counter(Rollout::make_step_counter()), Error);
        }
        CHECK(memory_use().current - before < 4096);
    }
}

TEST_CASE("roll-out errors: a launch that fails leaves nothing to go back from") {
    const KernelDef power =
        kernel("power", {"n", "x"}, [](Int i, Param<Int> n, ReadWrite<Float> x) {
            Float p = 1;
            for_(
                0, n.value(), [&](Int) { p *= x[i]; }, 8);
            x[i] = p;
        });
    for (const auto& device : test::devices()) {
        const Array p = array({1.01}), x = array({0}), loss = array({0});
        Launch raise(device, power, Precision::f64, 1, {2, x}, "raise it");
        Rollout::Parts parts;
        parts.prologue.add_copy(device, x, p);
        parts.step.add(raise);
        parts.steps = 3;
        Rollout rollout(device, parts);
        rollout.forward(true);
        raise.set("n", 9);
        const std::string what = message([&] { rollout.forward(true); });
        CHECK(what.find("max_trips of 8") != std::string::npos);
        CHECK(what.find("in the launch 'raise it'") != std::string::npos);
        CHECK_THROWS_AS(rollout.backward({{x, 1}}), Error);
        raise.set("n", 2);
        rollout.forward(true);
        rollout.backward({{x, 1}});
        CHECK(p.gradient().value(0) == doctest::Approx(8 * std::pow(1.01, 7)));
    }
}

TEST_CASE("program: repetitions and parts of itself") {
    for (const auto& device : test::devices()) {
        const Array x = array({1});
        Program twice, program;
        twice.add(one(device, grow, {2, x}));
        twice.add(one(device, grow, {3, x}));
        program.repeat(3, twice);
        CHECK(!program.empty());
        CHECK(program.launches().size() == 6);
        program.append(program);
        CHECK(program.launches().size() == 12);
        program.repeat(0, twice);
        CHECK(program.launches().size() == 12);
        for (const Launch& launch : program.launches()) launch.forward().run();
        CHECK(x.value(0) == std::pow(6, 6));
        CHECK_THROWS_WITH_AS(program.repeat(-1, twice), "a program cannot be repeated -1 times",
                             Error);
        CHECK_THROWS_AS(program.add_copy(device, x, Array(Type::f32, {1})), Error);
        CHECK_THROWS_AS(program.add_copy(device, x, array({1, 2})), Error);
        CHECK_THROWS_AS(program.add_copy(device, x, x), Error);
        CHECK_THROWS_WITH_AS(
            program.add_copy(device, Array(Type::f64, {2, 5}), Array(Type::f64, {2, 5})),
            "there is no copy for elements of 5 components; elements may have 1 to 4, 6, 9 or 10",
            Error);
        CHECK_THROWS_WITH_AS(program.add_copy(device, Array(Type::i32, {2}), Array(Type::i32, {2})),
                             "a program copies real arrays only; copy integers with a launch of a "
                             "kernel of your own",
                             Error);
        CHECK(program.launches().size() == 12);
    }
}

TEST_CASE("rollout: an adjoint that adds where the step says is never one with fixed indices") {
    // x += p[t]^2 in step t, so that d sum(x) / d p[t] = 2 p[t] for each item: each step adds to another
    // element. One item adds in order, wherever that is; sums over several are in fixed point, which a
    // whole program does not have.
    const KernelDef take = kernel("take", {"p", "step", "x"},
                                  [](Int i, Read<Float> p, Param<Int> step, ReadWrite<Float> x) {
                                      const Float q = p[step.value()];
                                      x[i] += q * q;
                                  });
    for (const WholeProgramUse use :
         {WholeProgramUse::automatic, WholeProgramUse::never, WholeProgramUse::always}) {
        DeviceOptions options;
        options.whole_program = use;
        auto devices = test::devices();
        devices.push_back(std::make_shared<Device>(options));
        for (const auto& device : devices) {
            for (const std::int64_t items : {1, 2}) {
                CAPTURE(device->describe());
                CAPTURE(items);
                const Array p = array({1, 2, 3, 4, 5}), x(Type::f64, {items}), loss(Type::f64, {1});
                const Array counter = Rollout::make_step_counter();
                Rollout::Parts parts;
                parts.steps = 5;
                parts.step.add(Launch(device, take, Precision::f64, items, {p, counter, x}));
                parts.events[5].add(Launch(device, add_up, Precision::f64, items, {x, loss}));
                Rollout rollout(device, parts);
                rollout.set_step_counter(counter);
                const auto iterate = [&] {
                    x.fill(0);
                    rollout.forward(true);
                    rollout.backward({{loss, 1}});
                };
                if (device == devices.back() && use == WholeProgramUse::always && items > 1) {
                    CHECK(message(iterate).find("adds at indices that change while it runs") !=
                          std::string::npos);
                    continue;
                }
                for (const bool segments : {false, true}) {
                    if (segments) rollout.force_plan(2, 1);
                    for (int k = 0; k < 12; ++k) {  // some of them are compiled or noted as a whole
                        iterate();
                        Values expected{2, 4, 6, 8, 10};
                        for (double& value : expected) value *= static_cast<double>(items);
                        CHECK(p.gradient().to_doubles() == expected);
                    }
                }
            }
        }
    }
}
