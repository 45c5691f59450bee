// Tape: chains of launches against closed forms, values that are overwritten, replays, copies.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/base/error.hpp"
#include "engine/runtime/program/tape.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

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
const KernelDef set_to = kernel("set_to", {"value", "x"},
                                [](Int i, Param<Float> value, Write<Float> x) { x[i] = value; });
const KernelDef grow =
    kernel("grow", {"a", "x"}, [](Int i, Param<Float> a, ReadWrite<Float> x) { x[i] *= a; });
const KernelDef logistic =
    kernel("logistic", {"r", "x"},
           [](Int i, Param<Float> r, ReadWrite<Float> x) { x[i] = r * x[i] * (1 - x[i]); });

void check_close(double a, double b) { CHECK(a == doctest::Approx(b).epsilon(1e-12)); }

}  // namespace

TEST_CASE("tape: a chain in place, x_n = a^n x_0") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const int n = 60;
        const double a = 1.05;
        const Array x = array({2, -3}), factor = array({a});
        Tape tape;
        const Launch launch(device, grow, Precision::f64, 2, {factor, x});
        for (int k = 0; k < n; ++k) tape.launch(launch);
        CHECK(tape.size() == n);
        check_close(x.value(0), std::pow(a, n) * 2);
        x.gradient().assign(Values{1, 10});
        tape.backward();
        check_close(x.gradient().value(0), std::pow(a, n));
        check_close(x.gradient().value(1), 10 * std::pow(a, n));
        check_close(factor.gradient().value(0), n * std::pow(a, n - 1) * (2 - 3 * 10));
        // Each version of x is kept once.
        CHECK(tape.kept_bytes() == n * static_cast<std::int64_t>(x.bytes()));
    }
}

TEST_CASE("tape: a nonlinear chain in place, against dual numbers") {
    const int n = 40;
    double x_value = 0.3, r_value = 3.7;
    double dx = 1, dr = 0;  // derivatives of x_k by x_0 and by r
    for (int k = 0; k < n; ++k) {
        const double slope = r_value * (1 - 2 * x_value);
        dx = slope * dx;
        dr = slope * dr + x_value * (1 - x_value);
        x_value = r_value * x_value * (1 - x_value);
    }
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({0.3}), r = array({3.7});
        Tape tape;
        const Launch launch(device, logistic, Precision::f64, 1, {r, x});
        for (int k = 0; k < n; ++k) tape.launch(launch);
        // The map is chaotic: rounding grows by a factor of about 2^(n / 2).
        CHECK(x.value(0) == doctest::Approx(x_value).epsilon(1e-8));
        x.gradient().fill(1);
        tape.backward();
        CHECK(x.gradient().value(0) == doctest::Approx(dx).epsilon(1e-8));
        CHECK(r.gradient().value(0) == doctest::Approx(dr).epsilon(1e-8));
    }
}

TEST_CASE("tape: a version that a later launch overwrites is kept, and counted") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3, 4}), y = array({0, 0}), z = array({0, 0});
        Tape tape;
        tape.launch(Launch(device, square, Precision::f64, 2, {x, y}));
        CHECK(tape.kept_bytes() == 0);
        tape.launch(Launch(device, set_to, Precision::f64, 2, {100, x}));
        CHECK(tape.kept_bytes() == static_cast<std::int64_t>(x.bytes()));
        tape.launch(Launch(device, square, Precision::f64, 2, {x, z}));
        tape.launch(Launch(device, set_to, Precision::f64, 2, {200, x}));
        CHECK(tape.kept_bytes() == 2 * static_cast<std::int64_t>(x.bytes()));
        CHECK(tape.snapshots() == 2);
        CHECK(y.to_doubles() == Values{9, 16});
        CHECK(z.to_doubles() == Values{10000, 10000});
        y.gradient().assign(Values{1, 10});
        z.gradient().assign(Values{1, 1});
        tape.backward();
        CHECK(x.gradient().to_doubles() == Values{6, 80});  // 2 x at 3 and 4: the rest was cut off
    }
}

TEST_CASE("tape: or refused by policy, naming both launches") {
    const auto device = test::interpreter_device();
    const Array x = array({3}), y = array({0});
    Tape tape(OverwritePolicy::error);
    tape.launch(Launch(device, square, Precision::f64, 1, {x, y}, "take the square"));
    CHECK(message([&] {
              tape.launch(Launch(device, set_to, Precision::f64, 1, {7, x}, "reset x"));
          }) ==
          "the launch 'reset x' overwrites 'x', which the adjoint of 'take the square' still "
          "needs; write to another array, or let the tape keep the value (OverwritePolicy::keep)");
    CHECK(message([&] {
              tape.launch(Launch(device, grow, Precision::f64, 1, {2, x}, "grow x"));
          }).find("the launch 'grow x' overwrites 'x'") == 0);
    // Nothing was recorded, nothing has run.
    CHECK(tape.size() == 1);
    CHECK(x.value(0) == 3);
    y.gradient().fill(1);
    tape.backward();
    CHECK(x.gradient().value(0) == 6);
    // In place: the launch overwrites what its own adjoint needs.
    Tape other(OverwritePolicy::error);
    const Array a = array({2});
    CHECK(message([&] {
              other.launch(Launch(device, grow, Precision::f64, 1, {a, y}, "grow y"));
          }).find("the launch 'grow y' overwrites 'x', which the adjoint of 'grow y'") == 0);
    CHECK(y.value(0) == 9);
}

