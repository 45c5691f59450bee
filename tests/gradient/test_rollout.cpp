// Roll-outs against closed forms and dual numbers written by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/base/error.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;
using test::array;
using Values = std::vector<double>;

namespace {

const KernelDef begin_with =
    kernel("begin_with", {"x0", "x"}, [](Int i, Read<Float> x0, Write<Float> x) { x[i] = x0[i]; });
const KernelDef grow =
    kernel("grow", {"a", "x"}, [](Int i, Param<Float> a, ReadWrite<Float> x) { x[i] *= a; });
const KernelDef logistic =
    kernel("logistic", {"r", "x"},
           [](Int i, Param<Float> r, ReadWrite<Float> x) { x[i] = r * x[i] * (1 - x[i]); });
const KernelDef add_up = kernel(
    "add_up", {"x", "weight", "loss"},
    [](Int i, Read<Float> x, Param<Float> weight, Reduce<Float> loss) { loss += weight * x[i]; });
const KernelDef add_squares =
    kernel("add_squares", {"x", "loss"},
           [](Int i, Read<Float> x, Reduce<Float> loss) { loss += x[i] * x[i]; });

// x_0 = p, x_{t+1} = step(x_t), and a loss.
struct System {
    std::shared_ptr<Device> device;
    Array p, x, loss = Array(Type::f64, {1});
    Rollout::Parts parts;

    System(std::shared_ptr<Device> d, const Values& start)
        : device(std::move(d)), p(array(start)), x(array(Values(start.size(), 0.0))) {
        parts.prologue.add(make(begin_with, {p, x}));
    }
    Launch make(const KernelDef& def, const std::vector<Argument>& arguments) const {
        return Launch(device, def, Precision::f64, p.elements(), arguments);
    }
};

void check_close(double a, double b) { CHECK(a == doctest::Approx(b).epsilon(1e-12)); }

// A value with its derivatives by two parameters.
struct Dual {
    double v, d0 = 0, d1 = 0;
};
Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d0 + b.d0, a.d1 + b.d1}; }
Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d0 - b.d0, a.d1 - b.d1}; }
Dual operator*(Dual a, Dual b) {
    return {a.v * b.v, a.v * b.d0 + a.d0 * b.v, a.v * b.d1 + a.d1 * b.v};
}

}  // namespace

TEST_CASE("roll-out: x' = a x, so x_n = a^n x_0") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        for (const int n : {0, 1, 2, 25}) {
            CAPTURE(n);
            System s(device, {2, -3});
            const double a_value = 1.1;
            const Array a = array({a_value});
            s.parts.step.add(s.make(grow, {a, s.x}));
            s.parts.steps = n;
            s.parts.events[n].add(s.make(add_up, {s.x, 0.5, s.loss}));
            Rollout rollout(device, s.parts);
            CHECK(rollout.steps() == n);
            CHECK(rollout.step_launches().written == 1);
            for (int times = 0; times < 2; ++times) {
                CHECK(rollout.forward(true) == n);
                check_close(s.loss.value(0), 0.5 * std::pow(a_value, n) * (2 - 3));
                for (int again = 0; again < 2; ++again) {  // gradients are zeroed first
                    rollout.backward({{s.loss, 10}});
                    for (int e = 0; e < 2; ++e)
                        check_close(s.p.gradient().value(e), 5 * std::pow(a_value, n));
                    check_close(a.gradient().value(0),
                                n == 0 ? 0 : 5 * n * std::pow(a_value, n - 1) * (2 - 3));
                }
            }
        }
    }
}

TEST_CASE("roll-out: the logistic map, with losses on the way, against dual numbers") {
    const int n = 12;
    Dual x{0.2, 1, 0}, loss{0};
    const Dual r{3.2, 0, 1}, one{1};
    loss = loss + x;
    for (int t = 1; t <= n; ++t) {
        x = r * x * (one - x);
        if (t == 5) loss = loss + x;
        if (t == n) loss = loss + x + x * x;
    }
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        System s(device, {0.2});
        const Array r_array = array({3.2});
        s.parts.step.add(s.make(logistic, {r_array, s.x}));
        s.parts.steps = n;
        const Launch sum = s.make(add_up, {s.x, 1, s.loss});
        for (const int t : {0, 5, n}) s.parts.events[t].add(sum);
        s.parts.events[n].add(s.make(add_squares, {s.x, s.loss}));
        Rollout rollout(device, s.parts);
        rollout.forward(true);
        check_close(s.loss.value(0), loss.v);
        rollout.backward({{s.loss, 1}});
        check_close(s.p.gradient().value(0), loss.d0);
        check_close(r_array.gradient().value(0), loss.d1);
    }
}

