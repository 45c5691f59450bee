// The CUDA text of kernels, compiled by the host's compiler, has the bits of the interpreter:
// random kernels with their adjoints and tangents, and every launch of the bundled scenes in every
// direction. (What NVRTC makes of it: test_cuda_library.cpp.)
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>

#include "engine/ad/differentiate.hpp"
#include "engine/backend/cuda/emit.hpp"
#include "engine/backend/cuda/nvrtc.hpp"
#include "engine/backend/interpreter/interpreter.hpp"
#include "engine/backend/jit/code_cache.hpp"
#include "engine/base/error.hpp"
#include "engine/lang/kernel.hpp"
#include "engine/runtime/launch/launch_state.hpp"
#include "tests/parity/cpu_harness.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/batch_places.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/kernels/cuda_kernel.hpp"
#include "tests/support/kernels/random_kernel.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/program.hpp"
#include "tests/support/scenes.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/system_nvrtc.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace hindcast::lang;

namespace {

// A kernel with its derivatives.
std::vector<ir::Kernel> family(const ir::Kernel& kernel) {
    return {kernel, ad::adjoint(kernel), ad::tangent(kernel)};
}

// Members of a batch side by side: each has the source's data, of which the real ones differ.
test::Data for_members(const ir::Kernel& kernel, const test::Data& one, int members) {
    test::Data all;
    const auto repeat = [&](const auto& values, bool shared) {
        std::decay_t<decltype(values)> of;
        for (const auto& value : values)
            for (int m = 0; m < (shared ? 1 : members); ++m) of.push_back(value);
        return of;
    };
    for (const ir::Parameter& p : kernel.parameters) {
        if (const auto found = one.whole.find(p.name); found != one.whole.end())
            all.whole[p.name] = repeat(found->second, test::is_shared(p));
        if (const auto found = one.real.find(p.name); found != one.real.end()) {
            std::vector<double> values = repeat(found->second, false);
            for (std::size_t k = 0; k < values.size(); ++k)
                values[k] *= 1 + 0.125 * static_cast<double>(k % static_cast<std::size_t>(members));
            all.real[p.name] = values;
        }
    }
    return all;
}

// Compiles all executables together, for C-contiguous arrays.
template <class Run>
void prepare(const std::vector<Run>& runs) {
    for (const Run& run : runs) {
        std::vector<backend::Binding> shapes;
        for (const ir::Parameter& p : run.executable->kernel().parameters)
            shapes.push_back({nullptr, 0, p.components, 1});
        run.executable->prepare(shapes.data(), 1);
    }
}

// All NaNs are one.
bool same_numbers(const std::vector<Array>& arrays, const std::vector<std::vector<double>>& as) {
    for (std::size_t k = 0; k < arrays.size(); ++k)
        if (arrays[k] && !test::same_bits(arrays[k].to_doubles(), as[k])) return false;
    return true;
}
std::vector<std::vector<double>> numbers(const std::vector<Array>& arrays) {
    std::vector<std::vector<double>> all;
    for (const Array& a : arrays) all.push_back(a ? a.to_doubles() : std::vector<double>());
    return all;
}
std::vector<std::vector<std::byte>> contents(const std::vector<Array>& arrays) {
    std::vector<std::vector<std::byte>> all;
    for (const Array& a : arrays) {
        const auto* data = static_cast<const std::byte*>(a ? a.data() : nullptr);
        all.emplace_back(data, data + (a ? a.bytes() : 0));
    }
    return all;
}
void restore(const std::vector<Array>& arrays, const std::vector<std::vector<std::byte>>& all) {
    for (std::size_t k = 0; k < arrays.size(); ++k)
        if (arrays[k]) std::memcpy(arrays[k].data(), all[k].data(), all[k].size());
}

}  // namespace

