// Tape: what may go wrong while it is recorded or replayed. After each of these a gradient is
// either right or an error.
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "engine/base/error.hpp"
#include "engine/runtime/program/tape.hpp"
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
const KernelDef square_own =
    kernel("square_own", {"x"}, [](Int i, ReadWrite<Float> x) { x[i] = x[i] * x[i]; });
const KernelDef set_to = kernel("set_to", {"value", "x"},
                                [](Int i, Param<Float> value, Write<Float> x) { x[i] = value; });
// x^n in a loop that raises beyond 8 trips.
const KernelDef power = kernel("power", {"n", "x"}, [](Int i, Param<Int> n, ReadWrite<Float> x) {
    Float p = 1;
    for_(
        0, n.value(), [&](Int) { p *= x[i]; }, 8);
    x[i] = p;
});

}  // namespace

TEST_CASE("tape: one launch recorded several times, with other launches between") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({1.5}), y = array({0});
        const Launch own(device, square_own, Precision::f64, 1, {x});
        const Launch out(device, square, Precision::f64, 1, {x, y});
        Tape tape;
        tape.launch(own);  // x^2
        tape.launch(out);
        tape.launch(own);  // x^4
        tape.launch(own);  // x^8
        tape.launch(out);  // y = x^16
        CHECK(y.value(0) == std::pow(1.5, 16));
        y.gradient().fill(1);
        tape.backward();
        CHECK(x.gradient().value(0) == 16 * std::pow(1.5, 15));
        CHECK(tape.kept_bytes() == 3 * static_cast<std::int64_t>(x.bytes()));
        // The launches themselves are as before: bound to the arrays.
        x.fill(2);
        y.gradient().fill(1);
        x.gradient().clear();
        out.adjoint().run();
        CHECK(x.gradient().value(0) == 4);
    }
}

TEST_CASE("tape: host callbacks run forwards in order and are skipped backwards") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3}), y = array({0});
        std::vector<std::string> log;
        Tape tape;
        tape.host([&] { log.push_back("x = " + std::to_string(static_cast<int>(x.value(0)))); });
        tape.launch(Launch(device, square, Precision::f64, 1, {x, y}));
        tape.host([&] { log.push_back("y = " + std::to_string(static_cast<int>(y.value(0)))); });
        CHECK(log == std::vector<std::string>{"x = 3", "y = 9"});
        y.gradient().fill(1);
        tape.backward();
        CHECK(log.size() == 2);
        x.fill(4);
        tape.forward();
        CHECK(log == std::vector<std::string>{"x = 3", "y = 9", "x = 4", "y = 16"});
        CHECK(tape.size() == 3);
        // One that throws is not recorded.
        CHECK_THROWS_AS(tape.host([] { throw std::runtime_error("stop"); }), std::runtime_error);
        CHECK_THROWS_WITH_AS(tape.host({}), "a tape is given an empty host callback", Error);
        CHECK(tape.size() == 3);
        y.gradient().fill(1);
        x.gradient().clear();
        tape.backward();
        CHECK(x.gradient().value(0) == 8);
    }
}

TEST_CASE("tape: a host callback that changes what an adjoint needs is found") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3}), y = array({0});
        Tape tape;
        tape.launch(Launch(device, square, Precision::f64, 1, {x, y}));
        tape.host([&] { x.fill(5); });
        CHECK(message([&] { tape.backward(); }).find("'x' was changed after the launch 'square'") ==
              0);
    }
}

TEST_CASE("tape: a launch that fails is not recorded, and earlier values are not lost") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3}), y = array({0});
        Tape tape;
        tape.launch(Launch(device, square, Precision::f64, 1, {x, y}));
        Launch grow(device, power, Precision::f64, 1, {9, x});
        CHECK(message([&] { tape.launch(grow); }).find("max_trips of 8") != std::string::npos);
        CHECK(tape.size() == 1);
        CHECK(tape.kept_bytes() == 0);
        // What the failed launch left in x is undefined: the gradient is refused.
        y.gradient().fill(1);
        CHECK(message([&] { tape.backward(); }).find("'x' was changed") == 0);
        // From a fresh start all is well.
        x.fill(3);
        tape.forward();
        grow.set("n", 2);
        tape.launch(grow);
        CHECK(x.value(0) == 9);
        y.gradient().fill(1);
        x.gradient().clear();
        tape.backward();
        CHECK(x.gradient().value(0) == 6);
        CHECK(tape.kept_bytes() == static_cast<std::int64_t>(x.bytes()));
    }
}

TEST_CASE("tape: a replay that fails half way has no gradient") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3}), y = array({0}), z = array({0});
        Launch last(device, power, Precision::f64, 1, {2, y});
        Tape tape;
        tape.launch(Launch(device, square, Precision::f64, 1, {x, y}));
        tape.launch(last);
        last.set("n", 9);
        x.fill(4);
        CHECK_THROWS_AS(tape.forward(), Error);
        CHECK(message([&] { tape.backward(); }) ==
              "the last forward() of the tape did not reach the end; run forward() again before "
              "backward()");
        last.set("n", 3);
        tape.forward();  // y = x^6
        y.gradient().fill(1);
        tape.backward();
        CHECK(x.gradient().value(0) == 6 * 1024);
    }
}