TEST_CASE("roll-out: two arrays that change roles through copies") {
    // x_{t+1} = x_t x_{t-1}: x_n is x_0 to a Fibonacci number times x_{-1} to the one before.
    const KernelDef product = kernel(
        "product", {"x", "y", "next"},
        [](Int i, Read<Float> x, Read<Float> y, Write<Float> next) { next[i] = x[i] * y[i]; });
    const int n = 9;
    int p0 = 1, q0 = 0, p1 = 0, q1 = 1;  // exponents of x_0 and x_{-1} in x_t and in x_{t-1}
    for (int t = 0; t < n; ++t) {
        const int p = p0 + p1, q = q0 + q1;
        p1 = p0, q1 = q0, p0 = p, q0 = q;
    }
    CHECK(p0 == 55);  // F(10)
    CHECK(q0 == 34);  // F(9)
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const double u = 1.02, v = 0.97;
        System s(device, {u});
        const Array q = array({v}), y = array({0}), next = array({0});
        s.parts.prologue.add_copy(device, y, q);
        s.parts.step.add(s.make(product, {s.x, y, next}));
        s.parts.step.add_copy(device, y, s.x);
        s.parts.step.add_copy(device, s.x, next);
        s.parts.steps = n;
        s.parts.events[n].add(s.make(add_up, {s.x, 1, s.loss}));
        Rollout rollout(device, s.parts);
        rollout.forward(true);
        const double expected = std::pow(u, 55) * std::pow(v, 34);
        check_close(s.loss.value(0), expected);
        rollout.backward({{s.loss, 1}});
        check_close(s.p.gradient().value(0), 55 * expected / u);
        check_close(q.gradient().value(0), 34 * expected / v);
    }
}

TEST_CASE("roll-out: an intermediate overwritten twice within a step") {
    // t = x^2; u = t^2; t = r x; x = u + t^2; the adjoints need both versions of t, and u's t.
    const KernelDef square = kernel(
        "square", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * x[i]; });
    const KernelDef scale =
        kernel("scale", {"r", "x", "y"},
               [](Int i, Param<Float> r, Read<Float> x, Write<Float> y) { y[i] = r * x[i]; });
    const KernelDef join = kernel(
        "join", {"u", "t", "x"},
        [](Int i, Read<Float> u, Read<Float> t, Write<Float> x) { x[i] = u[i] + t[i] * t[i]; });
    const int n = 6;
    Dual x{0.7, 1, 0};
    const Dual r{0.9, 0, 1};
    for (int t = 0; t < n; ++t) x = x * x * x * x + r * x * r * x;
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        System s(device, {0.7});
        const Array r_array = array({0.9}), t = array({0}), u = array({0});
        s.parts.step.add(s.make(square, {s.x, t}));
        s.parts.step.add(s.make(square, {t, u}));
        s.parts.step.add(s.make(scale, {r_array, s.x, t}));
        s.parts.step.add(s.make(join, {u, t, s.x}));
        s.parts.steps = n;
        s.parts.events[n].add(s.make(add_up, {s.x, 1, s.loss}));
        Rollout rollout(device, s.parts);
        rollout.forward(true);
        check_close(s.loss.value(0), x.v);
        rollout.backward({{s.loss, 1}});
        check_close(s.p.gradient().value(0), x.d0);
        check_close(r_array.gradient().value(0), x.d1);
        // Two versions of t per step, and x at the start of each step: n + 1 slots each.
        CHECK(rollout.kept_bytes() == 3 * (n + 1) * static_cast<std::int64_t>(t.bytes()));
    }
}

