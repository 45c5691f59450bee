// Launches forwards: setting arguments, properties, replays that follow, zero-size launches, moving
// between devices and streams, sums, several accumulations into one array.
#include <doctest/doctest.h>

#include <cmath>
#include <iterator>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "engine/runtime/launch/launch_state.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/kernels/kernel_harness.hpp"
#include "tests/support/skip.hpp"

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
const KernelDef weigh = kernel(
    "weigh", {"weight", "x", "y"},
    [](Int i, Property<Float> weight, Read<Float> x, Write<Float> y) { y[i] = weight[i] * x[i]; });

}  // namespace

TEST_CASE("launch: arguments by index and by name, and replays that follow") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({1, 2, 3}), y = array({0, 0, 0});
        Launch launch(device, scale, Precision::f64, 3, {x, 2, y});
        CHECK(launch.description() == "scale");
        CHECK(launch.items() == 3);
        const Launch::Replay forward = launch.forward();
        forward.run();
        CHECK(y.to_doubles() == Values{2, 4, 6});
        launch.set("factor", 5);
        forward.run();
        CHECK(y.to_doubles() == Values{5, 10, 15});
        launch.set(1, 0.5);
        forward.run();
        CHECK(y.to_doubles() == Values{0.5, 1, 1.5});
        const Array other = array({10, 20, 30}), result = array({0, 0, 0});
        const std::uint64_t bindings = launch.bindings_version();
        launch.set(0, other);
        launch.set("y", result);
        CHECK(launch.bindings_version() > bindings);
        forward.run();
        CHECK(result.to_doubles() == Values{5, 10, 15});
        CHECK(y.to_doubles() == Values{0.5, 1, 1.5});
        // A number may give way to a device scalar, and come back.
        const Array factor = array({3});
        launch.set("factor", factor);
        forward.run();
        CHECK(result.to_doubles() == Values{30, 60, 90});
        factor.fill(4);
        forward.run();
        CHECK(result.to_doubles() == Values{40, 80, 120});
        launch.set("factor", 1);
        forward.run();
        CHECK(result.to_doubles() == Values{10, 20, 30});
        CHECK(factor.value(0) == 4);
    }
}

TEST_CASE("launch: a copy is the same launch, a replay keeps it alive") {
    const Array x = array({1}), y = array({0});
    Launch::Replay forward = [&] {
        Launch launch(test::interpreter_device(), scale, Precision::f64, 1, {x, 2, y}, "short");
        Launch same = launch;
        same.set("factor", 7);
        return launch.forward();
    }();
    forward.run();
    CHECK(y.value(0) == 7);
    CHECK(forward.launch().description() == "short");
    CHECK(forward.direction() == Direction::forward);
}

TEST_CASE("launch: kernels are compiled once per direction and device") {
    const auto device = std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::interpreter});
    const Array x = array({1}), y = array({0});
    Launch launch(device, scale, Precision::f64, 1, {x, 2, y});
    for (int k = 0; k < 3; ++k) {
        launch.forward().run();  // the replay dies, its code does not
        launch.adjoint().run();
    }
    CHECK(device->statistics().kernels == 2);
}

TEST_CASE("launch: parameters of several numbers") {
    const KernelDef def =
        kernel("shift", {"x", "by", "times", "y"},
               [](Int i, Read<Vec2> x, Param<Vec2> by, Param<Int2> times, Write<Vec2> y) {
                   const Int2 n = times.value();
                   y[i] = x[i] + by.value() * Float(n.x() * 10 + n.y());
               });
    for (const auto& device : test::devices()) {
        const Array x = Array::from(Values{1, 2, 3, 4}, Type::f32, {2, 2}, Layout::planar);
        const Array y(Type::f32, {2, 2});
        Launch launch(device, def, Precision::f32, 2, {x, Values{0.5, -1}, Values{1, 2}, y});
        launch.forward().run();
        CHECK(y.to_doubles() == Values{7, -10, 9, -8});
        launch.set("times", Values{0, 0});
        launch.forward().run();
        CHECK(y.to_doubles() == Values{1, 2, 3, 4});
    }
}

TEST_CASE("launch: a real number is rounded once to the kernel's type") {
    for (const auto& device : test::devices()) {
        const Array x = array({3}, Type::f32), y = array({0}, Type::f32);
        Launch(device, scale, Precision::f32, 1, {x, 0.1, y}).forward().run();
        CHECK(y.value(0) == static_cast<double>(3.0f * 0.1f));
    }
}

