// Runs of a roll-out and iterations of an optimization as graphs, on the driver in software: the
// bits of launches one by one, and few calls.
#include <doctest/doctest.h>

#include <string>

#include "engine/base/error.hpp"
#include "engine/runtime/rollout/rollout.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/pendulums.hpp"
#include "tests/support/software_cuda.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using ir::Precision;
using test::array;
using test::fresh_device;
using test::Pendulums;
using test::Software;
using Values = std::vector<double>;

namespace {

const KernelDef twice =
    kernel("twice", {"x", "y"}, [](Int i, Read<Float> x, Write<Float> y) { y[i] = x[i] * 2.0; });

}  // namespace

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

TEST_CASE("CUDA device: a steady iteration is a few calls, with segments too") {
    NEEDS_SOFTWARE_CUDA();
    for (const bool segments : {false, true}) {
        CAPTURE(segments);
        Pendulums p(fresh_device(), 20);
        if (segments) p.rollout->force_plan(5, 2);
        for (int k = 0; k < 3; ++k) p.run();
        const Software software("");
        p.rate.fill(0.2);
        p.rollout->forward(true);
        p.rollout->backward({{p.sum, 1}});
        CHECK(software.count("graph_launches") == 2);
        CHECK(software.count("synchronizations") == 0);
        CHECK(software.count("allocations") == 0);
        CHECK(software.count("launches") <= 1);  // that fills the rate
        CHECK(software.count("copies_to_host") == 0);
    }
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

TEST_CASE("CUDA device: a steady iteration of an optimization is graphs and one small copy") {
    NEEDS_SOFTWARE_CUDA();
    for (const char* const name : {"spring_cage", "wave_image"}) {
        CAPTURE(name);
        Scene scene =
            Scene::load(std::string(hindcast::test::source_dir) + "/scenes/" + name + ".json");
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
                CHECK(software.count("synchronizations") == 1);
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
