// Programs of one block, on the driver in software: the bits of graphs, a barrier wherever one is
// needed, and the faster of the two by measurement.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "engine/backend/binding.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/base/error.hpp"
#include "engine/runtime/program/sequence.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/pendulums.hpp"
#include "tests/support/software_cuda.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using backend::SingleBlockUse;
using ir::Precision;
using ir::Type;
using test::array;
using test::fresh_device;
using test::Pendulums;
using test::Software;
using Values = std::vector<double>;
namespace cuda = backend::cuda;

namespace {

std::shared_ptr<Device> block_device(SingleBlockUse use = SingleBlockUse::always) {
    return fresh_device(WholeProgramUse::automatic, use);
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// x[i] = i + 1, and y = x backwards: every item of the second reads what another item wrote.
const cuda::Function count_up{
    "count_up", "count_up_item",
    "static __device__ inline void count_up_item(int item, int* x, int items) {\n"
    "    x[item] = item + 1;\n}\n"};
const cuda::Function turn{
    "turn", "turn_item",
    "static __device__ inline void turn_item(int item, const int* x, int* y, int items) {\n"
    "    y[item] = x[items - 1 - item];\n}\n"};
constexpr int numbers = 100;

struct Turned {
    std::shared_ptr<Device> device = fresh_device();
    std::shared_ptr<cuda::Context> context = device->cuda();
    cuda::Block x{context, numbers * 4}, y{context, numbers * 4};
    cuda::Pieces pieces;

    Turned() {
        const int items = numbers;
        const cuda::Use write_x{x.address(), x.address() + numbers * 4, true},
            uses[] = {{x.address(), x.address() + numbers * 4, false},
                      {y.address(), y.address() + numbers * 4, true}};
        const cuda::Address to = x.address(), back = y.address();
        cuda::Arguments first(to, items), second(to, back, items);
        pieces.add(count_up, numbers, first.view(), {&write_x, 1});
        pieces.add(turn, numbers, second.view(), uses);
    }
    std::vector<int> run(const std::vector<char>& waits) {
        context->clear(x.address(), numbers * 4);
        context->clear(y.address(), numbers * 4);
        const cuda::BlockProgram program(*context, pieces, waits);
        program.put(*context, context->stream());
        std::vector<int> result(numbers);
        context->download(result.data(), y.address(), numbers * 4);
        return result;
    }
};

}  // namespace

TEST_CASE("CUDA block: a barrier that is missing between two dependent pieces is found") {
    NEEDS_SOFTWARE_CUDA();
    std::vector<int> expected(numbers);
    std::iota(expected.rbegin(), expected.rend(), 1);
    Turned turned;
    CHECK(cuda::barriers(turned.pieces) == std::vector<char>{1, 0});
    for (int seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        const Software software("seed=" + std::to_string(seed));
        CHECK(turned.run(cuda::barriers(turned.pieces)) == expected);
        CHECK(turned.run({0, 0}) != expected);
    }
}

TEST_CASE("CUDA block: barriers stand before what depends on work since the last one") {
    struct Step {
        std::vector<cuda::Use> uses;
        bool waited_for;  // by the next one
    };
    const auto reads = [](cuda::Address begin, cuda::Address end) {
        return cuda::Use{begin, end, false};
    };
    const auto writes = [](cuda::Address begin, cuda::Address end) {
        return cuda::Use{begin, end, true};
    };
    const std::vector<Step> steps = {
        {{reads(0, 8), writes(8, 16)}, false},
        {{reads(0, 8), writes(16, 24)}, true},  // reading the same is no dependence
        {{reads(8, 12)}, true},                 // what the first one writes
        {{writes(8, 16)}, true},                // what the one before reads
        {{writes(12, 20)}, true},               // what the one before writes
        {{}, true},                             // nothing is known of it
        {{reads(100, 104)}, false},
        {{reads(104, 108), writes(108, 112)}, false},
        {{writes(112, 116)}, true},
        {{reads(100, 113)}, false},
    };
    cuda::Pieces pieces;
    std::vector<char> expected;
    for (const Step& step : steps) {
        pieces.add(count_up, 1, {}, step.uses);
        expected.push_back(step.waited_for ? 1 : 0);
    }
    CHECK(cuda::barriers(pieces) == expected);
    Array strided(Type::f32, {5, 3});
    backend::Binding b{nullptr, 5, 3, 1};
    CHECK(cuda::use_of(b, 3, 4, true).end == 60);
    b.element_stride = -3;
    CHECK(cuda::use_of(b, 3, 4, true).end == ~cuda::Address{0});
}

TEST_CASE("CUDA block: runs of a roll-out have the bits of launches, under every plan") {
    NEEDS_SOFTWARE_CUDA();
    struct Plan {
        std::int64_t steps, segment, checkpoints;
    };
    for (const Plan plan : {Plan{7, 0, 0}, Plan{3000, 0, 0}, Plan{23, 4, 2}, Plan{23, 7, 1}}) {
        CAPTURE(plan.steps);
        CAPTURE(plan.segment);
        Pendulums on_host(test::interpreter_device(), plan.steps);
        Pendulums blocks(block_device(), plan.steps);
        if (plan.segment > 0) blocks.rollout->force_plan(plan.segment, plan.checkpoints);
        for (int k = 0; k < 4; ++k) {
            CAPTURE(k);
            const Software software("seed=" + std::to_string(k + 1));
            const double rate = 0.1 + 0.01 * k, seed = k < 3 ? 1 : 2;
            for (Pendulums* p : {&on_host, &blocks}) p->rate.fill(rate);
            CHECK(blocks.run(seed) == on_host.run(seed));
            CHECK(software.count("graph_launches") == 0);
        }
        const std::string report = blocks.rollout->whole_program_report();
        CAPTURE(report);
        if (plan.steps == 3000)
            CHECK(has(report, " of them as one block"));
        else
            CHECK(has(report, "backward one block of "));
        // A steady iteration: the rate, forward, backward.
        blocks.rate.fill(0.2);
        const Software software("");
        blocks.rollout->forward(true);
        blocks.rollout->backward({{blocks.sum, 2}});
        CHECK(software.count("allocations") == 0);
        CHECK(software.count("synchronisations") == 0);
        if (plan.steps < 3000) CHECK(software.count("launches") <= 3);
    }
}

TEST_CASE("CUDA block: optimisations of scenes have the bits of the interpreter") {
    NEEDS_SOFTWARE_CUDA();
    struct Row {
        double loss, norm;
        bool operator==(const Row&) const = default;
    };
    const auto rows = [](const Scene& scene, Precision precision, std::shared_ptr<Device> device,
                         bool block) {
        SimulationOptions options;
        options.device = std::move(device);
        options.precision = precision;
        Simulation simulation(scene, test::all_modules(), options);
        Optimization optimization(simulation, 4);
        std::vector<Row> list;
        optimization.run([&](const Optimization::Row& row) {
            list.push_back({row.loss, row.gradient_norm});
            return true;
        });
        if (block)
            CHECK(has(simulation.rollout().whole_program_report(), "backward one block of "));
        return list;
    };
    const auto reference = test::has_cpu_device() ? test::cpu_device() : test::interpreter_device();
    // Springs; contact; sums at dynamic indices, in fixed point; a stencil.
    for (const auto& [name, steps] : {std::pair{"spring_cage", "30"},
                                      {"mass_spring_simple", "40"},
                                      {"mpm_launch", "2"},
                                      {"wave_image", "4"}})
        for (const Precision precision : {Precision::f32, Precision::f64}) {
            CAPTURE(name);
            CAPTURE(precision == Precision::f32);
            Scene scene =
                Scene::load(std::string(hindcast::test::source_dir) + "/scenes/" + name + ".json");
            scene.set("time.steps", steps);
            CHECK(rows(scene, precision, block_device(), true) ==
                  rows(scene, precision, reference, false));
        }
}

TEST_CASE("CUDA block: a fault is raised with the launch's name, the item and the index") {
    NEEDS_SOFTWARE_CUDA();
    const KernelDef push =
        kernel("push", {"x", "grid"},
               [](Int i, Read<Float> x, Accumulate<Float> grid) { grid[Int(x[i])] += 1.0; });
    const auto device = block_device();
    const Array x = array({0, 2, 3}), grid(Type::f64, {10});
    Sequence sequence(device);
    sequence.add_clear(grid);
    sequence.add(Launch(device, push, Precision::f64, 3, {x, grid}, "a push"));
    for (int k = 0; k < 3; ++k) sequence.run();
    CHECK(has(sequence.report(), "one block of 32 threads"));
    CHECK(grid.to_doubles() == Values{1, 0, 1, 1, 0, 0, 0, 0, 0, 0});
    x.assign(Values{1, 12, 15});
    sequence.run();
    const std::string what = test::message([&] { grid.value(0); });
    CAPTURE(what);
    CHECK(has(what, "item 1"));
    CHECK(has(what, "index 12 is out of range: 'grid' has 10 elements"));
    CHECK(has(what, "in the launch 'a push'"));
    x.assign(Values{1, 1, 1});
    sequence.run();
    CHECK(grid.value(1) == 3);
}

TEST_CASE("CUDA block: the faster of graph and program is measured and remembered") {
    NEEDS_SOFTWARE_CUDA();
    const test::TemporaryFolder cache;
    const test::Environment where("HINDCAST_CACHE", cache.path().string());
    const Values expected = Pendulums(test::interpreter_device(), 9).run();
    // The program has 192 threads: the most that a piece has are the words of the state, 2 rows of
    // 40 numbers that begin on whole cache lines.
    const auto report = [&](const char* settings, int runs, SingleBlockUse use) {
        const Software software(settings);
        Pendulums p(block_device(use), 9);
        for (int k = 0; k < runs; ++k) CHECK(p.run() == expected);
        CHECK((software.count("graph_launches") == 0) == (use == SingleBlockUse::always));
        return p.rollout->whole_program_report();
    };
    // Of its launches each takes 100 or 200 us, the program 200, or 50 ms where it is slow.
    for (const bool slow : {true, false}) {
        CAPTURE(slow);
        const char* const settings = slow ? "likes=64:100,slow=192:50000" : "likes=64:100";
        const std::string early = report(settings, 6, SingleBlockUse::automatic);
        CAPTURE(early);
        CHECK(has(early, "backward one graph of "));
        CHECK(!has(early, " us against "));
        const std::string measured = report(settings, 90, SingleBlockUse::automatic);
        CAPTURE(measured);
        CHECK(has(measured, slow ? "backward one graph of " : "backward one block of 192 threads"));
        CHECK(has(measured, slow ? "us against 5e+04 us as one block" : "(200 us against "));
        // Another program of the same kind does as was found, whatever it would find itself.
        const Software software("");
        Pendulums p(block_device(SingleBlockUse::automatic), 9);
        for (int k = 0; k < 3; ++k) CHECK(p.run() == expected);
        CHECK(has(p.rollout->whole_program_report(),
                  slow ? "backward one graph of " : "backward one block of "));
        CHECK(has(report("likes=64:100", 90, SingleBlockUse::never), "backward one graph of "));
        CHECK(has(report(settings, 3, SingleBlockUse::always), "backward one block of "));
        for (const auto& entry : std::filesystem::directory_iterator(cache.path()))
            std::filesystem::remove_all(entry.path());  // forget
    }
}

TEST_CASE("CUDA block: work that is large stays a graph and says why") {
    NEEDS_SOFTWARE_CUDA();
    const KernelDef grow =
        kernel("grow", {"x"}, [](Int i, ReadWrite<Float> x) { x[i] = x[i] + 1.0; });
    const test::Environment uncached("HINDCAST_CACHE", "");
    const Software software("likes=64:1000");  // a graph of ten launches takes 20 ms
    const auto device = block_device(SingleBlockUse::automatic);
    for (const std::int64_t n : {4096, 4097}) {
        const Array x(Type::f64, {n});
        const Launch launch(device, grow, Precision::f64, n, {x});
        Sequence sequence(device);
        for (int k = 0; k < 10; ++k) sequence.add(launch);
        for (int k = 1; k <= 20; ++k) {
            sequence.run();
            CHECK(x.value(n - 1) == 10 * k);
        }
        const std::string report = sequence.report();
        CAPTURE(report);
        CHECK(has(report, n == 4096 ? "one block of 256 threads, 10 pieces" : "one graph of 10"));
        CHECK(has(report, "has 4097 items, the limit is 4096") == (n == 4097));
    }
}