TEST_CASE("CUDA: random kernels and their derivatives have the interpreter's bits") {
    struct Run {
        std::shared_ptr<backend::Executable> executable;
        test::Data data;
        std::int64_t items;
        std::uint64_t seed;
    };
    if (!test::has_cuda_device()) HINDCAST_SKIP("there is no CUDA device");
    std::vector<Run> runs;
    int ensembles = 0;
    const std::uint64_t count = test::full() ? 600 : 30;
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
        const ir::Precision precision = seed % 2 == 0 ? ir::Precision::f32 : ir::Precision::f64;
        const test::Case c = test::random_case(
            seed, precision, {.elementary = seed % 4 == 0, .singular = seed % 3 == 0});
        for (const ir::Kernel& kernel : family(c.kernel)) {
            test::Data data = test::random_inputs(c, seed);
            std::mt19937_64 random(seed);
            test::add_derivative_inputs(kernel, data, random);
            const auto fixed = backend::fixed_point_parameters(kernel);
            const bool any_fixed =
                std::any_of(fixed.begin(), fixed.end(), [](const auto& f) { return f.used; });
            if (seed % 5 == 0 && !any_fixed) {  // as members of an ensemble, too
                const ir::Kernel together = ir::batch(kernel, c.items, 3, test::places(kernel));
                runs.push_back(
                    {test::cuda_kernel(together), for_members(kernel, data, 3), 3, seed});
                ++ensembles;
            }
            runs.push_back({test::cuda_kernel(kernel), std::move(data), c.items, seed});
        }
    }
    CHECK(runs.size() > count);
    CHECK(ensembles > 5);
    prepare(runs);
    for (Run& run : runs) {
        const ir::Kernel& kernel = run.executable->kernel();
        CAPTURE(run.seed);
        CAPTURE(kernel.name);
        test::Data expected = run.data, found = run.data;
        test::run(*backend::interpret(kernel), expected, run.items);
        test::run(*run.executable, found, run.items);
        for (const auto& [name, values] : expected.real) {
            CAPTURE(name);
            CHECK(test::same_bits(values, found.real.at(name)));
        }
        CHECK(expected.whole == found.whole);
    }
}

TEST_CASE("CUDA: every launch of the scenes has the interpreter's bits") {
    if (!test::has_cuda_device()) HINDCAST_SKIP("there is no CUDA device");
    std::size_t compared = 0;
    std::vector<ir::Precision> precisions = {ir::Precision::f32};
    if (test::full()) precisions.push_back(ir::Precision::f64);
    for (const ir::Precision precision : precisions) {
        std::vector<std::unique_ptr<Simulation>> simulations;
        std::vector<std::pair<std::shared_ptr<backend::Executable>, Launch::Replay>> replays;
        std::set<std::pair<std::string, std::int64_t>> seen;
        for (const auto& file : test::bundled_scenes()) {
            SimulationOptions options;
            options.device = test::interpreter_device();
            options.precision = precision;
            simulations.push_back(
                std::make_unique<Simulation>(Scene::load(file), test::all_modules(), options));
            for (const Launch& launch : simulations.back()->model().prologue().launches())
                launch.forward().run();
            for (const Launch::Replay& replay : test::replays_of(*simulations.back())) {
                // The interpreter is slow, under a sanitizer very.
                if (replay.launch().items() > (test::has_cpu_device() ? 20000 : 100)) continue;
                // Launches of one kernel over as many items are one case.
                const backend::Plan plan = backend::cuda::plan_for(replay.kernel());
                if (!seen.emplace(backend::cuda::emit(plan, "kernel").text, replay.launch().items())
                         .second)
                    continue;
                replays.emplace_back(test::cuda_kernel(replay.kernel()), replay);
                replays.back().first->prepare(replay.bound().bindings.data(),
                                              replay.launch().items());
            }
        }
        std::mt19937_64 random(3);
        std::uniform_real_distribution<double> uniform(-1, 1);
        for (const auto& [executable, replay] : replays) {
            CAPTURE(replay.kernel().name);
            CAPTURE(replay.launch().description());
            const std::vector<Array>& arrays = replay.arrays();
            const auto before = contents(arrays);
            for (std::size_t p = 0; p < arrays.size(); ++p) {  // derivatives, which are zero
                if (!arrays[p] || !ir::is_real(arrays[p].type()) ||
                    replay.launch().kernel().find_parameter(replay.kernel().parameters[p].name) >=
                        0)
                    continue;
                std::vector<double> values(static_cast<std::size_t>(arrays[p].size()));
                for (double& v : values) v = uniform(random);
                arrays[p].assign(values);
            }
            const auto start = contents(arrays);
            backend::interpret(replay.kernel())
                ->run(replay.bound().bindings.data(), replay.launch().items(), {});
            const auto expected = numbers(arrays);
            restore(arrays, start);
            executable->run(replay.bound().bindings.data(), replay.launch().items(), {});
            CHECK(same_numbers(arrays, expected));
            restore(arrays, before);
            ++compared;
        }
    }
    MESSAGE("launches compared: " << compared);
    CHECK(compared > (test::has_cpu_device() ? 150u : 50u) * precisions.size());
}

