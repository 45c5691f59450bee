// A CUDA device at work, on the driver in software: streams and events, where values are, graphs,
// and what is said when something fails. That results have the CPU's bits is tested wherever a test
// runs on test::devices().
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "engine/base/error.hpp"
#include "engine/base/files.hpp"
#include "engine/runtime/rollout.hpp"
#include "engine/sim/optimization.hpp"
#include "tests/cuda_driver/client.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/program.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using ir::Type;
using test::array;
using Values = std::vector<double>;

namespace {

// The engine's driver, if it is that in software, with settings until the end of a test.
class Software : public test::SoftwareControl {
public:
    explicit Software(const std::string& settings)
        : SoftwareControl(::dlopen(HINDCAST_SOFTWARE_CUDA_DRIVER, RTLD_NOW | RTLD_LOCAL)) {
        set(settings);
    }
    ~Software() { set(""); }
    Software(const Software&) = delete;
    Software& operator=(const Software&) = delete;

    static bool is_used() {
        const char* const driver = std::getenv("HINDCAST_CUDA_DRIVER");
        return test::has_cuda_device() && driver != nullptr &&
               std::strcmp(driver, HINDCAST_SOFTWARE_CUDA_DRIVER) == 0;
    }
};

#define NEEDS_SOFTWARE_CUDA() \
    if (!Software::is_used()) HINDCAST_SKIP("needs the CUDA driver in software")

std::shared_ptr<Device> fresh_device(WholeProgramUse use = WholeProgramUse::automatic) {
    DeviceOptions options;
    options.kind = DeviceKind::cuda;
    options.whole_program = use;
    return std::make_shared<Device>(options);
}

const KernelDef twice =
    kernel("twice", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * 2.0; });
const KernelDef scatter =
    kernel("scatter", {"x", "grid"},
           [](Int i, Read<Float> x, Accumulate<Float> grid) { grid[Int(x[i])] += 1.0; });
// A damped rotation, and the sum of squares of what it came to.
const KernelDef advance =
    kernel("advance", {"rate", "x"}, [](Int i, Param<Float> rate, ReadWrite<Vec2> x) {
        const Vec2 before = x[i];
        x[i] = Vec2(before.x() + rate * before.y(), before.y() - rate * sin(before.x()));
    });
const KernelDef squares =
    kernel("squares", {"x", "sum"},
           [](Int i, Read<Vec2> x, Reduce<Float> sum) { sum += dot(x[i], x[i]); });

struct Pendulums {
    Array start, x, sum, rate;
    std::vector<Launch> launches;
    std::unique_ptr<Rollout> rollout;

    Pendulums(const std::shared_ptr<Device>& device, std::int64_t steps)
        : start(Type::f64, {40, 2}),
          x(Type::f64, {40, 2}),
          sum(Type::f64, {1}),
          rate(array({0.1})) {
        for (std::int64_t i = 0; i < 40; ++i) start.set_value(i, 0, 0.05 * static_cast<double>(i));
        Rollout::Parts parts;
        parts.steps = steps;
        parts.prologue.add_copy(device, x, start);
        parts.step.add(Launch(device, advance, Precision::f64, 40, {rate, x}));
        parts.events[steps].add(Launch(device, squares, Precision::f64, 40, {x, sum}));
        for (const Program* program : {&parts.prologue, &parts.step, &parts.events[steps]})
            for (const Launch& launch : program->launches()) launches.push_back(launch);
        rollout = std::make_unique<Rollout>(device, std::move(parts));
    }
    // The loss, the gradients by rate and by start.
    Values run(double seed = 1) {
        rollout->forward(true);
        rollout->backward({{sum, seed}});
        Values all = {sum.value(0), rate.gradient().value(0)};
        const Values by_start = start.gradient().to_doubles();
        all.insert(all.end(), by_start.begin(), by_start.end());
        return all;
    }
};

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