TEST_CASE("tape: after another array was set, forward() plans again") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3}), y = array({0}), other = array({5});
        Launch take(device, square, Precision::f64, 1, {x, y});
        Launch reset(device, set_to, Precision::f64, 1, {100, x});
        Tape tape;
        tape.launch(take);
        tape.launch(reset);
        CHECK(tape.kept_bytes() == static_cast<std::int64_t>(x.bytes()));
        // take reads what nobody overwrites: nothing is kept any more.
        take.set("x", other);
        CHECK(message([&] { tape.backward(); }) ==
              "a launch was bound to another array after the tape ran; run forward() again before "
              "backward()");
        tape.forward();
        CHECK(tape.size() == 2);
        CHECK(tape.kept_bytes() == 0);
        CHECK(y.value(0) == 25);
        y.gradient().fill(1);
        tape.backward();
        CHECK(other.gradient().value(0) == 10);
        CHECK(x.gradient().value(0) == 0);
        // And the other way round.
        reset.set("x", other);
        tape.forward();
        CHECK(y.value(0) == 25);
        CHECK(other.value(0) == 100);
        CHECK(tape.kept_bytes() == static_cast<std::int64_t>(x.bytes()));
        y.gradient().fill(1);
        other.gradient().clear();
        tape.backward();
        CHECK(other.gradient().value(0) == 10);
    }
}

TEST_CASE("tape: under the error policy a replay may be refused for the same reason") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3}), y = array({0}), other = array({5});
        Launch take(device, square, Precision::f64, 1, {x, y}, "take");
        Tape tape(OverwritePolicy::error);
        tape.launch(take);
        tape.launch(Launch(device, set_to, Precision::f64, 1, {100, other}, "reset"));
        take.set("x", other);
        for (int times = 0; times < 2; ++times) {
            CHECK(message([&] {
                      tape.forward();
                  }).find("the launch 'reset' overwrites 'x', which the adjoint of 'take'") == 0);
            CHECK(tape.size() == 2);
            CHECK_THROWS_AS(tape.backward(), Error);
        }
        take.set("x", x);
        tape.forward();
        y.gradient().fill(1);
        tape.backward();
        CHECK(x.gradient().value(0) == 6);
    }
}

TEST_CASE("tape: a launch without derivative is passed over") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3}), y = array({0}), z = array({0});
        Launch constant(device, square, Precision::f64, 1, {y, z}, "diagnostics");
        constant.differentiate_only({});
        Tape tape;
        tape.launch(Launch(device, square, Precision::f64, 1, {x, y}));
        tape.launch(constant);
        tape.launch(Launch(device, set_to, Precision::f64, 1, {1, y}));
        CHECK(z.value(0) == 81);
        CHECK(tape.kept_bytes() == 0);
        CHECK(!z.has_gradient());
        x.gradient().fill(7);
        y.gradient().fill(1);
        tape.backward();
        CHECK(x.gradient().value(0) == 7);  // y was reset: nothing reaches x
    }
}

TEST_CASE("tape: a gradient used as an argument is not changed unseen") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        // s reads the gradient of x, to which the adjoint of a later launch adds.
        const Array x = array({3}), y = array({0}), s = array({0});
        x.gradient().fill(2);
        Tape tape;
        tape.launch(
            Launch(device, square, Precision::f64, 1, {x.gradient(), s}, "square the gradient"));
        tape.launch(Launch(device, square, Precision::f64, 1, {x, y}));
        CHECK(s.value(0) == 4);
        y.gradient().fill(1);
        s.gradient().fill(1);
        CHECK(message([&] {
                  tape.backward();
              }).find("'x' was changed after the launch 'square the gradient' read it") == 0);
    }
}

TEST_CASE("tape: a value that is needed is told by what it is, not by its name") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const KernelDef wing =
            kernel("wing", {"wing.area", "lift"},
                   [](Int i, Read<Float> area, Write<Float> lift) { lift[i] = area[i] * area[i]; });
        const Array area = array({3}), lift = array({0});
        Tape tape;
        tape.launch(Launch(device, wing, Precision::f64, 1, {area, lift}));
        tape.launch(Launch(device, set_to, Precision::f64, 1, {50, area}));
        lift.gradient().fill(1);
        tape.backward();
        CHECK(area.gradient().value(0) == 6);
    }
}

TEST_CASE("tape: empty arrays and an empty tape") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        Tape tape;
        tape.forward();
        tape.backward();
        tape.clear_gradients();
        const Array x(Type::f64, {0}), y(Type::f64, {0});
        tape.launch(Launch(device, square_own, Precision::f64, 0, {x}));
        tape.launch(Launch(device, square, Precision::f64, 0, {x, y}));
        tape.launch(Launch(device, square_own, Precision::f64, 0, {x}));
        tape.backward();
        tape.forward();
        tape.backward();
        CHECK(tape.kept_bytes() == 0);
    }
}