TEST_CASE("launch: a Property for all items or one per item") {
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({1, 2, 3}, Type::f32), y = array({0, 0, 0}, Type::f32);
        const Array one = array({2}), each = array({2, 3, 4}, Type::f32);
        Launch number(device, weigh, Precision::f32, 3, {2, x, y});
        CHECK(number.kernel().parameters[0].access == ir::Access::value);
        number.forward().run();
        CHECK(y.to_doubles() == Values{2, 4, 6});
        Launch shared(device, weigh, Precision::f32, 3, {Argument::shared(one), x, y});
        one.fill(10);
        shared.forward().run();
        CHECK(y.to_doubles() == Values{10, 20, 30});
        Launch per_item(device, weigh, Precision::f32, 3, {each, x, y});
        CHECK(per_item.kernel().parameters[0].access == ir::Access::read);
        per_item.forward().run();
        CHECK(y.to_doubles() == Values{2, 6, 12});
    }
}

TEST_CASE("launch: no items") {
    const KernelDef def = kernel(
        "everything", {"r", "w", "rw", "a", "s", "slice", "e", "p", "n"},
        [](Int i, Read<Float> r, Write<Float> w, ReadWrite<Float> rw, Accumulate<Float> a,
           Sum<Float> s, WriteSlice<Float> slice, Reduce<Float> e, Param<Float> p, Atomic<Int> n) {
            const Float v = r[i] * p;
            w[i] = v;
            rw[i] *= v;
            a[i] += v;
            s[i] += v;
            slice.store_once(i, v);
            e += v;
            n[i].add(1);
        });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array full = array({5, 6}), empty(Type::f64, {0}), energy = array({7});
        const Array sum = array({8, 9});
        // Arrays without elements, and arrays with some that no item touches.
        Launch small(device, def, Precision::f64, 0,
                     {empty, empty.clone(), empty.clone(), empty.clone(), empty.clone(),
                      empty.clone(), energy, 2, Array(Type::i32, {0})});
        Launch idle(device, def, Precision::f64, 0,
                    {full, full.clone(), full.clone(), full.clone(), sum, full.clone(), energy, 2,
                     Array(Type::i32, {2})});
        for (const Launch* launch : {&small, &idle})
            for (const Direction d : {Direction::forward, Direction::adjoint, Direction::tangent,
                                      Direction::adjoint_tangent}) {
                if (d == Direction::adjoint && launch == &idle) sum.gradient().fill(3);
                launch->replay(d).run();
            }
        CHECK(energy.value(0) == 7);
        CHECK(sum.to_doubles() == Values{0, 0});  // a Sum defines the whole array
        CHECK(sum.gradient().to_doubles() == Values{0, 0});
        for (std::size_t p : {1u, 2u, 3u, 5u}) {
            CHECK(idle.arrays()[p].to_doubles() == Values{5, 6});
            CHECK(idle.arrays()[p].gradient().to_doubles() == Values{0, 0});
        }
        CHECK(full.gradient().to_doubles() == Values{0, 0});
        CHECK(idle.gradient_of("p") == Values{0});
    }
}

TEST_CASE("launch: moved to another device or stream, earlier replays included") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    const KernelDef def = kernel("mix", {"x", "p", "y"},
                                 [](Int i, Read<Float> x, Param<Float> p, Accumulate<Float> y) {
                                     y[i / 2] += sin(x[i] * p) / x[i];
                                 });
    const Array x = array({0.3, 1.7, 2.9, 4.1, 0.01}), y = array({0, 0, 0});
    Launch launch(test::interpreter_device(), def, Precision::f64, 5, {x, 1.25, y});
    const Launch::Replay forward = launch.forward(), adjoint = launch.adjoint();
    const auto run = [&] {
        y.clear();
        x.gradient().clear();
        launch.clear_gradients_of_numbers();
        y.gradient().assign(Values{1, -2, 3});
        forward.run();
        adjoint.run();
        Values all = y.to_doubles();
        for (const double g : x.gradient().to_doubles()) all.push_back(g);
        all.push_back(launch.gradient_of("p")[0]);
        return all;
    };
    const Values expected = run();
    launch.move_to(test::cpu_device());
    CHECK(test::same_bits(run(), expected));
    const Stream back(test::interpreter_device()), other(test::cpu_device());
    launch.move_to(back);
    CHECK(test::same_bits(run(), expected));
    const Event event = back.record();
    other.wait(event);
    launch.move_to(other);
    CHECK(test::same_bits(run(), expected));
    other.synchronize();
    CHECK(other.record().done());
    // The old device is no longer held.
    auto brief = std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::interpreter});
    const std::weak_ptr<Device> gone = brief;
    launch.move_to(brief);
    brief.reset();
    CHECK(!gone.expired());
    CHECK(test::same_bits(run(), expected));
    launch.move_to(test::cpu_device());
    CHECK(gone.expired());
    CHECK(test::same_bits(run(), expected));
}

