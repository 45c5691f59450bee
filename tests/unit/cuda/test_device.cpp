// A CUDA device at work, on the driver in software: streams and events, where values are, block
// sizes, sums in any order, and what is said when something fails. Graphs are in
// test_graphs.cpp, the program in test_program.cpp. That results have the CPU's bits is
// tested wherever a test runs on test::devices().
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>

#include "engine/base/error.hpp"
#include "engine/runtime/array/memory.hpp"
#include "engine/runtime/launch/launch.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/software_cuda.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;
using test::array;
using test::fresh_device;
using test::Software;
using Values = std::vector<double>;

namespace {

const KernelDef twice =
    kernel("twice", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * 2.0; });
const KernelDef scatter =
    kernel("scatter", {"x", "grid"},
           [](Int i, Read<Float> x, Accumulate<Float> grid) { grid[Int(x[i])] += 1.0; });

}  // namespace

TEST_CASE("CUDA device: streams run on their own, and an event orders them") {
    NEEDS_SOFTWARE_CUDA();
    int wrong = 0;
    for (const bool waits : {false, true}) {
        for (int seed = 1; seed <= 20; ++seed) {
            const Software software("seed=" + std::to_string(seed));
            const auto device = fresh_device();
            const Array x = array({1, 2, 3}), y = array({0, 0, 0}), z = array({0, 0, 0});
            Launch produce(device, twice, Precision::f64, 3, {x, y}),
                consume(device, twice, Precision::f64, 3, {y, z});
            const Stream a(device), b(device);
            produce.move_to(a);
            consume.move_to(b);
            for (const Array& each : {x, y, z}) each.memory().on(device->cuda());
            produce.forward().run();
            if (waits) b.wait(a.record());
            consume.forward().run();
            const bool right = z.to_doubles() == Values{4, 8, 12};
            if (waits)
                CHECK(right);
            else
                wrong += right ? 0 : 1;
        }
    }
    CHECK(wrong > 0);  // the missing wait is caught
    CHECK(wrong < 20);
}

TEST_CASE("CUDA device: an event is pending until the work before it is done") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("");
    const auto device = fresh_device();
    const Array x = array({1}), y = array({0});
    Launch launch(device, twice, Precision::f64, 1, {x, y});
    const Stream stream(device);
    launch.move_to(stream);
    launch.forward().run();
    const Event event = stream.record();
    CHECK(!event.done());
    stream.synchronize();
    CHECK(event.done());
    CHECK(Event().done());
}

TEST_CASE("CUDA device: values are where they are newest, and move only when they must") {
    NEEDS_SOFTWARE_CUDA();
    const auto device = fresh_device();
    const Array x = array({1, 2, 3}), y = array({0, 0, 0});
    const Launch launch(device, twice, Precision::f64, 3, {x, y});
    launch.forward().run();
    CHECK(y.to_doubles() == Values{2, 4, 6});
    const Software software("");
    launch.forward().run();
    launch.forward().run();
    CHECK(software.count("copies_to_device") == 0);
    CHECK(software.count("copies_to_host") == 0);
    CHECK(y.value(2) == 6);
    CHECK(y.value(1) == 4);
    CHECK(software.count("copies_to_host") == 1);
    x.set_value(0, 0, 5);  // the host's is newer now
    launch.forward().run();
    CHECK(software.count("copies_to_device") == 1);
    CHECK(y.to_doubles() == Values{10, 4, 6});
    // Filling, clearing and copying happen there.
    software.set("");
    x.fill(7);
    launch.forward().run();
    const Array kept = y.clone();
    y.clear();
    x.copy_from(kept);
    CHECK(software.count("copies_to_device") == 0);
    CHECK(software.count("copies_to_host") == 0);
    CHECK(x.to_doubles() == Values{14, 14, 14});
    CHECK(y.to_doubles() == Values{0, 0, 0});
    // A launch on the host, and on another context, see what the device has.
    launch.forward().run();
    const Array z = array({0, 0, 0}), w = array({0, 0, 0});
    Launch(test::interpreter_device(), twice, Precision::f64, 3, {y, z}).forward().run();
    CHECK(z.value(0) == 56);
    Launch(fresh_device(), twice, Precision::f64, 3, {z, w}).forward().run();
    CHECK(w.value(0) == 112);
}

