// Local arrays that are overwritten, and errors that a kernel raises, on every device and in every
// width.
#include "engine/lang/local_array.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/ad/differentiate.hpp"
#include "engine/base/error.hpp"
#include "engine/lang/control.hpp"
#include "engine/lang/elementary.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::lang;

namespace {

constexpr int n = 10;

// The numbers x, 2x, ... sorted by a rule that depends on x: items take different ways.
const KernelDef sort = kernel("sort", {"x", "y"}, [](Int i, Read<Float> x, WriteSlice<Float> y) {
    const LocalArray a(n);
    for_(0, n, [&](Int k) { a.put(k, sin(x[i] * Float(k))); });
    Int last = n - 1;
    while_([&] { return last > 0; },
           [&] {
               for_(0, last, [&](Int k) {
                   const Float left = a[k], right = a[k + 1];
                   if_(left > right, [&] {
                       a.put(k, right);
                       a.put(k + 1, left);
                   });
               });
               last -= 1;
           },
           n);
    a.add(0, 100.0);
    for_(0, n, [&](Int k) { y.store_once(i * n + k, a[k]); });
});

const KernelDef sign_of_start =
    kernel("sign of start", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
        const LocalArray a(3);
        a.add(1, x[i]);
        y[i] = 1.0 / a[1];
    });

std::vector<std::shared_ptr<Device>> devices_of_all_widths() {
    std::vector<std::shared_ptr<Device>> list = test::devices();
    if (test::has_cpu_device())
        for (const int width : {1, 4, 8, 16})
            list.push_back(std::make_shared<Device>(DeviceOptions{.threads = 1, .width = width}));
    return list;
}

}  // namespace

TEST_CASE("local arrays: what is put there is there, in order") {
    std::vector<double> numbers(13);
    std::iota(numbers.begin(), numbers.end(), 0.3);
    std::vector<double> bits;
    for (const auto& device : devices_of_all_widths()) {
        CAPTURE(device->describe());
        const Array x = test::array(numbers), y(ir::Type::f64, {13 * n});
        Launch(device, sort, ir::Precision::f64, 13, {x, y}).forward().run();
        device->synchronize();
        const std::vector<double> got = y.to_doubles();
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            std::vector<double> expected;
            for (int k = 0; k < n; ++k) expected.push_back(std::sin(numbers[i] * k));
            std::sort(expected.begin(), expected.end());
            expected[0] += 100;
            for (int k = 0; k < n; ++k)
                CHECK(got[i * n + static_cast<std::size_t>(k)] ==
                      doctest::Approx(expected[static_cast<std::size_t>(k)]).epsilon(1e-13));
        }
        if (bits.empty()) bits = got;
        CHECK(got == bits);
    }
}

TEST_CASE("local arrays: elements start from the zero that changes nothing") {
    for (const auto& device : devices_of_all_widths()) {
        CAPTURE(device->describe());
        const Array x = test::array({0.0, -0.0, 2.0}), y(ir::Type::f64, {3});
        Launch(device, sign_of_start, ir::Precision::f64, 3, {x, y}).forward().run();
        device->synchronize();
        CHECK(y.value(0) == INFINITY);
        CHECK(y.value(1) == -INFINITY);
        CHECK(y.value(2) == 0.5);
    }
}

TEST_CASE("local arrays: what is overwritten has no derivative, and is refused") {
    CHECK_THROWS_WITH_AS(ad::adjoint(sort.trace(ir::Precision::f64)),
                         doctest::Contains("overwritten, which has no derivative"), Error);
    CHECK_THROWS_WITH_AS(ad::tangent(sort.trace(ir::Precision::f64)),
                         doctest::Contains("overwritten, which has no derivative"), Error);
}

TEST_CASE("a kernel raises an error, with what is to blame") {
    const KernelDef refuse = kernel("refuse", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) {
        if_(x[i] < 0.0,
            [&] { builder().raise("element % is negative; use its magnitude", (i + 40).value()); });
        y[i] = sqrt(x[i]);
    });
    for (const auto& device : devices_of_all_widths()) {
        CAPTURE(device->describe());
        const Array x = test::array({4, 1, -1, 9, -2}), y(ir::Type::f64, {5});
        const Launch launch(device, refuse, ir::Precision::f64, 5, {x, y});
        std::string text;
        try {
            launch.forward().run();
            device->synchronize();
        } catch (const Error& e) {
            text = e.happened() + " | " + e.what_to_do();
            CHECK(e.item() == 42);
        }
        CHECK(text == "element 42 is negative | use its magnitude");
        x.assign(std::vector<double>{4, 1, 1, 9, 2});
        launch.forward().run();
        device->synchronize();
        CHECK(y.value(3) == 3);
    }
}