TEST_CASE("tape: what the host changes between forward and backward is found") {
    const auto device = test::interpreter_device();
    const Array x = array({3}), y = array({0}), z = array({0});
    Tape tape;
    tape.launch(Launch(device, square, Precision::f64, 1, {x, y}, "first"));
    tape.launch(Launch(device, square, Precision::f64, 1, {y, z}, "second"));
    z.gradient().fill(1);
    x.fill(5);
    const std::string expected =
        "'x' was changed after the launch 'first' read it, and its adjoint needs the old value; "
        "run backward() before changing it, or run forward() again";
    CHECK(message([&] { tape.backward(); }) == expected);
    CHECK(z.gradient().value(0) == 1);  // before anything was computed
    tape.forward();
    CHECK(z.value(0) == 625);
    tape.backward();
    CHECK(x.gradient().value(0) == 4 * 125);
    y.set_value(0, 0, 1);
    CHECK(message([&] { tape.backward(); }).find("'x' was changed after the launch 'second'") == 0);
    // Also when a later launch overwrites what the host had changed before.
    Tape third;
    third.launch(Launch(device, square, Precision::f64, 1, {x, y}, "first"));
    x.fill(6);
    third.launch(Launch(device, set_to, Precision::f64, 1, {7, x}));
    CHECK(message([&] { third.backward(); }) == expected);
    // What no adjoint needs may change.
    z.fill(0);
    tape.forward();
    z.fill(0);
    tape.backward();
}

TEST_CASE("tape: a number that is changed between forward and backward is found") {
    const auto device = test::interpreter_device();
    const Array x = array({3});
    Launch launch(device, grow, Precision::f64, 1, {2, x}, "grow");
    Tape tape;
    tape.launch(launch);
    launch.set("a", 5);
    CHECK(message([&] { tape.backward(); }).find("'a' was changed after the launch 'grow'") == 0);
    x.fill(3);
    tape.forward();
    x.gradient().fill(1);
    tape.backward();
    CHECK(x.gradient().value(0) == 5);
    CHECK(launch.gradient_of("a") == Values{3});
    // Recorded twice with two values: one of them is gone.
    tape.launch(launch);
    launch.set("a", 7);
    tape.launch(launch);
    CHECK(message([&] { tape.backward(); }).find("'a' was changed after the launch 'grow'") == 0);
}

TEST_CASE("tape: a replay gives the same bits, with new numbers as if recorded anew") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        Array x = array({0.31, 0.62, 0.93}, Type::f32);
        const Array start = x.clone();
        Launch launch(device, logistic, Precision::f32, 3, {3.3, x});
        const auto values = [&] {
            Values all = x.to_doubles();
            for (const double g : x.gradient().to_doubles()) all.push_back(g);
            all.push_back(launch.gradient_of("r")[0]);
            return all;
        };
        const auto back = [&](Tape& tape) {
            tape.clear_gradients();
            x.gradient().fill(1);
            tape.backward();
            return values();
        };
        const auto record = [&] {
            Tape tape;
            x.copy_from(start);
            for (int k = 0; k < 12; ++k) tape.launch(launch);
            return tape;
        };
        Tape tape = record();
        const Values first = back(tape);
        for (int times = 0; times < 2; ++times) {
            x.copy_from(start);
            tape.forward();
            CHECK(test::same_bits(back(tape), first));
        }
        launch.set("r", 2.9);
        x.copy_from(start);
        tape.forward();
        const Values replayed = back(tape);
        CHECK(!test::same_bits(replayed, first));
        Tape anew = record();
        CHECK(test::same_bits(back(anew), replayed));
    }
}

TEST_CASE("tape: gradients add up, clear_gradients() zeroes what backward() touches") {
    const auto device = test::interpreter_device();
    const Array x = array({3}), y = array({0}), z = array({0});
    const Launch shrink(device, grow, Precision::f64, 1, {0.5, z});
    Tape tape;
    tape.launch(Launch(device, square, Precision::f64, 1, {x, y}));
    tape.launch(Launch(device, square, Precision::f64, 1, {y, z}));
    tape.launch(shrink);  // z = x^4 / 2
    z.gradient().fill(1);
    tape.backward();
    CHECK(x.gradient().value(0) == 54);
    z.gradient().fill(1);
    tape.backward();
    CHECK(x.gradient().value(0) == 108);
    CHECK(shrink.gradient_of("a") == Values{162});
    z.gradient().fill(1);
    y.gradient().fill(1);
    tape.clear_gradients();
    for (const Array& a : {x, y, z}) CHECK(a.gradient().value(0) == 0);
    CHECK(shrink.gradient_of("a") == Values{0});
    tape.backward();
    CHECK(x.gradient().value(0) == 0);
}

TEST_CASE("tape: copies differentiate, between layouts too") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        for (const int components : {1, 2, 3, 4, 9}) {
            CAPTURE(components);
            const std::int64_t n = 5, size = n * components;
            Values values, seeds;
            for (std::int64_t k = 0; k < size; ++k) {
                values.push_back(1.5 * static_cast<double>(k));
                seeds.push_back(static_cast<double>(k + 1));
            }
            const Array from = Array::from(values, Type::f32, {n, components}, Layout::planar);
            const Array to(Type::f32, {n, components});
            Tape tape;
            tape.copy(device, to, from);
            tape.copy(device, from, to);
            CHECK(to.to_doubles() == values);
            CHECK(tape.kept_bytes() == 0);
            from.gradient().assign(seeds);
            tape.backward();
            CHECK(from.gradient().to_doubles() == seeds);  // taken, passed through and back
            CHECK(to.gradient().to_doubles() == Values(static_cast<std::size_t>(size), 0.0));
            to.gradient().assign(seeds);
            tape.backward();
            for (double& s : seeds) s *= 2;  // to's own seed joins what came through
            CHECK(from.gradient().to_doubles() == seeds);
        }
    }
}