TEST_CASE(
    "CUDA device: a fault is raised at the next synchronization, of the launch that was first") {
    NEEDS_SOFTWARE_CUDA();
    const auto device = fresh_device();
    const Array x = array({0, 12, 3}), grid(Type::f64, {10}), y = array({99, 99});
    const Launch good(device, scatter, Precision::f64, 1, {x, grid}, "good"),
        first(device, scatter, Precision::f64, 3, {x, grid}, "first"),
        second(device, scatter, Precision::f64, 2, {y, grid}, "second");
    good.forward().run();
    first.forward().run();
    second.forward().run();
    const std::string what = test::message([&] { grid.value(0); });
    CAPTURE(what);
    CHECK(what.find("index 12 is out of range: 'grid' has 10 elements") != std::string::npos);
    CHECK(what.find("item 1") != std::string::npos);
    CHECK(what.find("in the launch 'first'") != std::string::npos);
    // It is raised once, and the device works on.
    device->synchronize();
    grid.clear();
    good.forward().run();
    CHECK(grid.value(0) == 1);
}

TEST_CASE("CUDA device: too little memory is an error that leaves the host's values") {
    NEEDS_SOFTWARE_CUDA();
    const auto device = fresh_device();
    const Array x(Type::f64, {100000}), y(Type::f64, {100000});
    x.fill(3);
    const Launch launch(device, twice, Precision::f64, 100000, {x, y});
    const Software software("out_of_memory=1");
    const std::string what = test::message([&] { launch.forward().run(); });
    CAPTURE(what);
    CHECK(what.find("800000 bytes of memory: out of memory") != std::string::npos);
    CHECK(what.find("use --device cpu") != std::string::npos);
    CHECK(what.find("in the launch") == std::string::npos);  // it has no name but the kernel's
    CHECK(x.value(99999) == 3);
    launch.forward().run();  // there is memory again
    CHECK(y.value(99999) == 6);
}

TEST_CASE("CUDA device: a launch that the driver refuses, one that fails, a device that is lost") {
    NEEDS_SOFTWARE_CUDA();
    const Array x = array({1, 2, 3});
    for (const char* setting : {"launch_fails=1", "sticky=1", "lost=3"}) {
        CAPTURE(setting);
        const Array y = array({0, 0, 0}), other = array({4});
        {
            const Software software("");
            const auto device = fresh_device();
            const Launch launch(device, twice, Precision::f64, 3, {x, y}, "the launch");
            software.set(setting);
            const std::string what = test::message([&] {
                launch.forward().run();
                y.value(0);
            });
            CAPTURE(what);
            if (std::strcmp(setting, "launch_fails=1") == 0) {
                CHECK(what.find("a launch of twice_") != std::string::npos);
                CHECK(what.find("over 3 items") != std::string::npos);
                CHECK(what.find("in the launch 'the launch'") != std::string::npos);
            } else if (std::strcmp(setting, "sticky=1") == 0) {
                CHECK(what.find("a launch on CUDA device 0 failed: ") != std::string::npos);
                CHECK(what.find("launched since the last synchronization: twice_") !=
                      std::string::npos);
                CHECK_THROWS_AS(y.value(0), Error);  // its values are gone
            } else {
                CHECK(what.find("CUDA_ERROR_DEVICE_UNAVAILABLE") != std::string::npos);
            }
            CHECK(other.value(0) == 4);
        }
        const Software well("");
        CHECK(x.to_doubles() == Values{1, 2, 3});
    }
}

TEST_CASE("CUDA device: errors say what a launch was given") {
    NEEDS_SOFTWARE_CUDA();
    const KernelDef push =
        kernel("push", {"by", "along", "x", "grid"},
               [](Int i, Param<Float> by, Param<Vec2> along, Read<Float> x,
                  Accumulate<Float> grid) { grid[Int(x[i])] += by.value() * along.value().x(); });
    const char* const given = "by = 0.25; along = (3, -1); x: f64 [2]; grid: f64 [10]";
    const Array x = array({0, 12}), grid(Type::f64, {10});
    {
        const auto device = fresh_device();
        const Launch launch(device, push, Precision::f64, 2, {0.25, {3.0, -1.0}, x, grid},
                            "a push");
        launch.forward().run();
        const std::string what = test::message([&] { grid.value(0); });
        CAPTURE(what);
        CHECK(what.find(std::string("in the launch 'a push' with ") + given) != std::string::npos);
    }
    x.set_value(1, 0, 1);
    for (const char* const setting : {"launch_fails=1", "sticky=1"}) {
        CAPTURE(setting);
        const Software software("");
        const auto device = fresh_device();
        const Launch launch(device, push, Precision::f64, 2, {0.25, {3.0, -1.0}, x, grid});
        software.set(setting);
        const std::string what = test::message([&] {
            launch.forward().run();
            device->synchronize();
        });
        CAPTURE(what);
        CHECK(what.find(given) != std::string::npos);
    }
}

