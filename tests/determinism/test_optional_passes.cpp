// Optional passes (backend/optional_passes.hpp): without each of them the same bits; each is what
// it says, and is not there where it is left out.
#include <doctest/doctest.h>

#include "engine/backend/optional_passes.hpp"
#include "engine/backend/text/kernel_text.hpp"
#include "engine/base/hash.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/program.hpp"
#include "tests/support/scenes.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;

namespace {

struct Bits {
    Hash128 state;
    double loss = 0;
    std::vector<double> gradient;
    bool operator==(const Bits&) const = default;
};

Bits run(const std::string& name, std::int64_t steps, const PassSet& passes) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{.threads = 2, .passes = passes});
    options.precision = ir::Precision::f32;
    options.steps = steps;
    Simulation simulation(Scene::load(std::string(test::source_dir) + "/scenes/" + name + ".json"),
                          test::all_modules(), options);
    Bits bits;
    for (int round = 0; round < 3;
         ++round) {  // what is learned of arrays, and measured, counts too
        simulation.run(true);
        bits.gradient = simulation.gradient();
    }
    bits.state = simulation.state_hash().digest();
    bits.loss = simulation.loss();
    return bits;
}

std::vector<std::string> names_of(const std::vector<backend::KernelStage>& stages) {
    std::vector<std::string> names;
    for (const backend::KernelStage& stage : stages) names.push_back(stage.name);
    return names;
}
bool has(const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// The adjoint of a scene's launch of that kernel.
ir::Kernel adjoint_of(const std::string& scene, const std::string& kernel) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    Simulation simulation(Scene::load(std::string(test::source_dir) + "/scenes/" + scene + ".json"),
                          test::all_modules(), options);
    for (const Launch& launch : simulation.model().step_program().launches())
        if (launch.kernel().name == kernel) return launch.replay(Direction::adjoint).kernel();
    FAIL("no kernel " << kernel);
    return {};
}

}  // namespace

TEST_CASE("optional passes: without each of them, and without all, the same bits") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    struct Case {
        const char* scene;
        std::int64_t steps;
    };
    for (const Case& c : {Case{"hanging_net", 40},
                          {"mpm_launch", 12},
                          {"wave_image", 24},
                          {"soft_beam", -1},
                          {"spring_cage", 60}}) {
        CAPTURE(c.scene);
        const Bits with = run(c.scene, c.steps, {});
        CHECK(run(c.scene, c.steps, PassSet::none()) == with);
        for (const PassInfo& pass : all_passes()) {
            if (!pass.on_cpu) continue;
            CAPTURE(pass.name);
            CHECK(run(c.scene, c.steps, PassSet().without(pass.which)) == with);
            if (!test::full()) continue;
            // And alone.
            CHECK(run(c.scene, c.steps, PassSet::none().with(pass.which)) == with);
        }
    }
}

TEST_CASE("optional passes: stages show what each does to a kernel, and not what is left out") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    const ir::Kernel springs = adjoint_of("hanging_net", "spring_force_damped");
    const std::vector<std::string> all = names_of(backend::kernel_stages(springs, {}));
    for (const char* name :
         {"traced", "lower", "choose sums", "per-target", "symmetry", "emit", "compile"})
        CHECK_MESSAGE(has(all, name), name);
    CHECK(all.front() == "traced");
    CHECK(all.back() == "compile");
    CHECK(!has(names_of(backend::kernel_stages(springs, {.passes = PassSet::without("symmetry")})),
               "symmetry"));
    const auto plain = names_of(backend::kernel_stages(springs, {.passes = PassSet::none()}));
    CHECK(plain == std::vector<std::string>{"traced", "lower", "choose sums", "emit", "compile"});
}

TEST_CASE("optional passes: those of code change the code") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    const auto text = [](const ir::Kernel& kernel, const PassSet& passes) {
        return backend::kernel_text(kernel, backend::KernelText::llvm, {.passes = passes});
    };
    const ir::Kernel springs = adjoint_of("hanging_net", "spring_force_damped");
    for (const Pass pass : {Pass::per_target, Pass::symmetry})
        CHECK_MESSAGE(text(springs, {}) != text(springs, PassSet().without(pass)), info(pass).name);
    const ir::Kernel waves = adjoint_of("wave_image", "wave_level");
    for (const Pass pass : {Pass::per_target, Pass::shifts, Pass::stencil_blocks})
        CHECK_MESSAGE(text(waves, {}) != text(waves, PassSet().without(pass)), info(pass).name);
}

TEST_CASE("optional passes: names") {
    CHECK(PassSet().left_out().empty());
    const PassSet some = PassSet::without("fusion,symmetry");
    CHECK_FALSE(some.has(Pass::fusion));
    CHECK_FALSE(some.has(Pass::symmetry));
    CHECK(some.has(Pass::rotation));
    CHECK(some.left_out() == "symmetry,fusion");  // in the order of the list
    CHECK(PassSet::without(some.left_out()) == some);
    CHECK(PassSet::without("").left_out().empty());
    CHECK(PassSet::without(PassSet::none().left_out()) == PassSet::none());
    CHECK(PassSet::without("neighbour-runs") == PassSet::without("neighbor-runs"));
    CHECK(some.with(Pass::fusion).with(Pass::symmetry) == PassSet());
    const std::string unknown = test::message([] { PassSet::without("fusion,symetry"); });
    CHECK(unknown.starts_with("there is no optional pass 'symetry'; "));
    for (const PassInfo& pass : all_passes()) {
        CHECK(unknown.find(pass.name) != std::string::npos);
        CHECK(info(pass.which).name == pass.name);
        CHECK((pass.on_cpu || pass.on_cuda));
    }
    CHECK(test::message([] {
              const Device both({.whole_program = WholeProgramUse::always,
                                 .passes = PassSet::without("functions")});
          }) == "the pass 'functions' is left out and asked for always; choose one");
}

TEST_CASE("optional passes: on the command line") {
    HINDCAST_NEEDS_PROGRAM();
    const std::string scene = std::string(test::source_dir) + "/scenes/spring_cage.json";
    const auto hash = [&](const char* names) {
        const test::Finished run =
            test::run_program({"run", scene, "--steps", "20", "--without", names});
        CHECK(run.status == 0);
        const std::size_t at = run.out.find("state hash");
        REQUIRE(at != std::string::npos);
        return run.out.substr(at, run.out.find('\n', at) - at);
    };
    CHECK(hash("all") == hash("fusion,rotation"));
    const test::Finished wrong = test::run_program({"run", scene, "--without", "fast"});
    CHECK(wrong.status != 0);
    CHECK(wrong.err.find("there is no optional pass 'fast'") != std::string::npos);
    if (!test::has_cpu_device()) return;
    const test::Finished stages =
        test::run_program({"info", "--scene", scene, "--kernel", "spring_force_damped", "--stages",
                           "--without", "symmetry"});
    CHECK(stages.status == 0);
    CHECK(stages.out.find("; ---- spring_force_damped: lower") != std::string::npos);
    CHECK(stages.out.find(": per-target") != std::string::npos);
    CHECK(stages.out.find(": symmetry") == std::string::npos);
    const test::Finished bench =
        test::run_program({"bench", "launch_overhead", "--each-pass", "--json", "--repeats", "1"});
    CHECK(bench.status == 0);
    for (const PassInfo& pass : all_passes())
        CHECK((bench.out.find("\"without\": \"" + std::string(pass.name) + "\"") !=
               std::string::npos) == pass.on_cpu);
}
