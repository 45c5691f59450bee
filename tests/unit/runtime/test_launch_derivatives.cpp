// Launches in the other directions: where gradients and tangents go, what is added and what is
// taken, and that what an adjoint needs of an overwritten array must be given.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/kernels/kernel_harness.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;
using test::array;
using Values = std::vector<double>;

namespace {

const KernelDef scale =
    kernel("scale", {"x", "factor", "y"},
           [](Int i, Read<Float> x, Param<Float> factor, Write<Float> y) { y[i] = x[i] * factor; });

}  // namespace

TEST_CASE("launch derivatives: a number passed by value has a gradient, added to until cleared") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({1, 2, 3}), y = array({0, 0, 0});
        Launch launch(device, scale, Precision::f64, 3, {x, 2, y});
        const Launch::Replay adjoint = launch.adjoint();
        CHECK(launch.gradient_of("factor") == Values{0});
        y.gradient().assign(Values{1, 10, 100});
        adjoint.run();
        CHECK(launch.gradient_of("factor") == Values{1 * 1 + 10 * 2 + 100 * 3});
        CHECK(x.gradient().to_doubles() == Values{2, 20, 200});
        CHECK(y.gradient().to_doubles() == Values{0, 0, 0});  // stored, so taken
        launch.set("factor", 3);  // the gradient stays with the parameter
        y.gradient().assign(Values{1, 0, 0});
        adjoint.run();
        CHECK(launch.gradient_of("factor") == Values{322});
        CHECK(x.gradient().to_doubles() == Values{5, 20, 200});
        launch.clear_gradients_of_numbers();
        CHECK(launch.gradient_of("factor") == Values{0});
        CHECK(x.gradient().value(0) == 5);
        // A device scalar has its own.
        const Array factor = array({4});
        launch.set("factor", factor);
        y.gradient().assign(Values{1, 1, 1});
        adjoint.run();
        CHECK(factor.gradient().to_doubles() == Values{6});
    }
}

TEST_CASE("launch derivatives: gradients of numbers accumulate in f64, also in f32 kernels") {
    // 200 000 terms of 0.1f: summed in f32 the result is off by about 1e-3.
    const std::int64_t n = 200000;
    const KernelDef def = kernel(
        "repeat", {"factor", "x", "y"},
        [](Int i, Param<Float> factor, Read<Float> x, Write<Float> y) { y[i] = x[0] * factor; });
    const double exact = static_cast<double>(0.1f) * static_cast<double>(n);
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({0.1}, Type::f32), y(Type::f32, {n});
        const Launch launch(device, def, Precision::f32, n, {1, x, y});
        y.gradient().fill(1);
        launch.adjoint().run();
        CHECK(std::fabs(launch.gradient_of("factor")[0] - exact) < 1e-12 * exact);
    }
}

TEST_CASE("launch derivatives: two Reads of one array are added in the order of the parameters") {
    const KernelDef def =
        kernel("two_reads", {"a", "b", "c", "d", "y"},
               [](Int i, Read<Float> a, Read<Float> b, Read<Float> c, Read<Float> d,
                  Write<Float> y) { y[i] = b[0] * d[i] + a[0] * c[i]; });
    const std::vector<float> c{1000.1f, 0.7f, -3.3f}, d{4e-5f, -1.7e-5f, 6.3e-6f},
        g{0.3f, -0.7f, 1.9f};
    const auto floats = [](const std::vector<float>& v) {
        return array(Values(v.begin(), v.end()), Type::f32);
    };
    const float before = 0.01f;
    // By hand: what was there and the terms of a in order of item; then the terms of b, summed from
    // zero, as one.
    float of_a = before, of_b = 0;
    for (std::size_t i = 0; i < 3; ++i) of_a += g[i] * c[i];
    for (std::size_t i = 0; i < 3; ++i) of_b += g[i] * d[i];
    const float expected = of_a + of_b;
    float in_one_sum = of_a;
    for (std::size_t i = 0; i < 3; ++i) in_one_sum += g[i] * d[i];
    REQUIRE(in_one_sum != expected);  // so that the test can tell
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({1}, Type::f32), y = floats({0, 0, 0});
        const Launch launch(device, def, Precision::f32, 3, {x, x, floats(c), floats(d), y});
        const Launch::Replay adjoint = launch.adjoint();
        for (int times = 0; times < 2; ++times) {
            x.gradient().fill(static_cast<double>(before));
            y.gradient().assign(Values(g.begin(), g.end()));
            adjoint.run();
            CHECK(x.gradient().value(0) == static_cast<double>(expected));
        }
    }
}