// Copies that are made while a launch runs: of what items change themselves, of what they only
// read, of a Sum, which is cleared first, of an array with more elements than items, and of one
// that is not the launch's.
TEST_CASE("launch: copies are of what was there before") {
    const KernelDef step =
        kernel("step", {"x", "v", "cell", "grid", "total", "energy"},
               [](Int i, ReadWrite<Float> x, Read<Vec2> v, Read<Float> cell, Sum<Vec2> grid,
                  Accumulate<Float> total, Accumulate<Float> energy) {
                   const Vec2 here = v[i];
                   grid[Int(cell[i])] += here * x[i];
                   total[i] += here.x();
                   energy[i] += x[i];
                   x[i] = x[i] * 0.5 + here.y();
               });
    const KernelDef count =
        kernel("count", {"x", "sum"}, [](Int i, ReadWrite<Float> x, Reduce<Float> sum) {
            sum += x[i];
            x[i] = 0.0;
        });
    constexpr std::int64_t items = 5000, cells = 300;
    for (const auto& device : test::devices()) {
        if (device->cuda()) continue;  // there copies are the device's (Device::save)
        CAPTURE(device->describe());
        const Array x(Type::f32, {items}), v(Type::f32, {items, 2}), cell(Type::f32, {items}),
            grid(Type::f32, {cells, 2}), total(Type::f32, {items + 7}), energy(Type::f32, {items}),
            other(Type::f32, {77});
        const Array all[] = {x, v, grid, total, energy, other};
        const auto number = [](std::int64_t k) { return static_cast<double>(k % 101) - 50.0; };
        for (const Array& a : all)
            for (std::int64_t k = 0; k < a.size(); ++k)
                a.set_value(k / a.components(), static_cast<int>(k % a.components()), number(k));
        for (std::int64_t k = 0; k < items; ++k)
            cell.set_value(k, 0, static_cast<double>(k * 7 % cells));
        const Launch launch(device, step, Precision::f32, items, {x, v, cell, grid, total, energy});
        const Launch reduction(device, count, Precision::f32, items, {x, array({0})});
        // Terms that grow by turns: the launch finds that its scale is another, and runs again.
        for (const double factor : {1.0, 1.0, 1e6, 1e-6}) {
            for (std::int64_t k = 0; k < items; ++k) v.set_value(k, 0, factor * number(k));
            for (const Launch* which : {&launch, &reduction}) {
                std::vector<std::vector<double>> before;
                std::vector<std::vector<std::byte>> blocks;
                std::vector<backend::Copy> copies;
                for (const Array& a : all) {
                    before.push_back(a.to_doubles());
                    blocks.emplace_back(a.bytes());
                    copies.push_back(
                        {a.binding(), a.components(), ir::size_of(a.type()), blocks.back().data()});
                }
                which->forward().bound().run(copies, nullptr);
                for (std::size_t k = 0; k < std::size(all); ++k) {
                    CAPTURE(k);
                    const auto* const copied = reinterpret_cast<const float*>(blocks[k].data());
                    CHECK(std::vector<double>(copied, copied + all[k].size()) == before[k]);
                }
            }
        }
    }
}

// What launches over the same elements are cut by.
TEST_CASE("launch: sums in fixed point say which elements they reached") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("there is no compiler for the processor");
    const KernelDef deposit =
        kernel("deposit", {"cell", "grid"},
               [](Int i, Read<Float> cell, Accumulate<Float> grid) { grid[Int(cell[i])] += 1.0; });
    const auto device = std::make_shared<Device>(DeviceOptions{.threads = 2});
    const Array cell(Type::f32, {3000}), grid(Type::f32, {5000});
    for (std::int64_t k = 0; k < 3000; ++k)
        cell.set_value(k, 0, static_cast<double>(1000 + k * 13 % 700));
    Launch(device, deposit, Precision::f32, 3000, {cell, grid}).forward().run();
    CHECK(grid.occupied().begin == 1000);
    CHECK(grid.occupied().end == 1700);
    CHECK(cell.occupied().end == 0);
}