TEST_CASE("roll-out: an array read at the start, in the middle and at the end of a step") {
    const KernelDef square = kernel(
        "square", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * x[i]; });
    const KernelDef damp = kernel("damp", {"y", "x"}, [](Int i, Read<Float> y, ReadWrite<Float> x) {
        x[i] = x[i] * (1 - y[i]);
    });
    const int n = 7;
    const Dual one{1};
    Dual x{0.4, 1, 0}, loss{0};
    for (int t = 0; t < n; ++t) {
        x = x * (one - x * x);  // start
        loss = loss + x * x;    // middle
        x = x * (one - x * x);
        loss = loss + x * x;  // end
    }
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        System s(device, {0.4});
        const Array y = array({0});
        const Launch take = s.make(square, {s.x, y}), apply = s.make(damp, {y, s.x});
        const Launch sum = s.make(add_squares, {s.x, s.loss});
        for (int half = 0; half < 2; ++half) {
            s.parts.step.add(take);
            s.parts.step.add(apply);
            s.parts.step.add(sum);
        }
        s.parts.steps = n;
        Rollout rollout(device, s.parts);
        rollout.forward(true);
        check_close(s.loss.value(0), loss.v);
        rollout.backward({{s.loss, 1}});
        check_close(s.p.gradient().value(0), loss.d0);
    }
}

TEST_CASE("roll-out: values of the prologue that are overwritten later") {
    // x = p q (p, q from parameters); q is overwritten in the prologue, x and w by the steps.
    const KernelDef multiply =
        kernel("multiply", {"a", "x"},
               [](Int i, Read<Float> a, ReadWrite<Float> x) { x[i] = x[i] * a[i]; });
    const KernelDef square_own =
        kernel("square_own", {"x"}, [](Int i, ReadWrite<Float> x) { x[i] = x[i] * x[i]; });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const double p = 1.3, q_value = 0.8;
        System s(device, {p});
        const Array q0 = array({q_value}), q = array({0}), w = array({0});
        s.parts.prologue.add_copy(device, q, q0);
        s.parts.prologue.add(s.make(multiply, {q, s.x}));  // x = p q; needs x = p, q
        s.parts.prologue.add(s.make(square_own, {q}));     // q = q^2; needs q
        s.parts.prologue.add(s.make(multiply, {q, s.x}));  // x = p q^3; needs x = p q, q^2
        s.parts.prologue.add_copy(device, w, s.x);
        s.parts.step.add(s.make(square_own, {s.x}));
        s.parts.step.add(s.make(square_own, {q}));
        s.parts.step.add(s.make(square_own, {w}));
        s.parts.steps = 2;
        s.parts.events[2].add(s.make(add_up, {s.x, 1, s.loss}));
        Rollout rollout(device, s.parts);
        for (int times = 0; times < 2; ++times) {
            rollout.forward(true);
            const double x = std::pow(p * std::pow(q_value, 3), 4);  // p^4 q^12
            check_close(s.loss.value(0), x);
            for (int again = 0; again < 2; ++again) {
                rollout.backward({{s.loss, 1}});
                check_close(s.p.gradient().value(0), 4 * x / p);
                check_close(q0.gradient().value(0), 12 * x / q_value);
            }
        }
    }
}

TEST_CASE("roll-out: an event after every step") {
    // loss = sum_{t=0..n} x_t^2 with x_t = a^t x_0: a geometric series in a^2.
    const int n = 20;
    const double a_value = 0.9, x0 = 1.5;
    double sum = 0, by_a = 0;
    for (int t = 0; t <= n; ++t) {
        sum += std::pow(a_value, 2 * t) * x0 * x0;
        if (t > 0) by_a += 2 * t * std::pow(a_value, 2 * t - 1) * x0 * x0;
    }
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        System s(device, {x0});
        const Array a = array({a_value});
        s.parts.step.add(s.make(grow, {a, s.x}));
        s.parts.steps = n;
        const Launch squares = s.make(add_squares, {s.x, s.loss});
        for (int t = 0; t <= n; ++t) s.parts.events[t].add(squares);
        Rollout rollout(device, s.parts);
        rollout.forward(true);
        check_close(s.loss.value(0), sum);
        rollout.backward({{s.loss, 1}});
        check_close(s.p.gradient().value(0), 2 * sum / x0);
        check_close(a.gradient().value(0), by_a);
    }
}