TEST_CASE("CUDA device: a compiled run on the host sees what the device has") {
    NEEDS_SOFTWARE_CUDA();
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    Pendulums whole(std::make_shared<Device>(
                        DeviceOptions{.threads = 1, .whole_program = WholeProgramUse::always}),
                    7),
        expected(test::interpreter_device(), 7);
    const Array half = array({0.1});
    const Launch launch(fresh_device(), twice, Precision::f64, 1, {half, whole.rate});
    for (const double value : {0.1, 0.07}) {
        half.fill(value);
        launch.forward().run();
        expected.rate.fill(2 * value);
        CHECK(whole.run() == expected.run());
    }
    CHECK(whole.rollout->whole_program_report().find("one function") != std::string::npos);
}

TEST_CASE("CUDA device: runs of a roll-out become graphs with the same bits") {
    NEEDS_SOFTWARE_CUDA();
    for (const std::int64_t steps : {7, 3000}) {  // one graph, several
        CAPTURE(steps);
        Pendulums on_host(test::interpreter_device(), steps);
        Pendulums launches(fresh_device(WholeProgramUse::never), steps);
        Pendulums graphs(fresh_device(), steps);
        const Software software("");
        for (int k = 0; k < 5; ++k) {
            CAPTURE(k);
            const double rate = 0.1 + 0.01 * k, seed = k < 4 ? 1 : 2;
            for (Pendulums* p : {&on_host, &launches, &graphs}) p->rate.fill(rate);
            const Values expected = on_host.run(seed);
            CHECK(launches.run(seed) == expected);
            CHECK(software.count("graph_launches") == 0);
            CHECK(graphs.run(seed) == expected);
            const long long by_graph = software.count("graph_launches");
            CHECK((by_graph > 0) == (k > 0));
            software.set("");
        }
        const std::string report = graphs.rollout->whole_program_report();
        CAPTURE(report);
        CHECK((report.find("one graph of ") != std::string::npos) == (steps == 7));
        CHECK((report.find(" graphs, ") != std::string::npos) == (steps == 3000));
    }
}

TEST_CASE("CUDA device: launches with a stream of their own are no part of a graph") {
    NEEDS_SOFTWARE_CUDA();
    const auto device = fresh_device();
    Pendulums on_host(test::interpreter_device(), 7), p(device, 7);
    const Values expected = on_host.run();
    const Stream stream(device);
    for (int k = 0; k < 3; ++k) CHECK(p.run() == expected);  // beside a stream that has no work
    CHECK(p.rollout->whole_program_report().find("one graph of ") != std::string::npos);
    Pendulums moved(device, 7);
    for (Launch& launch : moved.launches) launch.move_to(stream);
    for (int k = 0; k < 3; ++k) CHECK(moved.run() == expected);
    CHECK(moved.rollout->whole_program_report().find(
              "launch by launch: a launch has a stream of its own") != std::string::npos);
}

TEST_CASE("CUDA device: a roll-out's launches are on its device") {
    NEEDS_SOFTWARE_CUDA();
    for (const bool back : {false, true}) {
        const auto device = fresh_device();
        Pendulums p(device, 7);
        p.launches[1].move_to(test::interpreter_device());
        for (int times = 0; times < 2; ++times)
            CHECK(test::message([&] {
                      p.rollout->forward(true);
                  }).find("in kernel 'advance': a launch works in the memory of another device") ==
                  0);
        if (!back) continue;
        p.launches[1].move_to(device);
        Pendulums on_host(test::interpreter_device(), 7);
        CHECK(p.run() == on_host.run());
    }
}

TEST_CASE("CUDA device: a steady iteration is a few calls") {
    NEEDS_SOFTWARE_CUDA();
    Pendulums p(fresh_device(), 20);
    for (int k = 0; k < 3; ++k) p.run();
    const Software software("");
    p.rate.fill(0.2);
    p.rollout->forward(true);
    p.rollout->backward({{p.sum, 1}});
    CHECK(software.count("graph_launches") == 2);
    CHECK(software.count("synchronisations") == 0);
    CHECK(software.count("allocations") == 0);
    CHECK(software.count("launches") <= 1);  // that fills the rate
    CHECK(software.count("copies_to_host") == 0);
}