TEST_CASE("CUDA text: code is cached by its text, architecture by architecture") {
    if (!test::system_nvrtc().info().available) HINDCAST_SKIP(test::system_nvrtc().info().problem);
    const test::Cache cache;
    const std::string text = "extern \"C\" __global__ void twice(float* x) { x[0] = x[0] * 2; }\n";
    const backend::Cubin first = test::system_nvrtc().compile(text, 90);
    REQUIRE(cache.entries().size() == 1);
    const auto written = std::filesystem::last_write_time(cache.entries()[0]);
    const backend::Cubin again = test::system_nvrtc().compile(text, 90);
    CHECK(std::filesystem::last_write_time(cache.entries()[0]) == written);
    CHECK(again.code == first.code);
    CHECK(again.functions.size() == 1);
    CHECK(again.functions.at("twice").registers == first.functions.at("twice").registers);
    CHECK(test::system_nvrtc().compile(text, 75).code != first.code);
    CHECK(cache.entries().size() == 2);
    // What is no cubin is made again.
    for (const std::string_view bad : {"", "7", "9999\nabc", "3\nabcdef"}) {
        for (const auto& file : cache.entries()) {
            const std::string key = file.stem().string();
            backend::write_cached({std::stoull(key.substr(0, 16), nullptr, 16),
                                   std::stoull(key.substr(16), nullptr, 16)},
                                  bad);
        }
        CHECK(test::system_nvrtc().compile(text, 90).code == first.code);
    }
}

TEST_CASE("CUDA text: a refusal by NVRTC is an error with its words and the place") {
    if (!test::system_nvrtc().info().available) HINDCAST_SKIP(test::system_nvrtc().info().problem);
    try {
        test::system_nvrtc().compile("#line 7 \"springs.cpp\"\nnonsense;\n", 90);
        FAIL("no error");
    } catch (const Error& e) {
        CHECK(std::string(e.what()).find("springs.cpp(7)") != std::string::npos);
    }
}

TEST_CASE("CUDA text: what it looks like") {
    const KernelDef pull =
        kernel("pull", {"ends", "stiffness", "x", "force"},
               [](Int s, Read<Int2> ends, Param<Float> stiffness, Read<Vec2> x, Sum<Vec2> force) {
                   const Int2 e = ends[s];
                   const Vec2 d = x[e.y()] - x[e.x()];
                   const Float length = norm(d).name("length");
                   force[e.x()] += d * (stiffness * length);
               });
    const auto text =
        backend::cuda::emit(backend::cuda::plan_for(pull.trace(ir::Precision::f32)), "pull").text;
    CAPTURE(text);
    for (const char* part : {"extern \"C\" __global__ void pull(", "const int* __restrict__ ends_0",
                             "const float* __restrict__ x_2", "const float length_", "fma(",
                             "sqrt(", "terms[(long long)0 * row_length + item] = term_", "#line "})
        CHECK(text.find(part) != std::string::npos);
    CHECK(text.find("force_3") == std::string::npos);  // the gather phase writes it
}

TEST_CASE("CUDA text: info --show cuda prints it, or why there is none") {
    HINDCAST_NEEDS_PROGRAM();
    const std::string scenes = std::string(hindcast::test::source_dir) + "/scenes/";
    const test::Finished springs =
        test::run_program({"info", "--scene", scenes + "spring_cage.json", "--kernel",
                           "spring_force_damped", "--show", "cuda"});
    CHECK(springs.status == 0);
    CHECK(springs.out.find("__global__ void spring_force_damped_a1(") != std::string::npos);
    const test::Finished grid =
        test::run_program({"info", "--scene", scenes + "mpm_launch.json", "--kernel",
                           "particle_to_grid", "--show", "cuda"});
    CHECK(grid.status == 0);
    CHECK(grid.out.find("add_fixed(grid_") != std::string::npos);
}

