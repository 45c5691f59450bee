// Sequences of launches, copies and clears: the same on every device, and from the second run on
// one graph on a CUDA device.
#include <doctest/doctest.h>

#include "engine/runtime/program/sequence.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;
using test::array;
using Values = std::vector<double>;

namespace {

const KernelDef sum_of =
    kernel("sum_of", {"x", "sum"}, [](Int i, Read<Float> x, Reduce<Float> sum) { sum += x[i]; });
const KernelDef grow = kernel("grow", {"by", "x"}, [](Int i, Param<Float> by, ReadWrite<Float> x) {
    x[i] = x[i] + by.value();
});
const KernelDef scatter =
    kernel("scatter", {"to", "x", "y"},
           [](Int i, Read<Int> to, Read<Float> x, Sum<Float> y) { y[to[i]] += x[i]; });

}  // namespace

TEST_CASE("a sequence does its launches, copies and clears in order, every time") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({1, 2, 3}), before = array({0, 0, 0}), sum = array({5});
        Launch more(device, grow, Precision::f64, 3, {1.0, x});
        Sequence sequence(device);
        sequence.add_copy(before, x);
        sequence.add(more);
        sequence.add_clear(sum);
        sequence.add(Launch(device, sum_of, Precision::f64, 3, {x, sum}));
        for (int k = 1; k <= 4; ++k) {
            sequence.run();
            CHECK(x.to_doubles() == Values{1.0 + k, 2.0 + k, 3.0 + k});
            CHECK(before.to_doubles() == Values{0.0 + k, 1.0 + k, 2.0 + k});
            CHECK(sum.value(0) == 6 + 3 * k);
        }
        // What the host sets is what the next run works with.
        x.fill(10);
        more.set("by", 0.5);
        sequence.run();
        CHECK(before.to_doubles() == Values{10, 10, 10});
        CHECK(sum.value(0) == 31.5);
        const bool noted = sequence.report().find("one graph of ") == 0;
        CHECK(noted == (device->options().kind == DeviceKind::cuda));
    }
}

TEST_CASE("a sequence sees indices that were changed") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array to = Array::from(Values{0, 1, 1}, Type::i32, {3}), x = array({1, 2, 3}),
                    y = array({0, 0, 0});
        Sequence sequence(device);
        sequence.add(Launch(device, scatter, Precision::f64, 3, {to, x, y}));
        for (int k = 0; k < 3; ++k) sequence.run();
        CHECK(y.to_doubles() == Values{1, 5, 0});
        to.assign(Values{2, 2, 0});
        for (int k = 0; k < 3; ++k) sequence.run();
        CHECK(y.to_doubles() == Values{3, 0, 3});
    }
}

TEST_CASE("kernels in f64 read and write arrays of f32, rounded once") {
    const KernelDef convert = kernel(
        "convert", {"x", "y", "z"}, [](Int i, Read<Single> x, Write<Float> y, ReadWrite<Single> z) {
            y[i] = Float(x[i]) / 3.0;
            z[i] = Single(Float(x[i]) / 3.0);
        });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        constexpr std::int64_t n = 37;  // whole vectors and a rest
        const Array x(Type::f32, {n}), y(Type::f64, {n}), z(Type::f32, {n});
        for (std::int64_t i = 0; i < n; ++i) x.set_value(i, 0, 0.1 * static_cast<double>(i) + 1);
        x.touch();
        Launch(device, convert, Precision::f64, n, {x, y, z}).forward().run();
        for (std::int64_t i = 0; i < n; ++i) {
            const double third = static_cast<double>(static_cast<float>(x.value(i))) / 3;
            CHECK(y.value(i) == third);
            CHECK(z.value(i) == static_cast<double>(static_cast<float>(third)));
        }
    }
}