TEST_CASE("launch derivatives: one array read three ways") {
    const KernelDef def = kernel("cube", {"a", "b", "p", "y"},
                                 [](Int i, Read<Float> a, Read<Float> b, Param<Float> p,
                                    Write<Float> y) { y[i] = a[i] * b[0] * p; });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3}), y = array({0});
        const Launch launch(device, def, Precision::f64, 1, {x, x, x, y});
        launch.forward().run();
        CHECK(y.value(0) == 27);
        y.gradient().fill(1);
        launch.adjoint().run();
        CHECK(x.gradient().value(0) == 27);  // 3 x^2
        x.tangent().fill(1);
        launch.replay(Direction::tangent).run();
        CHECK(y.tangent().value(0) == 27);
        x.gradient().clear();
        y.gradient().fill(1);
        y.gradient().tangent().clear();
        launch.replay(Direction::adjoint_tangent).run();
        CHECK(x.gradient().value(0) == 27);
        CHECK(x.gradient().tangent().value(0) == 18);  // 6 x
    }
}

TEST_CASE("launch derivatives: what is taken and what stays") {
    const KernelDef def =
        kernel("targets", {"x", "w", "a", "s"},
               [](Int i, Read<Float> x, Write<Float> w, Accumulate<Float> a, Sum<Float> s) {
                   w[i] = 2 * x[i];
                   a[i] += 3 * x[i];
                   s[i] += 5 * x[i];
               });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        // Two items; the arrays have a third element that no item touches.
        const Array x = array({1, 1, 1}), w = array({0, 0, 7}), a = array({1, 1, 7});
        const Array s = array({9, 9, 9});
        const Launch launch(device, def, Precision::f64, 2, {x, w, a, s});
        launch.forward().run();
        CHECK(w.to_doubles() == Values{2, 2, 7});
        CHECK(a.to_doubles() == Values{4, 4, 7});
        CHECK(s.to_doubles() == Values{5, 5, 0});
        w.gradient().assign(Values{1, 2, 3});
        a.gradient().assign(Values{10, 20, 30});
        s.gradient().assign(Values{100, 200, 300});
        x.gradient().fill(0.5);
        launch.adjoint().run();
        CHECK(x.gradient().to_doubles() == Values{532.5, 1064.5, 0.5});
        CHECK(w.gradient().to_doubles() == Values{0, 0, 3});     // own elements
        CHECK(a.gradient().to_doubles() == Values{10, 20, 30});  // what was there still counts
        CHECK(s.gradient().to_doubles() == Values{0, 0, 0});     // the whole array was defined
    }
}

TEST_CASE("launch derivatives: what the launch has overwritten must be given to its adjoint") {
    const KernelDef def =
        kernel("grow", {"x", "y"}, [](Int i, Read<Float> x, ReadWrite<Float> y) { y[i] *= x[i]; });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({3, 4}), y = array({5, 6});
        const Launch launch(device, def, Precision::f64, 2, {x, y}, "grow it");
        const Launch::Replay forward = launch.forward(), adjoint = launch.adjoint();
        const Array old = y.clone();
        const auto check = [&] {
            // d(x y)/dx = y as it was, d(x y)/dy = x
            CHECK(x.gradient().to_doubles() == Values{5, 60});
            CHECK(y.gradient().to_doubles() == Values{3, 40});
            x.gradient().clear();
            y.gradient().assign(Values{1, 10});
        };
        y.gradient().assign(Values{1, 10});
        adjoint.run();  // before the launch: at the arguments as they stand
        check();
        forward.run();
        CHECK(y.to_doubles() == Values{15, 24});
        CHECK_THROWS_WITH_AS(adjoint.run(),
                             "in kernel 'grow it': the adjoint needs 'y' as it was before the "
                             "launch, which has overwritten it; record the launch on a Tape, or "
                             "keep a copy and give it to the adjoint by bind_memory()",
                             Error);
        CHECK_THROWS_AS(launch.replay(Direction::adjoint_tangent).run(), Error);
        const int p = adjoint.kernel().find_parameter("y");
        // In memory of the launch's device.
        adjoint.bind_memory(
            p, device->cuda() ? old.memory().on(device->cuda()) : static_cast<void*>(old.data()));
        adjoint.run();
        check();
        adjoint.bind_memory(p, nullptr);
        CHECK_THROWS_AS(adjoint.run(), Error);
        y.copy_from(old);  // the host put it back
        adjoint.run();
        check();
    }
    // An adjoint that does not need the old value runs.
    const KernelDef add = kernel("increase", {"x", "y"},
                                 [](Int i, Read<Float> x, ReadWrite<Float> y) { y[i] += x[i]; });
    const Array x = array({3}), y = array({5});
    const Launch launch(test::interpreter_device(), add, Precision::f64, 1, {x, y});
    launch.forward().run();
    y.gradient().fill(2);
    launch.adjoint().run();
    CHECK(x.gradient().value(0) == 2);
    CHECK(y.gradient().value(0) == 2);
}

