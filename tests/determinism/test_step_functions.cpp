// Steps as compiled functions have the bits of their launches: runs that recompute steps, that have
// a horizon, or many events.
#include <doctest/doctest.h>

#include <filesystem>

#include "engine/sim/simulation.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/memory/allocations.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hindcast {

namespace {

Scene load(const std::string& name) {
    return Scene::load(std::filesystem::path(hindcast::test::source_dir) / "scenes" /
                       (name + ".json"));
}

struct Plan {
    std::int64_t segment = 0, checkpoints = 0, horizon = 0;  // segment 0: store all
};

std::unique_ptr<Simulation> make(const Scene& scene, WholeProgramUse use, ir::Precision precision,
                                 const Plan& plan, std::int64_t steps = -1) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{.threads = 1, .whole_program = use});
    options.precision = precision;
    options.steps = steps;
    auto s = std::make_unique<Simulation>(scene, test::all_modules(), options);
    s->rollout().set_horizon(plan.horizon);
    if (plan.segment > 0) s->rollout().force_plan(plan.segment, plan.checkpoints);
    return s;
}

struct Result {
    double loss = 0;
    Hash128 before, after;  // of the state, before and after the backward pass
    std::vector<double> gradient, product;
    bool operator==(const Result&) const = default;
};

Result results(Simulation& s) {
    Result r;
    std::vector<double> direction(s.parameters().size());
    for (std::size_t k = 0; k < direction.size(); ++k)
        direction[k] = 1 - 0.3 * static_cast<double>(k % 5);
    r.loss = s.run(true);
    r.before = s.state_hash().digest();
    r.gradient = s.gradient();
    r.after = s.state_hash().digest();
    r.product = s.hessian_product(direction);
    return r;
}

}  // namespace

TEST_CASE("step functions: small scenes under plans that recompute, and with horizons") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    for (const char* name : {"spring_cage", "mass_spring_simple", "two_body_spring", "free_flight",
                             "thrown_ball", "accumulated_sensitivity"}) {
        CAPTURE(name);
        const Scene scene = load(name);
        for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64}) {
            for (const std::int64_t horizon : {0, 11}) {
                const auto launched =
                    make(scene, WholeProgramUse::never, precision, {0, 0, horizon});
                const Result expected = results(*launched);
                CHECK(expected.before == expected.after);
                for (const Plan plan : {Plan{0, 0, horizon}, {7, 100, horizon}, {4, 2, horizon}}) {
                    CAPTURE(plan.segment);
                    CAPTURE(horizon);
                    const auto compiled = make(scene, WholeProgramUse::always, precision, plan);
                    for (int k = 0; k < 2; ++k) CHECK(results(*compiled) == expected);
                    const std::string report = compiled->rollout().whole_program_report();
                    CAPTURE(report);
                    const bool steps = plan.segment > 0 || horizon > 0;
                    CHECK((report.find("a step: forward") != std::string::npos) == steps);
                    if (precision == ir::Precision::f64) continue;
                    const auto chosen = make(scene, WholeProgramUse::automatic, precision, plan);
                    for (int k = 0; k < 4; ++k) CHECK(results(*chosen) == expected);
                }
            }
        }
    }
}

TEST_CASE("step functions: more events than one function takes") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    Scene scene = load("spring_cage");
    scene.document().set("/objective/0/at", document::Document::parse("\"all\"").root());
    const auto launched = make(scene, WholeProgramUse::never, ir::Precision::f32, {});
    const Result expected = results(*launched);
    for (const Plan plan : {Plan{}, {6, 2, 0}}) {
        const auto compiled = make(scene, WholeProgramUse::always, ir::Precision::f32, plan);
        for (int k = 0; k < 2; ++k) CHECK(results(*compiled) == expected);
        CHECK(compiled->rollout().whole_program_report().find("with history one function") !=
              std::string::npos);
    }
}