// Terms of very different sizes, none of which is lost in fixed point, at indices out of data.
TEST_CASE("CUDA: sums in fixed point, f32 and f64") {
    const KernelDef scatter =
        kernel("scatter", {"x", "to", "grid", "sum", "looped"},
               [](Int i, Read<Vec2> x, Read<Int> to, Accumulate<Vec2> grid, Sum<Float> sum,
                  Accumulate<Float> looped) {
                   const Int t = to[i];
                   grid[t] += x[i];
                   grid[t + 1] -= x[i] * 0.5;
                   sum[Int(abs(x[i].y())) % 7] += x[i].x();
                   for_(t % 4, 3, [&](Int k) { looped[t + k] += x[i].x() * x[i].y(); });
               });
    if (!test::has_cuda_device()) HINDCAST_SKIP("there is no CUDA device");
    struct Run {
        std::shared_ptr<backend::Executable> executable;
        double size;
        bool singular;
    };
    std::vector<Run> runs;
    for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64}) {
        const ir::Kernel forward = scatter.trace(precision);
        const double smallest = precision == ir::Precision::f32 ? 1e-40 : 1e-310;
        for (const ir::Kernel& kernel : family(forward))
            for (const double size : {1.0, 1e12, 1e-9, smallest})
                for (const bool singular : {false, true})
                    runs.push_back({test::cuda_kernel(kernel), size, singular});
    }
    prepare(runs);
    for (Run& run : runs) {
        const ir::Kernel& kernel = run.executable->kernel();
        CAPTURE(kernel.name);
        CAPTURE(run.size);
        CAPTURE(run.singular);
        const std::int64_t items = 300;
        std::mt19937_64 random(7);
        std::uniform_real_distribution<double> uniform(-1, 1);
        test::Data data;
        for (const ir::Parameter& p : kernel.parameters) {
            if (p.type == ir::Type::i32) continue;
            const bool points = p.name == "x" || p.name.rfind("x.", 0) == 0;
            std::vector<double> values(
                static_cast<std::size_t>((points ? items : 60) * p.components));
            for (double& v : values)
                v = uniform(random) * run.size * std::exp2(-20 * uniform(random));
            data.real[p.name] = values;
        }
        std::vector<std::int64_t> to;
        for (std::int64_t i = 0; i < items; ++i)
            to.push_back(static_cast<std::int64_t>(random() % 55));
        data.whole["to"] = to;
        if (run.singular) {
            data.real["x"][10] = std::numeric_limits<double>::infinity();
            data.real["x"][31] = -std::numeric_limits<double>::infinity();
            data.real["x"][40] = std::numeric_limits<double>::quiet_NaN();
        }
        test::Data expected = data, found = data;
        test::run(*backend::interpret(kernel), expected, items);
        test::run(*run.executable, found, items);
        for (const auto& [name, values] : expected.real) {
            CAPTURE(name);
            CHECK(test::same_bits(values, found.real.at(name)));
        }
    }
}

TEST_CASE("CUDA: an index out of range is named, of the lowest item") {
    const KernelDef scatter =
        kernel("scatter", {"x", "grid"},
               [](Int i, Read<Float> x, Accumulate<Float> grid) { grid[Int(x[i])] += 1.0; });
    const ir::Kernel k = scatter.trace(ir::Precision::f32);
    if (!test::has_cuda_device()) HINDCAST_SKIP("there is no CUDA device");
    const auto executable = test::cuda_kernel(k);
    test::Data data;
    data.real["x"] = {3, 4, 12, 5, -1};
    data.real["grid"] = std::vector<double>(10, 0.0);
    const auto words = [&](backend::Executable& on) {
        test::Data copy = data;
        try {
            test::run(on, copy, 5);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    CHECK(words(*executable) == words(*backend::interpret(k)));
    CHECK(words(*executable).find("index 12") != std::string::npos);
}
