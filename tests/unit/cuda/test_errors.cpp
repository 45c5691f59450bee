// The launch that an error of a CUDA device names, on the driver in software: in graphs too, after
// many launches, and when the launch is no longer there.
#include <doctest/doctest.h>

#include <string>

#include "engine/base/error.hpp"
#include "engine/runtime/program/sequence.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/pendulums.hpp"
#include "tests/support/software_cuda.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;
using test::array;
using test::fresh_device;
using test::Software;

namespace {

const KernelDef twice =
    kernel("twice", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * 2.0; });
const KernelDef scatter =
    kernel("scatter", {"x", "grid"},
           [](Int i, Read<Float> x, Accumulate<Float> grid) { grid[Int(x[i])] += 1.0; });

int times(const std::string& text, const std::string& part) {
    int count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
    return count;
}
bool has(const std::string& text, const std::string& part) { return times(text, part) > 0; }

}  // namespace

TEST_CASE("CUDA device: a failure within a graph names the launches that it holds") {
    NEEDS_SOFTWARE_CUDA();
    for (const char* const fault : {"sticky=1", "sticky=2", "lost=1"}) {
        CAPTURE(fault);
        const Software software("");
        test::Pendulums p(fresh_device(), 20);
        for (int k = 0; k < 3; ++k) p.run();
        software.set(fault);
        const std::string what = test::message([&] { p.run(); });
        CAPTURE(what);
        CHECK(software.count("graph_launches") > 0);
        CHECK(times(what, "since the last synchronization: ") == 1);
        CHECK(has(what, "a graph of: "));
        CHECK(has(what, "(the launch 'advance' with rate: f64 [1]; x: f64 [40, 2])"));
        CHECK(has(what, "(the launch 'squares' with x: f64 [40, 2]; sum: f64 [1])"));
        // Of twenty steps each launch once.
        CHECK(times(what, "a graph of: advance_") + times(what, ", advance_") <= 2);
    }
}

TEST_CASE("CUDA device: a graph of a sequence is named by what it holds now") {
    NEEDS_SOFTWARE_CUDA();
    const Software software("");
    const auto device = fresh_device();
    const Array x = array({1, 2, 3}), y = array({0, 0, 0}), z = array({0, 0, 0});
    Sequence sequence(device);
    sequence.add(Launch(device, twice, Precision::f64, 3, {x, y}, "to y"));
    sequence.add(Launch(device, twice, Precision::f64, 3, {y, z}, "to z"));
    for (int k = 0; k < 3; ++k) sequence.run();
    device->synchronize();
    software.set("sticky=2");
    for (int k = 0; k < 3; ++k) sequence.run();
    const std::string what = test::message([&] { z.value(0); });
    CAPTURE(what);
    CHECK(has(what, "launched since the last synchronization: 3 times a graph of: twice_"));
    CHECK(has(what, "(the launch 'to y' with x: f64 [3]; y: f64 [3]), twice_"));
    CHECK(has(what, "(the launch 'to z' with x: f64 [3]; y: f64 [3])"));
}

TEST_CASE("CUDA device: of many launches the last are named, and that they are the last") {
    NEEDS_SOFTWARE_CUDA();
    const Array x = array({1, 2, 3}), y = array({0, 0, 0});
    for (const int late : {1, 1030}) {
        CAPTURE(late);
        const Software software("");
        const auto device = fresh_device();
        const Launch first(device, twice, Precision::f64, 3, {x, y}, "early"),
            second(device, twice, Precision::f64, 3, {x, y}, "late");
        const Launch::Replay early = first.forward(), then = second.forward();
        early.run();
        device->synchronize();
        software.set("sticky=" + std::to_string(20 + late));
        for (int k = 0; k < 20; ++k) early.run();
        for (int k = 0; k < late; ++k) then.run();
        const std::string what = test::message([&] { device->synchronize(); });
        CAPTURE(what);
        if (late == 1) {
            CHECK(has(what, "launched since the last synchronization: 20 times twice_"));
            CHECK(has(what, "(the launch 'early' with x: f64 [3]; y: f64 [3]), twice_"));
        } else {
            CHECK(has(what,
                      "the last 1024 of 1050 launches since the last synchronization: "
                      "1024 times twice_"));
            CHECK(!has(what, "'early'"));
        }
        CHECK(has(what, "(the launch 'late' with x: f64 [3]; y: f64 [3])"));
        // Whatever is asked for next cannot know better.
        const std::string next = test::message([&] { early.run(); });
        CAPTURE(next);
        CHECK(has(next, "CUDA_ERROR_ILLEGAL_ADDRESS"));
        CHECK(has(next, "'late'"));
        CHECK(!has(next, "in the launch 'early'"));
    }
}