TEST_CASE("CUDA device: plans of several segments run as graphs too, with the same bits") {
    NEEDS_SOFTWARE_CUDA();
    struct Plan {
        std::int64_t segment, checkpoints;
    };
    for (const Plan plan : {Plan{6, 5}, Plan{4, 2}, Plan{7, 1}}) {
        CAPTURE(plan.segment);
        CAPTURE(plan.checkpoints);
        Pendulums on_host(test::interpreter_device(), 23);
        Pendulums launches(fresh_device(WholeProgramUse::never), 23);
        Pendulums graphs(fresh_device(), 23);
        for (Pendulums* p : {&launches, &graphs})
            p->rollout->force_plan(plan.segment, plan.checkpoints);
        const Software software("");
        for (int k = 0; k < 6; ++k) {
            CAPTURE(k);
            const double rate = 0.1 + 0.01 * k, seed = k < 4 ? 1 : 2;
            for (Pendulums* p : {&on_host, &launches, &graphs}) p->rate.fill(rate);
            const Values expected = on_host.run(seed);
            CHECK(launches.run(seed) == expected);
            CHECK(software.count("graph_launches") == 0);
            CHECK(graphs.run(seed) == expected);
            CHECK((software.count("graph_launches") > 0) == (k > 0));
            // Once more over the same run: the checkpoints are not those of its end.
            for (Pendulums* p : {&on_host, &launches, &graphs}) {
                p->rollout->backward({{p->sum, 0.5}});
                CHECK(p->rate.gradient().value(0) == doctest::Approx(expected[1] * 0.5 / seed));
            }
            CHECK(graphs.start.gradient().to_doubles() == on_host.start.gradient().to_doubles());
            CHECK(graphs.x.to_doubles() == on_host.x.to_doubles());
            software.set("");
        }
        CHECK(graphs.rollout->whole_program_report().find("backward one graph of ") !=
              std::string::npos);
    }
}

TEST_CASE("CUDA device: a steady iteration of a plan with segments is a few calls") {
    NEEDS_SOFTWARE_CUDA();
    Pendulums p(fresh_device(), 20);
    p.rollout->force_plan(5, 2);
    for (int k = 0; k < 3; ++k) p.run();
    const Software software("");
    p.rate.fill(0.2);
    p.rollout->forward(true);
    p.rollout->backward({{p.sum, 1}});
    CHECK(software.count("graph_launches") == 2);
    CHECK(software.count("synchronisations") == 0);
    CHECK(software.count("allocations") == 0);
    CHECK(software.count("launches") <= 1);  // that fills the rate
    CHECK(software.count("copies_to_host") == 0);
}

TEST_CASE("CUDA device: checkpoints in files go launch by launch, with the same bits") {
    NEEDS_SOFTWARE_CUDA();
    const test::TemporaryFolder folder;
    Pendulums on_host(test::interpreter_device(), 23), p(fresh_device(), 23);
    p.rollout->limit_memory({.spill = folder.path()});
    p.rollout->force_plan(5, 2);
    for (int k = 0; k < 3; ++k) CHECK(p.run() == on_host.run());
    CHECK(p.rollout->whole_program_report().empty());  // not even tried
}

TEST_CASE("CUDA device: an array that was worked with elsewhere comes back to another place") {
    NEEDS_SOFTWARE_CUDA();
    Pendulums on_host(test::interpreter_device(), 7), p(fresh_device(), 7);
    for (int k = 0; k < 3; ++k) CHECK(p.run() == on_host.run());
    const auto elsewhere = fresh_device();
    const Array half = array({0.06});
    Launch(elsewhere, twice, Precision::f64, 1, {half, p.rate}).forward().run();
    on_host.rate.fill(0.12);
    for (int k = 0; k < 2; ++k) CHECK(p.run() == on_host.run());
}