TEST_CASE("roll-out: the step counter is the same in both directions") {
    // x_{t+1} = (t + 1) x_t, so x_t = t! x_0; an event after t steps adds t x_t^2.
    const KernelDef factorial =
        kernel("factorial", {"step", "x"},
               [](Int i, Param<Int> step, ReadWrite<Float> x) { x[i] *= Float(step + 1); });
    const KernelDef weigh = kernel("weigh", {"step", "x", "loss"},
                                   [](Int i, Param<Int> step, Read<Float> x, Reduce<Float> loss) {
                                       loss += Float(step.value()) * x[i] * x[i];
                                   });
    const KernelDef begin = kernel("begin", {"step", "x0", "x"},
                                   [](Int i, Param<Int> step, Read<Float> x0, Write<Float> x) {
                                       x[i] = x0[i] * Float(step + 1);  // times one
                                   });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const double x0 = 0.5;
        System s(device, {x0});
        const Array counter = Rollout::make_step_counter();
        s.parts.prologue = {};
        s.parts.prologue.add(s.make(begin, {counter, s.p, s.x}));
        s.parts.step.add(s.make(factorial, {counter, s.x}));
        s.parts.steps = 5;
        const Launch event = s.make(weigh, {counter, s.x, s.loss});
        for (const int t : {0, 2, 3, 5}) s.parts.events[t].add(event);
        Rollout rollout(device, s.parts);
        rollout.set_step_counter(counter);
        const double expected = (2 * 2 * 2 + 3 * 6 * 6 + 5 * 120 * 120) * x0 * x0;
        for (int times = 0; times < 2; ++times) {
            rollout.forward(true);
            check_close(s.loss.value(0), expected);
            CHECK(counter.value(0) == 5);
            for (int again = 0; again < 2; ++again) {
                rollout.backward({{s.loss, 1}});
                check_close(s.p.gradient().value(0), 2 * expected / x0);
            }
        }
        CHECK_THROWS_WITH_AS(rollout.set_step_counter(s.x),
                             "a step counter is one i32; make it with Rollout::make_step_counter()",
                             Error);
        CHECK_THROWS_AS(rollout.set_step_counter(Array(Type::i32, {2})), Error);
    }
}

TEST_CASE("roll-out: stopped early by the watch, then backward") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const double a_value = 1.2;
        System s(device, {2});
        const Array a = array({a_value});
        s.parts.step.add(s.make(grow, {a, s.x}));
        s.parts.steps = 10;
        const Launch sum = s.make(add_up, {s.x, 1, s.loss});
        for (const int t : {0, 3, 4, 10}) s.parts.events[t].add(sum);
        Rollout rollout(device, s.parts);
        for (const std::int64_t stop : {4, 0, 3, 10, 1}) {
            CAPTURE(stop);
            std::vector<std::int64_t> seen;
            CHECK(rollout.forward(true, [&](std::int64_t t) {
                seen.push_back(t);
                return t < stop;
            }) == stop);
            CHECK(seen.size() == static_cast<std::size_t>(stop) + 1);
            CHECK(seen.back() == stop);
            double value = 0, by_a = 0;
            for (const int t : {0, 3, 4, 10})
                if (t <= stop) {
                    value += std::pow(a_value, t);
                    by_a += t * std::pow(a_value, t - 1) * 2;
                }
            check_close(s.loss.value(0), 2 * value);
            rollout.backward({{s.loss, 1}});
            check_close(s.p.gradient().value(0), value);
            check_close(a.gradient().value(0), by_a);
        }
    }
}