TEST_CASE("CUDA device: a fault of a launch that is gone is raised at the next synchronization") {
    NEEDS_SOFTWARE_CUDA();
    const auto device = fresh_device();
    const Array x = array({0, 12, 3}), y = array({99, 99}), grid(Type::f64, {10});
    const Launch stays(device, scatter, Precision::f64, 2, {y, grid}, "stays");
    Launch(device, scatter, Precision::f64, 3, {x, grid}, "gone").forward().run();
    Launch(device, scatter, Precision::f64, 2, {y, grid}, "gone later").forward().run();
    stays.forward().run();
    const std::string what = test::message([&] { device->synchronize(); });
    CAPTURE(what);
    CHECK(has(what, "item 1: index 12 is out of range: 'grid' has 10 elements"));
    CHECK(has(what, "in the launch 'gone' with x: f64 [3]; grid: f64 [10]"));
    device->synchronize();  // once
    // Of the launches that faulted the first, wherever they are now.
    stays.forward().run();
    Launch(device, scatter, Precision::f64, 3, {x, grid}, "gone").forward().run();
    CHECK(has(test::message([&] { device->settle(); }), "in the launch 'stays'"));
    device->synchronize();
}

TEST_CASE("CUDA device: a fault within a graph comes after that of a launch before it") {
    NEEDS_SOFTWARE_CUDA();
    const auto device = fresh_device();
    const Array x = array({0, 1}), y = array({0, 1, 2}), grid(Type::f64, {10});
    const Launch alone(device, scatter, Precision::f64, 3, {y, grid}, "alone");
    Sequence sequence(device);
    sequence.add_clear(grid);
    sequence.add(Launch(device, scatter, Precision::f64, 2, {x, grid}, "in a graph"));
    for (int k = 0; k < 3; ++k) sequence.run();
    device->synchronize();
    x.set_value(0, 0, 77);
    y.set_value(2, 0, 88);
    for (const bool graph_first : {false, true}) {
        CAPTURE(graph_first);
        if (graph_first) sequence.run();
        alone.forward().run();
        sequence.run();
        const std::string what = test::message([&] { grid.value(0); });
        CAPTURE(what);
        CHECK(has(what, graph_first ? "in the launch 'in a graph'" : "in the launch 'alone'"));
        CHECK(times(what, "in the launch") == 1);
    }
}

TEST_CASE("CUDA device: a fault that another launch's run finds is not said to be its own") {
    NEEDS_SOFTWARE_CUDA();
    const KernelDef choose = kernel("choose", {"x", "to"},
                                    [](Int i, Read<Float> x, Write<Int> to) { to[i] = Int(x[i]); });
    const KernelDef add =
        kernel("add_at", {"to", "x", "sum"},
               [](Int i, Read<Int> to, Read<Float> x, Sum<Float> sum) { sum[to[i]] += x[i]; });
    const auto device = fresh_device();
    const Array x = array({2, 1, 0}), far = array({12}), sum = array({0, 0, 0});
    const Array to(Type::i32, {3}), grid(Type::f64, {10});
    const Launch faulty(device, scatter, Precision::f64, 1, {far, grid}, "faulty"),
        chooses(device, choose, Precision::f64, 3, {x, to}, "chooses"),
        adds(device, add, Precision::f64, 3, {to, x, sum}, "adds");
    faulty.forward().run();
    chooses.forward().run();
    // The host inverts the indices, which are on the device.
    const std::string what = test::message([&] { adds.forward().run(); });
    CAPTURE(what);
    CHECK(has(what, "index 12 is out of range"));
    CHECK(has(what, "in the launch 'faulty' with x: f64 [1]; grid: f64 [10]"));
    CHECK(!has(what, "'adds'"));
    adds.forward().run();
    CHECK(sum.to_doubles() == std::vector<double>{0, 1, 2});
}