TEST_CASE("launch: a Sum defines the whole array, also when nothing is added") {
    const KernelDef scatter =
        kernel("scatter", {"x", "y"}, [](Int i, Read<Float> x, Sum<Float> y) { y[i * 2] += x[i]; });
    const KernelDef nothing = kernel("nothing", {"y"}, [](Int, Sum<Float>) {});
    const KernelDef half =
        kernel("half", {"x", "y"}, [](Int i, Read<Float> x, Sum<Vec2> y) { y[i + 1].y() += x[i]; });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({1, 2}), y = array({9, 9, 9, 9, 9});
        Launch(device, scatter, Precision::f64, 2, {x, y}).forward().run();
        CHECK(y.to_doubles() == Values{1, 0, 2, 0, 0});
        Launch(device, nothing, Precision::f64, 2, {y}).forward().run();
        CHECK(y.to_doubles() == Values{0, 0, 0, 0, 0});
        const Array z = Array::from(Values(6, 9), Type::f64, {3, 2}, Layout::planar);
        Launch(device, half, Precision::f64, 2, {x, z}).forward().run();
        CHECK(z.to_doubles() == Values{0, 0, 0, 1, 0, 2});
    }
}

TEST_CASE("launch: two Accumulates into one array are added in the order of the parameters") {
    const KernelDef def =
        kernel("both", {"p", "q"}, [](Int, Accumulate<Float> p, Accumulate<Float> q) {
            q[0] += 1;
            p[0] += 1;
        });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        // In f32, 2^24 + 1 = 2^24: p's three ones are lost one by one, q's are summed to 3 first,
        // and 2^24 + 3 lies halfway between 2^24 + 2 and 2^24 + 4, the even one.
        const Array sum = array({16777216.0}, Type::f32);
        const Launch::Replay forward = Launch(device, def, Precision::f32, 3, {sum, sum}).forward();
        const std::uint64_t version = sum.version();
        forward.run();
        CHECK(sum.value(0) == 16777220.0);
        CHECK(sum.version() > version);
        forward.run();  // the memory between is clear again
        CHECK(sum.value(0) == 16777224.0);
    }
}

TEST_CASE("launch: two Reduces into one scalar") {
    const KernelDef def = kernel("two_sums", {"x", "p", "q"},
                                 [](Int i, Read<Float> x, Reduce<Float> p, Reduce<Float> q) {
                                     p += x[i];
                                     q += x[i] * x[i];
                                 });
    for (const auto& device : test::devices()) {
        const Array x = array({1, 2, 3}), total = array({100});
        Launch(device, def, Precision::f64, 3, {x, total, total}).forward().run();
        CHECK(total.value(0) == 100 + 6 + 14);
    }
}

TEST_CASE("launch: index arrays that change, or whose memory is used again") {
    // The CPU back end inverts index arrays once per version.
    const KernelDef def = kernel(
        "collect", {"index", "x", "y"},
        [](Int i, Read<Int> index, Read<Float> x, Accumulate<Float> y) { y[index[i]] += x[i]; });
    for (const auto& device : test::devices()) {
        CAPTURE(device->describe());
        const Array x = array({1, 10, 100}), y = array({0, 0, 0});
        Array index = array({0, 0, 2}, Type::i32);
        Launch launch(device, def, Precision::f64, 3, {index, x, y});
        const Launch::Replay forward = launch.forward();
        forward.run();
        CHECK(y.to_doubles() == Values{11, 0, 100});
        index.assign(Values{2, 1, 1});
        y.clear();
        forward.run();
        CHECK(y.to_doubles() == Values{0, 110, 1});
        // A new array in the memory of the old one, after as many writes.
        const void* memory = index.data();
        for (int tries = 0; tries < 64; ++tries) {
            launch.set("index", array({0, 0, 0}, Type::i32));
            index = Array();
            launch.set("index", index = array({1, 0, 0}, Type::i32));
            index.touch();
            y.clear();
            forward.run();
            CHECK(y.to_doubles() == Values{110, 1, 0});
            index.assign(Values{2, 2, 2});
            y.clear();
            forward.run();
            CHECK(y.to_doubles() == Values{0, 0, 111});
            if (index.data() == memory) break;
        }
    }
}