TEST_CASE("CUDA device: a steady iteration of an optimisation is graphs and one small copy") {
    NEEDS_SOFTWARE_CUDA();
    for (const char* const name : {"spring_cage", "wave_image"}) {
        CAPTURE(name);
        Scene scene = Scene::load(std::string(HINDCAST_SOURCE_DIR) + "/scenes/" + name + ".json");
        scene.set("time.steps",
                  "70");  // long enough that numbers that are not finite are looked for
        SimulationOptions options;
        options.device = fresh_device();
        Simulation simulation(scene, test::all_modules(), options);
        Optimization optimization(simulation, 6);
        optimization.set_row_limit(1000);
        const Software software("");
        int rows = 0;
        optimization.run([&](const Optimization::Row&) {
            // Between this row and the one before: an update, a roll-out and its adjoints.
            if (++rows >= 5) {
                CHECK(software.count("graph_launches") == 3);
                CHECK(software.count("launches") == 0);
                CHECK(software.count("allocations") == 0);
                CHECK(software.count("copies_to_device") == 0);
                CHECK(software.count("copies_to_host") == 1);
                CHECK(software.count("copied_to_host_bytes") < 4096);
                CHECK(software.count("synchronisations") == 1);
            }
            software.set("");
            return true;
        });
        CHECK(rows == 7);
    }
}

TEST_CASE("CUDA device: a number that is not finite stops a graph's run where it came") {
    NEEDS_SOFTWARE_CUDA();
    Pendulums p(fresh_device(), 40);
    p.rollout->stop_if_not_finite({p.x}, 4);
    for (int k = 0; k < 3; ++k) CHECK(p.rollout->forward(true) == 40);
    p.rate.fill(1e200);
    const std::int64_t stopped = p.rollout->forward(true);
    CHECK(stopped % 4 == 0);
    CHECK(stopped < 40);
    REQUIRE(p.rollout->divergence().has_value());
    CHECK(p.rollout->divergence()->array.same_memory(p.x));
    p.rate.fill(0.1);
    CHECK(p.rollout->forward(true) == 40);
    CHECK(!p.rollout->divergence().has_value());
}

