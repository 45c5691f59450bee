// A small roll-out as one compiled function has the bits of its launches, in every way it is run.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/backend/jit/llvm.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/memory/allocations.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/skip.hpp"

namespace hindcast {

namespace {

#define HINDCAST_NEEDS_LLVM() \
    if (!backend::llvm_info().available) HINDCAST_SKIP(backend::llvm_info().problem)

std::unique_ptr<Simulation> make(const Scene& scene, WholeProgramUse use, ir::Precision precision,
                                 int width = 0, std::int64_t steps = -1) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::cpu, 1, width, false, use});
    options.precision = precision;
    options.steps = steps;
    return std::make_unique<Simulation>(scene, test::all_modules(), options);
}

Scene load(const std::string& name) {
    return Scene::load(std::filesystem::path(hindcast::test::source_dir) / "scenes" /
                       (name + ".json"));
}

struct Result {
    double loss = 0, plain_loss = 0;
    Hash128 state;
    std::vector<double> gradient, product;
    bool operator==(const Result&) const = default;
};

Result results(Simulation& s, double shift) {
    Result r;
    std::vector<double> p = s.parameters().values(), direction(p.size());
    for (std::size_t k = 0; k < p.size(); ++k) {
        p[k] += shift * (1 + 0.1 * static_cast<double>(k % 7));
        direction[k] = 1 - 0.3 * static_cast<double>(k % 5);
    }
    s.parameters().set_values(p);
    r.plain_loss = s.run(false);
    r.state = s.state_hash().digest();
    r.loss = s.run(true);
    r.gradient = s.gradient();
    r.product = s.hessian_product(direction);
    return r;
}

}  // namespace

TEST_CASE("whole program: runs with a horizon keep the steps within it only") {
    HINDCAST_NEEDS_LLVM();
    Scene scene = load("spring_cage");
    scene.document().set("/gradients", document::Document::parse(R"({"horizon": 3})").root());
    const auto launched = make(scene, WholeProgramUse::never, ir::Precision::f32);
    const Result expected = results(*launched, 0);
    for (const WholeProgramUse use : {WholeProgramUse::always, WholeProgramUse::automatic}) {
        const auto whole = make(scene, use, ir::Precision::f32);
        for (int k = 0; k < 6; ++k) CHECK(results(*whole, 0) == expected);
    }
}

TEST_CASE("whole program: losses, states, gradients and Hessian products of small scenes") {
    HINDCAST_NEEDS_LLVM();
    for (const char* name :
         {"spring_cage", "mass_spring_simple", "two_body_spring", "free_flight", "thrown_ball"}) {
        CAPTURE(name);
        const Scene scene = load(name);
        for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64}) {
            const auto launched = make(scene, WholeProgramUse::never, precision);
            const Result first = results(*launched, 0), second = results(*launched, 1e-3);
            CHECK(first.loss != second.loss);
            for (const int width : {0, 4, 16}) {
                if (width != 0 && precision == ir::Precision::f64) continue;
                const auto whole = make(scene, WholeProgramUse::always, precision, width);
                CHECK(results(*whole, 0) == first);
                CHECK(results(*whole, 1e-3) == second);
            }
        }
    }
}

TEST_CASE(
    "whole program: kernels that occur often are functions of their own, with the same bits") {
    HINDCAST_NEEDS_LLVM();
    const auto chain = [](int springs) {
        std::string bodies, forces;
        for (int k = 0; k <= springs; ++k)
            bodies += fmt::format("{}[{}, {}]", k > 0 ? ", " : "", 0.1 * k, 0.02 * (k % 3));
        for (int k = 0; k < springs; ++k)
            forces += fmt::format(
                R"({}{{"type": "springs", "name": "s{}", "connect": [["b", {}, "b", {}]], )"
                R"("stiffness": {}, "rest_length": 0.1}})",
                k > 0 ? ", " : "", k, k, k + 1, 10 + k);
        return Scene::parse(fmt::format(
            R"({{"format": 1, "name": "chain", "dimension": 2, "time": {{"step": 1e-3, "steps": 3}},
            "gravity": [0, -9.81],
            "bodies": [{{"type": "particles", "name": "b", "positions": [{}], "velocity": [0, 1]}}],
            "forces": [{}],
            "objective": [{{"type": "point_target", "name": "t", "of": "b", "points": [0],
                            "target": [0, 2]}}],
            "parameters": [{{"path": "b.velocity"}}]}})",
            bodies, forces));
    };
    const auto code_of = [&](int springs) {
        const test::TemporaryFolder cache;
        const test::Environment folder("HINDCAST_CACHE", cache.path().string());
        const Scene scene = chain(springs);
        const auto launched = make(scene, WholeProgramUse::never, ir::Precision::f32),
                   whole = make(scene, WholeProgramUse::always, ir::Precision::f32);
        CHECK(results(*whole, 0) == results(*launched, 0));
        std::uintmax_t largest = 0;
        for (const auto& file : std::filesystem::directory_iterator(cache.path()))
            largest = std::max(largest, file.file_size());
        return static_cast<double>(largest);
    };
    const double few = code_of(10), many = code_of(80);
    CHECK(many < 6 * few);  // eight times as many springs, one kernel
}

TEST_CASE("whole program: chosen by measurement, and steady runs allocate nothing") {
    HINDCAST_NEEDS_LLVM();
    const auto s = make(load("spring_cage"), WholeProgramUse::automatic, ir::Precision::f32);
    const double loss = s->run(true);
    const std::vector<double> gradient = s->gradient();
    for (int k = 0; k < 12; ++k) {
        CHECK(s->run(true) == loss);
        CHECK(s->gradient() == gradient);
    }
    // Which way was faster is the machine's affair; that both were tried, or why not, is said.
    const std::string report = s->rollout().whole_program_report();
    CAPTURE(report);
    CHECK((report.find("us launch by launch)") != std::string::npos ||
           report.find("its launches are long") != std::string::npos));
    const std::int64_t before = test::allocations();
    s->rollout().forward(true);
    CHECK(test::allocations() == before);
}

TEST_CASE("whole program: a run that diverges stops where launches stop") {
    HINDCAST_NEEDS_LLVM();
    Scene scene = load("two_body_spring");
    scene.set("time.step", "1e18");
    const auto launched = make(scene, WholeProgramUse::never, ir::Precision::f32),
               whole = make(scene, WholeProgramUse::always, ir::Precision::f32);
    const std::int64_t steps = launched->rollout().forward(false);
    REQUIRE(launched->rollout().divergence());
    CHECK(whole->rollout().forward(false) == steps);
    REQUIRE(whole->rollout().divergence());
    CHECK(whole->rollout().divergence()->step == launched->rollout().divergence()->step);
}

TEST_CASE("whole program: what is too large says so") {
    HINDCAST_NEEDS_LLVM();
    const auto s = make(load("hanging_net"), WholeProgramUse::always, ir::Precision::f32);
    CHECK_THROWS_WITH_AS(s->run(false), doctest::Contains("items, the limit is"), Error);
    const auto free = make(load("hanging_net"), WholeProgramUse::automatic, ir::Precision::f32);
    for (int k = 0; k < 5; ++k) free->run(false);
    CHECK(free->rollout().whole_program_report().find("launch by launch: ") != std::string::npos);
}

}  // namespace hindcast
