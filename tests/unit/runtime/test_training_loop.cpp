// A training loop over launch objects: everything is made once before the loop; an iteration only
// changes arguments and replays, and allocates nothing. app/manual/kernels.md quotes it.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/runtime/launch/launch.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/memory/allocations.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;

TEST_CASE("training loop: recorded once, replayed with new arguments, without an allocation") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        std::int64_t allocated = 0;
        double loss_value = 0;

        // ---- fit the line y = slope * x + offset to data -------------------------------------
        using namespace hindcast::lang;
        const KernelDef misfit = kernel("misfit", {"x", "y", "slope", "offset", "loss"},
                                        [](Int i, Read<Float> x, Read<Float> y, Param<Float> slope,
                                           Param<Float> offset, Reduce<Float> loss) {
                                            const Float difference =
                                                slope * x[i] + offset.value() - y[i];
                                            loss += 0.25 * difference * difference;
                                        });

        const Array x = Array::from(std::vector<double>{-1, 0, 1, 2}, ir::Type::f32, {4});
        const Array y = Array::from(std::vector<double>{-5, -2, 1, 4}, ir::Type::f32, {4});
        const Array loss(ir::Type::f64, {1});
        double slope = 0, offset = 0;

        Launch launch(device, misfit, ir::Precision::f32, 4, {x, y, slope, offset, loss});
        launch.differentiate_only({"slope", "offset", "loss"});
        const Launch::Replay forward = launch.forward(), backward = launch.adjoint();
        loss.gradient().fill(1);

        for (int iteration = 0; iteration < 200; ++iteration) {
            const std::int64_t before = test::allocations();
            launch.set("slope", slope);
            launch.set("offset", offset);
            loss.clear();
            launch.clear_gradients_of_numbers();
            forward.run();
            backward.run();
            if (iteration > 0) allocated += test::allocations() - before;
            slope -= 0.25 * launch.gradient_of("slope")[0];
            offset -= 0.25 * launch.gradient_of("offset")[0];
        }
        // ---- the data lie on y = 3 x - 2 -----------------------------------------------------

        loss_value = loss.value(0);
        CHECK(slope == doctest::Approx(3).epsilon(1e-6));
        CHECK(offset == doctest::Approx(-2).epsilon(1e-6));
        CHECK(loss_value < 1e-10);
        CHECK(!x.has_gradient());  // only what is differentiated has gradients
        if (device->options().kind == DeviceKind::cpu) CHECK(allocated == 0);
    }
}

TEST_CASE("training loop: replays of every kind of parameter allocate nothing") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    using namespace hindcast::lang;
    const KernelDef def =
        kernel("all_kinds", {"index", "x", "k", "p", "w", "rw", "a", "s", "slice", "e"},
               [](Int i, Read<Int> index, Read<Vec2> x, Property<Float> k, Param<Vec2> p,
                  Write<Vec2> w, ReadWrite<Vec2> rw, Accumulate<Vec2> a, Sum<Vec2> s,
                  WriteSlice<Vec2> slice, Reduce<Float> e) {
                   const Vec2 v = x[index[i]] * k[i] + p.value();
                   w[i] = v;
                   rw[i] += v;
                   a[index[i]] += v * dot(v, x[i]);
                   s[index[i]] += v;
                   slice.store_once(i, v);
                   e += dot(v, v);
               });
    const std::int64_t n = 40;
    std::vector<double> indices, values;
    for (int k = 0; k < n; ++k) indices.push_back((k * 7) % 10);
    for (int k = 0; k < 2 * n; ++k) values.push_back(0.01 * k);
    const auto vectors = [&](Layout layout) {
        return Array::from(values, ir::Type::f32, {n, 2}, layout);
    };
    const Array shared_target = vectors(Layout::planar), loss(ir::Type::f64, {1});
    Launch launch(
        test::cpu_device(), def, ir::Precision::f32, n,
        {Array::from(indices, ir::Type::i32, {n}), vectors(Layout::planar), 2.0,
         std::vector<double>{0.5, 0.25}, vectors(Layout::planar), vectors(Layout::contiguous),
         shared_target, vectors(Layout::planar), vectors(Layout::planar), loss});
    std::vector<Launch::Replay> replays;
    for (const Direction d :
         {Direction::forward, Direction::adjoint, Direction::tangent, Direction::adjoint_tangent})
        replays.push_back(launch.replay(d));
    const auto once = [&](double k) {
        launch.set("k", k);
        launch.set("p", {k, -k});
        for (const Launch::Replay& replay : replays) replay.run();
    };
    once(1.5);
    const std::int64_t before = test::allocations();
    for (int iteration = 0; iteration < 10; ++iteration) once(0.1 * iteration);
    CHECK(test::allocations() == before);
}