TEST_CASE(
    "CUDA device: a fault is raised at the next synchronisation, of the launch that was first") {
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
                CHECK(what.find("launched since the last synchronisation: twice_") !=
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

TEST_CASE("CUDA device: the block size of a long kernel is measured and remembered") {
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

TEST_CASE("CUDA device: gradients take a part of its memory, as planned") {
    HINDCAST_NEEDS_PROGRAM();
    NEEDS_SOFTWARE_CUDA();
    const std::string cage = std::string(HINDCAST_SOURCE_DIR) + "/scenes/spring_cage.json";
    const test::TemporaryFolder folder;
    std::vector<std::string> losses;
    for (const char* pretends : {"memory=8000000000", "memory=2000000"}) {
        const test::Environment settings("HINDCAST_SOFTWARE_CUDA", pretends);
        const test::Finished done =
            test::run_program({"optimize", cage, "--steps", "4000", "--iterations", "2", "--device",
                               "cuda", "--output", "o"},
                              folder.path());
        CAPTURE(done.out);
        CAPTURE(done.err);
        CHECK(done.status == 0);
        const bool all = done.out.find("store all") != std::string::npos;
        CHECK(all == losses.empty());
        const std::size_t at = done.out.find("best loss");
        REQUIRE(at != std::string::npos);
        losses.push_back(done.out.substr(at, 40));
    }
    CHECK(losses[0] == losses[1]);
}

TEST_CASE("CUDA device: the program's --device") {
    HINDCAST_NEEDS_PROGRAM();
    NEEDS_SOFTWARE_CUDA();
    const std::string cage = std::string(HINDCAST_SOURCE_DIR) + "/scenes/spring_cage.json";
    const test::TemporaryFolder folder;
    const auto run = [&](const char* device, const char* driver, const char* pretends) {
        const test::Environment used("HINDCAST_CUDA_DRIVER", driver),
            settings("HINDCAST_SOFTWARE_CUDA", pretends);
        const test::Finished done =
            test::run_program({"run", cage, "--steps", "2", "--device", device}, folder.path());
        return std::to_string(done.status) + done.out + done.err;
    };
    const auto has = [](const std::string& text, const char* part) {
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    };
    const char* const software = HINDCAST_SOFTWARE_CUDA_DRIVER;
    has(run("cuda:1", software, "devices=2"), "cuda:1, software device 1");
    has(run("auto", software, ""), "cuda:0, software device 0");
    has(run("auto", "/no/such/driver", ""), "cpu, ");
    has(run("cuda:1", software, ""), "there is no CUDA device 1; there is only device 0");
    has(run("cuda", "/no/such/driver", ""),
        "CUDA cannot be used: '/no/such/driver' cannot be opened");
    has(run("cuda", software, "version=12000"), "13.0 or newer is needed");
    has(run("cuda", software, "out_of_memory=3"), "out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
    has(run("cuda:x", software, ""), "there is no device 'cuda:x'");
    has(run("cuda:0,0", software, "devices=2"), "there is no device 'cuda:0,0'");
    has(run("cuda:0,1", software, "devices=2"), "several devices are given");
}

TEST_CASE("CUDA device: an ensemble is spread over devices, with the bits of one") {
    HINDCAST_NEEDS_PROGRAM();
    NEEDS_SOFTWARE_CUDA();
    const std::string cage = std::string(HINDCAST_SOURCE_DIR) + "/scenes/spring_cage.json";
    const test::TemporaryFolder folder;
    const test::Environment settings("HINDCAST_SOFTWARE_CUDA", "devices=3");
    const auto run = [&](std::vector<std::string> arguments) {
        const test::Finished done = test::run_program(arguments, folder.path());
        CAPTURE(done.out);
        CAPTURE(done.err);
        CHECK(done.status == 0);
        return done.out;
    };
    std::vector<std::string> tables;
    for (const char* device : {"interpreter", "cuda:0,2", "cuda:all"}) {
        CAPTURE(device);
        const std::string out =
            run({"batch", cage, "--steps", "4", "--vary", "cage.stiffness=50:200:7", "--gradient",
                 "--device", device, "--output", "o"});
        CHECK((out.find("spread over 2 devices") != std::string::npos) ==
              (std::string(device) == "cuda:0,2"));
        CHECK((out.find("spread over 3 devices") != std::string::npos) ==
              (std::string(device) == "cuda:all"));
        tables.push_back(read_file(folder.path() / "o" / "batch.csv", 1 << 20));
    }
    CHECK(tables[1] == tables[0]);
    CHECK(tables[2] == tables[0]);
    tables.clear();
    const std::vector<std::string> search = {"optimize", cage, "--steps",  "4", "--iterations", "2",
                                             "--starts", "5",  "--output", "p"};
    for (const char* device : {"interpreter", "cuda:0,1"}) {
        std::vector<std::string> arguments = search;
        arguments.insert(arguments.end(), {"--device", device});
        run(arguments);
        tables.push_back(read_file(folder.path() / "p" / "starts.csv", 1 << 20) +
                         read_file(folder.path() / "p" / "history.csv", 1 << 20));
    }
    CHECK(tables[1] == tables[0]);
}

TEST_CASE("CUDA device: --nondeterministic stands in the results") {
    HINDCAST_NEEDS_PROGRAM();
    NEEDS_SOFTWARE_CUDA();
    const std::string scenes = std::string(HINDCAST_SOURCE_DIR) + "/scenes/";
    const test::TemporaryFolder folder;
    for (const char* device : {"cuda", "interpreter"}) {
        CAPTURE(device);
        const bool any = std::string(device) == "cuda";
        const test::Finished done =
            test::run_program({"run", scenes + "mpm_launch.json", "--steps", "2", "--device",
                               device, "--nondeterministic", "--output", "o"},
                              folder.path());
        CAPTURE(done.out);
        CAPTURE(done.err);
        CHECK(done.status == 0);
        CHECK((done.out.find("sums        in any order (--nondeterministic)") !=
               std::string::npos) == any);
        CHECK((done.out.find("sums        in order: --nondeterministic changes nothing") !=
               std::string::npos) == !any);
        const std::string summary = read_file(folder.path() / "o" / "summary.json", 1 << 20);
        CHECK((summary.find("\"deterministic\": false") != std::string::npos) == any);
        CHECK((summary.find("\"deterministic\": true") != std::string::npos) == !any);
    }
    const test::Finished check =
        test::run_program({"check", scenes + "mpm_launch.json", "--steps", "3", "--entries", "2",
                           "--directions", "1", "--device", "cuda", "--nondeterministic"},
                          folder.path());
    CAPTURE(check.out);
    CAPTURE(check.err);
    CHECK(check.status == 0);
    CHECK(check.out.find("all verdicts are ok") != std::string::npos);
}