TEST_CASE("CUDA device: the launch shape of a long kernel is measured and remembered") {
    NEEDS_SOFTWARE_CUDA();
    constexpr std::int64_t n = 20000;  // more than 256 for each of 16 multiprocessors
    const KernelDef mine = kernel("tuned_for_this_test", {"x"},
                                  [](Int i, ReadWrite<Float> x) { x[i] = x[i] * 0.5 + 1.0; });
    const test::TemporaryFolder cache;
    const test::Environment where("HINDCAST_CACHE", cache.path().string());
    const auto entries = [&] {
        return std::distance(std::filesystem::recursive_directory_iterator(cache.path()), {});
    };
    // Blocks of 128 take 50 us by the device's clock, others 100. Then short ones: no entry.
    const auto seconds = [&](const char* likes, int launches) {
        const Software software(likes);
        const auto device = fresh_device();
        const Array x(Type::f64, {n});
        const Launch launch(device, mine, Precision::f64, n, {x});
        for (int k = 0; k < launches; ++k) {
            launch.forward().run();
            device->synchronize();
        }
        CHECK(x.value(n - 1) == doctest::Approx(2 - std::pow(0.5, launches - 1)).epsilon(1e-12));
        const long long before = software.count("microseconds");
        launch.forward().run();
        device->synchronize();
        return software.count("microseconds") - before;
    };
    CHECK(seconds("likes=128:50", 2) == 100);  // the choice by occupancy is 256
    CHECK(seconds("likes=128:50", 12) == 50);  // measured
    CHECK(seconds("likes=128:50", 1) == 50);   // remembered
    CHECK(entries() > 0);
    CHECK(seconds("likes=64:50", 12) == 100);  // what was found stays
    std::filesystem::remove_all(cache.path());
    // 16 blocks of 256 threads, which is what the device holds at once: they stride over the items.
    CHECK(seconds("likes=256x16:50", 2) == 100);
    CHECK(seconds("likes=256x16:50", 12) == 50);
    CHECK(seconds("likes=256x16:50", 1) == 50);
    const auto kept = entries();
    const KernelDef other = kernel("another_for_this_test", {"x"},
                                   [](Int i, ReadWrite<Float> x) { x[i] = x[i] * 0.25 + 1.0; });
    const Software software("likes=64:5");  // too short to be worth it
    const auto device = fresh_device();
    const Array x(Type::f64, {n});
    const Launch launch(device, other, Precision::f64, n, {x});
    for (int k = 0; k < 12; ++k) {
        launch.forward().run();
        device->synchronize();
    }
    const long long before = software.count("microseconds");
    launch.forward().run();
    device->synchronize();
    CHECK(software.count("microseconds") - before == 10);
    CHECK(entries() >= kept);
}

TEST_CASE("CUDA device: threads that stride over the items have the bits of one for each") {
    NEEDS_SOFTWARE_CUDA();
    constexpr std::int64_t n = 20000;
    const KernelDef mixed = kernel("strides_in_this_test", {"at", "x", "cells", "fixed", "total"},
                                   [](Int i, Read<Int> at, Read<Float> x, Accumulate<Float> cells,
                                      Sum<Vec2> fixed, Reduce<Float> total) {
                                       Float root = x[i];
                                       for (int k = 0; k < 3; ++k)
                                           root = 0.5 * (root + x[i] / root);
                                       cells[at[i]] += root;
                                       fixed[Int(root * 10.0)] += Vec2(x[i], root);
                                       total += root;
                                   });
    const test::TemporaryFolder cache;
    const test::Environment where("HINDCAST_CACHE", cache.path().string());
    const Software software("likes=256x16:50");
    const auto device = fresh_device();
    const Array at(Type::i32, {n}), x(Type::f32, {n});
    std::vector<std::int64_t> cell;
    for (std::int64_t i = 0; i < n; ++i) cell.push_back(i * i % 700);
    at.assign_integers(cell);
    for (std::int64_t i = 0; i < n; ++i) x.set_value(i, 0, 1 + static_cast<double>(i % 997) / 997);
    const Array cells(Type::f32, {700}), fixed(Type::f32, {20, 2}), total(Type::f64, {1});
    const Launch launch(device, mixed, Precision::f32, n, {at, x, cells, fixed, total});
    const auto results = [&](long long& microseconds) {
        cells.fill(0);
        total.fill(0);
        device->synchronize();
        const long long before = software.count("microseconds");
        launch.forward().run();
        device->synchronize();
        microseconds = software.count("microseconds") - before;
        return std::vector{cells.to_doubles(), fixed.to_doubles(), total.to_doubles()};
    };
    long long at_first = 0, now = 0;
    const auto expected = results(at_first);
    for (int k = 0; k < 20; ++k) CHECK(results(now) == expected);
    CHECK(at_first - now == 2 * 50);  // that which measures the sums strides, and that which adds
}