TEST_CASE("launch derivatives: a shared Property sums, one per item does not") {
    const KernelDef def = kernel("weigh", {"weight", "x", "y"},
                                 [](Int i, Property<Float> weight, Read<Float> x, Write<Float> y) {
                                     y[i] = weight[i] * x[i];
                                 });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({1, 2, 3}, Type::f32), y = array({0, 0, 0}, Type::f32);
        const Array one = array({2}), each = array({2, 2, 2}, Type::f32);
        const auto adjoint = [&](const Argument& weight) {
            const Launch launch(device, def, Precision::f32, 3, {weight, x, y});
            y.gradient().assign(Values{1, 10, 100});
            launch.adjoint().run();
            return launch;
        };
        CHECK(adjoint(2.0).gradient_of("weight") == Values{321});
        adjoint(Argument::shared(one));
        CHECK(one.gradient().to_doubles() == Values{321});
        CHECK(one.gradient().type() == Type::f64);
        adjoint(each);
        CHECK(each.gradient().to_doubles() == Values{1, 20, 300});
    }
}

TEST_CASE("launch derivatives: tangents and products with the Hessian") {
    // y = x^3 p^2: dy = 3 x^2 p^2 dx + 2 x^3 p dp
    const KernelDef def =
        kernel("power", {"x", "p", "y"}, [](Int i, Read<Float> x, Param<Float> p, Write<Float> y) {
            y[i] = x[i] * x[i] * x[i] * p * p;
        });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({2, 3}), p = array({5}), y = array({0, 0});
        const Launch launch(device, def, Precision::f64, 2, {x, p, y});
        x.tangent().assign(Values{1, 2});
        p.tangent().fill(3);
        launch.replay(Direction::tangent).run();
        CHECK(y.to_doubles() == Values{200, 675});
        CHECK(y.tangent().to_doubles() ==
              Values{3 * 4 * 25 * 1 + 2 * 8 * 5 * 3, 3 * 9 * 25 * 2 + 2 * 27 * 5 * 3});
        y.gradient().assign(Values{1, 10});
        y.gradient().tangent().clear();
        launch.replay(Direction::adjoint_tangent).run();
        CHECK(x.gradient().to_doubles() == Values{300, 6750});
        // d(3 x^2 p^2) = 6 x p^2 dx + 6 x^2 p dp
        CHECK(x.gradient().tangent().to_doubles() ==
              Values{6 * 2 * 25 * 1 + 6 * 4 * 5 * 3, 10 * (6 * 3 * 25 * 2 + 6 * 9 * 5 * 3)});
        // sum of seeds times d(2 x^3 p) = 6 x^2 p dx + 2 x^3 dp
        CHECK(p.gradient().tangent().value(0) ==
              6 * 4 * 5 * 1 + 2 * 8 * 3 + 10 * (6 * 9 * 5 * 2 + 2 * 27 * 3));
    }
}

TEST_CASE("launch derivatives: only what is asked for has gradients") {
    const Array x = array({1, 2, 3}), y = array({0, 0, 0});
    Launch launch(test::interpreter_device(), scale, Precision::f64, 3, {x, 2, y});
    const std::int64_t before = memory_use().current;
    launch.forward().run();
    CHECK(memory_use().current == before);
    launch.differentiate_only({"factor", "y"});
    const Launch::Replay adjoint = launch.adjoint();
    y.gradient().fill(1);
    adjoint.run();
    CHECK(launch.gradient_of("factor") == Values{6});
    CHECK(!x.has_gradient());
    for (std::size_t p = 0; p < adjoint.kernel().parameters.size(); ++p) {
        const std::string& name = adjoint.kernel().parameters[p].name;
        CAPTURE(name);
        CHECK(adjoint.is_gradient(static_cast<int>(p)) == (name == "factor.a1" || name == "y.a1"));
    }
}

TEST_CASE("launch derivatives: a parameter may have a dot in its name") {
    // Derived parameters are told by what they are derived from, not by how they look.
    const KernelDef def = kernel("wing", {"wing.area", "wing", "lift"},
                                 [](Int i, Read<Float> area, Read<Float> wing, Write<Float> lift) {
                                     lift[i] = area[i] * wing[i];
                                 });
    const Array area = array({3}), wing = array({4}), lift = array({0});
    const Launch launch(test::interpreter_device(), def, Precision::f64, 1, {area, wing, lift});
    const Launch::Replay adjoint = launch.adjoint();
    CHECK(!adjoint.is_gradient(0));
    lift.gradient().fill(1);
    adjoint.run();
    CHECK(area.gradient().value(0) == 4);
    CHECK(wing.gradient().value(0) == 3);
}