TEST_CASE("step functions: measured before the run, and steady runs allocate nothing") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    const Scene scene = load("spring_cage");
    const auto launched = make(scene, WholeProgramUse::never, ir::Precision::f32, {}, 3000);
    const Result expected = results(*launched);
    for (const WholeProgramUse use : {WholeProgramUse::never, WholeProgramUse::automatic}) {
        SimulationOptions options;
        options.device =
            std::make_shared<Device>(DeviceOptions{.threads = 1, .whole_program = use});
        options.steps = 3000;
        options.gradient_memory = 400'000;
        Simulation s(scene, test::all_modules(), options);
        const CheckpointPlan plan = s.plan_gradients();
        CHECK(plan.segments > 1);
        CHECK(plan.may_compile);
        CHECK(s.run(true) == expected.loss);
        CHECK(s.gradient() == expected.gradient);
        const std::string report = s.rollout().whole_program_report();
        CAPTURE(report);  // which way was faster is the machine's affair
        CHECK((use == WholeProgramUse::never) == report.empty());
        if (!report.empty())
            CHECK((report.find("us launch by launch)") != std::string::npos ||
                   report.find("its launches are long") != std::string::npos));
        const model::Term& term = s.model().terms().front();
        const std::vector<Rollout::Seed> seeds{{term.value, term.weight}};
        const std::int64_t before = test::allocations();
        s.rollout().forward(true);
        s.rollout().backward(seeds);
        CHECK(test::allocations() == before);
    }
}

TEST_CASE("step functions: states stored in a file") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    const test::TemporaryFolder folder;
    const Scene scene = load("spring_cage");
    const auto launched = make(scene, WholeProgramUse::never, ir::Precision::f32, {});
    const auto compiled = make(scene, WholeProgramUse::always, ir::Precision::f32, {});
    compiled->rollout().limit_memory({.spill = folder.path()});
    compiled->rollout().force_plan(4, 3);
    CHECK(results(*compiled) == results(*launched));
    CHECK(compiled->rollout().plan().spilled);
}

TEST_CASE("step functions: runs stop where launches stop") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    Scene scene = load("two_body_spring");
    const auto compiled = make(scene, WholeProgramUse::always, ir::Precision::f32, {9, 2, 0}),
               launched = make(scene, WholeProgramUse::never, ir::Precision::f32, {9, 2, 0});
    for (const std::int64_t stop : {0, 5, 9, 100, 200}) {  // by a watch
        CAPTURE(stop);
        std::vector<std::vector<double>> gradients;
        for (Simulation* s : {compiled.get(), launched.get()}) {
            CHECK(s->rollout().forward(true, [&](std::int64_t t) { return t < stop; }) == stop);
            gradients.push_back(s->gradient());
        }
        CHECK(gradients[0] == gradients[1]);
    }
    scene.set("time.step", "1e18");
    const auto far = make(scene, WholeProgramUse::always, ir::Precision::f32, {9, 2, 0}),
               near = make(scene, WholeProgramUse::never, ir::Precision::f32, {9, 2, 0});
    const std::int64_t steps = near->rollout().forward(true);
    REQUIRE(near->rollout().divergence());
    CHECK(steps < near->steps());
    CHECK(far->rollout().forward(true) == steps);
    REQUIRE(far->rollout().divergence());
    CHECK(far->rollout().divergence()->step == near->rollout().divergence()->step);
}

TEST_CASE("step functions: what is too large says so") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    const Scene net = load("hanging_net");
    const auto s = make(net, WholeProgramUse::always, ir::Precision::f32, {4, 2, 0}, 8);
    CHECK_THROWS_WITH_AS(s->run(true), doctest::Contains("items, the limit is"), Error);
    const auto free = make(net, WholeProgramUse::automatic, ir::Precision::f32, {4, 2, 0}, 30);
    for (int k = 0; k < 3; ++k) free->run(true);
    CHECK(free->rollout().whole_program_report().find("launch by launch: ") != std::string::npos);
}

}  // namespace hindcast