TEST_CASE("CUDA device: sums in any order are those in order, but for rounding") {
    NEEDS_SOFTWARE_CUDA();
    const KernelDef deposit =
        kernel("deposit_here", {"x", "value", "sum", "more"},
               [](Int i, Read<Float> x, Read<Vec2> value, Sum<Vec2> sum, Accumulate<Float> more) {
                   sum[Int(x[i])] += value[i];
                   more[Int(x[i]) + 1] += value[i].x() * value[i].y();
               });
    constexpr std::int64_t n = 300;
    for (const bool in_f64 : {false, true}) {
        const Type real = in_f64 ? Type::f64 : Type::f32;
        const Precision precision = in_f64 ? Precision::f64 : Precision::f32;
        const Array x(real, {n}), value(real, {n, 2});
        for (std::int64_t i = 0; i < n; ++i) {
            x.set_value(i, 0, static_cast<double>(i * 7 % 5));
            for (int c = 0; c < 2; ++c)
                value.set_value(i, c, std::sin(1.7 * static_cast<double>(2 * i + c)));
        }
        x.touch();
        value.touch();
        const auto run = [&](const std::shared_ptr<Device>& device) {
            const Array sum(real, {5, 2}), more(real, {7});
            sum.fill(99);  // a Sum defines its array
            more.fill(1);
            Launch launch(device, deposit, precision, n, {x, value, sum, more});
            const Launch::Replay forward = launch.forward(), backward = launch.adjoint();
            forward.run();
            sum.gradient().fill(1);
            more.gradient().fill(2);
            value.gradient().clear();
            backward.run();
            Values all = sum.to_doubles();
            for (const Array& a : {more, value.gradient()}) {
                const Values part = a.to_doubles();
                all.insert(all.end(), part.begin(), part.end());
            }
            return all;
        };
        const Values exact = run(test::interpreter_device());
        const double tolerance = in_f64 ? 1e-13 : 1e-5;
        bool differs = false;
        for (int seed = 1; seed <= 5; ++seed) {
            const Software software("seed=" + std::to_string(seed));
            DeviceOptions options;
            options.kind = DeviceKind::cuda;
            options.nondeterministic = true;
            const auto device = std::make_shared<Device>(options);
            CHECK(!device->is_deterministic());
            CHECK(device->describe().find("nondeterministic") != std::string::npos);
            const Values found = run(device);
            REQUIRE(found.size() == exact.size());
            for (std::size_t k = 0; k < found.size(); ++k)
                CHECK(std::fabs(found[k] - exact[k]) < tolerance * (1 + std::fabs(exact[k])));
            differs |= found != exact;
        }
        CHECK(differs);  // the price
    }
    DeviceOptions options;
    options.kind = DeviceKind::interpreter;
    options.nondeterministic = true;
    CHECK(Device(options).is_deterministic());
}

TEST_CASE("CUDA device: an index out of range is found in sums in any order") {
    NEEDS_SOFTWARE_CUDA();
    DeviceOptions options;
    options.kind = DeviceKind::cuda;
    options.nondeterministic = true;
    const auto device = std::make_shared<Device>(options);
    const Array x = array({0, 12, 3}), grid(Type::f64, {10});
    const Launch launch(device, scatter, Precision::f64, 3, {x, grid});
    const Launch::Replay forward = launch.forward();
    forward.run();
    CHECK(test::message([&] {
              grid.value(0);
          }).find("index 12 is out of range: 'grid' has 10 elements") != std::string::npos);
}