TEST_CASE("roll-out: launches without derivative are passed over") {
    const KernelDef wind = kernel(
        "wind", {"force"}, [](Int i, Write<Float> force) { force[i] = 0.25 * Float(i + 1); });
    const KernelDef push =
        kernel("push", {"force", "x"},
               [](Int i, Read<Float> force, ReadWrite<Float> x) { x[i] = x[i] * x[i] + force[i]; });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        System s(device, {0.5, 0.3});
        const Array force = array({0, 0});
        Launch blow = s.make(wind, {force}), apply = s.make(push, {force, s.x});
        blow.differentiate_only({});
        apply.differentiate_only({"x"});
        s.parts.step.add(blow);
        s.parts.step.add(apply);
        s.parts.steps = 4;
        s.parts.events[4].add(s.make(add_up, {s.x, 1, s.loss}));
        Rollout rollout(device, s.parts);
        rollout.forward(true);
        rollout.backward({{s.loss, 1}});
        for (int e = 0; e < 2; ++e) {
            Dual x{e == 0 ? 0.5 : 0.3, 1, 0};
            for (int t = 0; t < 4; ++t) x = x * x + Dual{0.25 * (e + 1)};
            check_close(s.p.gradient().value(e), x.d0);
        }
        CHECK(!force.has_gradient());
        rollout.profile(true);
        rollout.forward(true);
        rollout.backward({{s.loss, 1}});
        for (const Rollout::Profile& p : rollout.profiles()) {
            CAPTURE(p.launch);
            // Forwards the two may run as one, "wind + push".
            const bool blows = p.launch.find("wind") != std::string::npos,
                       pushes = p.launch.find("push") != std::string::npos;
            if (blows) CHECK(p.direction == Direction::forward);
            CHECK(p.runs == (blows || pushes ? 4 : 1));
        }
    }
}

TEST_CASE("roll-out: several seeds") {
    for (const auto& device : test::devices()) {
        System s(device, {3});
        const Array other = Array(Type::f64, {1});
        s.parts.events[0].add(s.make(add_up, {s.x, 1, s.loss}));
        s.parts.events[0].add(s.make(add_squares, {s.x, other}));
        Rollout rollout(device, s.parts);
        rollout.forward(true);
        rollout.backward({{s.loss, 100}, {other, 1}});
        CHECK(s.p.gradient().value(0) == 106);
        rollout.backward({{other, 0.5}});
        CHECK(s.p.gradient().value(0) == 3);
        rollout.backward({});
        CHECK(s.p.gradient().value(0) == 0);
        // The state may be seeded as well.
        rollout.backward({{s.x, 7}});
        CHECK(s.p.gradient().value(0) == 7);
    }
}

TEST_CASE("roll-out: adjoints scatter by the indices of their own step") {
    // x'_i = (i + 1) x[k_i] with k_i = (i + t) % 3: the indices change from step to step.
    const KernelDef pick = kernel(
        "pick", {"k", "x", "y"},
        [](Int i, Read<Int> k, Read<Float> x, Write<Float> y) { y[i] = x[k[i]] * Float(i + 1); });
    const KernelDef take =
        kernel("take", {"y", "x"}, [](Int i, Read<Float> y, Write<Float> x) { x[i] = y[i]; });
    const KernelDef turn =
        kernel("turn", {"k"}, [](Int i, ReadWrite<Int> k) { k[i] = (k[i] + 1) % 3; });
    const KernelDef count = kernel("count", {"k"}, [](Int i, Write<Int> k) { k[i] = i; });
    for (const auto& device : test::devices())
        for (const std::int64_t segment : {0, 2}) {
            CAPTURE(device->describe());
            CAPTURE(segment);
            System s(device, {0.5, -2, 3});
            const Array y = array({0, 0, 0}), k(Type::i32, {3});
            Launch counts = s.make(count, {k}), turns = s.make(turn, {k});
            for (Launch* const launch : {&counts, &turns}) launch->differentiate_only({});
            s.parts.prologue.add(counts);
            s.parts.steps = 5;
            s.parts.step.add(s.make(pick, {k, s.x, y}));
            s.parts.step.add(s.make(take, {y, s.x}));
            s.parts.step.add(turns);
            Rollout rollout(device, s.parts);
            if (segment > 0) rollout.force_plan(segment, 1);
            Values by = {1, 1, 1};  // d(x_0 + x_1 + x_2) by the state, from the last step back
            for (int t = 4; t >= 0; --t) {
                Values before = {0, 0, 0};
                for (int i = 0; i < 3; ++i)
                    before[static_cast<std::size_t>((i + t) % 3)] +=
                        (i + 1) * by[static_cast<std::size_t>(i)];
                by = before;
            }
            for (int round = 0; round < 3; ++round) {  // later ones as a graph, where it can be one
                rollout.forward(true);
                for (int times = 0; times < 2; ++times) {
                    rollout.backward({{s.x, 1}});
                    CHECK(s.p.gradient().to_doubles() == by);
                }
            }
        }
}
