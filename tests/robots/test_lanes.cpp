// Robots on compiled code: the interpreter's bits, and those of a run alone in each lane of an
// ensemble.
#include <doctest/doctest.h>

#include "engine/backend/jit/llvm.hpp"
#include "engine/sim/ensembles/ensemble.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/kernels/kernel_harness.hpp"
#include "tests/support/module_coverage.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

std::unique_ptr<Simulation> make(const Scene& scene, ir::Precision precision,
                                 const DeviceOptions& device) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(device);
    options.precision = precision;
    return std::make_unique<Simulation>(scene, all_modules(), options);
}

struct Outcome {
    double loss = 0;
    std::vector<double> gradient;
    Hash128 state;
};
Outcome run(Simulation& s) {
    Outcome o;
    o.loss = s.run(true);
    o.state = s.state_hash().digest();
    o.gradient = s.gradient();
    return o;
}

}  // namespace

TEST_CASE("robots: compiled code has the interpreter's bits, and so has each lane of an ensemble") {
    HINDCAST_NEEDS_MUJOCO();
    if (!backend::llvm_info().available) HINDCAST_SKIP(backend::llvm_info().problem);
    struct Case {
        const char* file;
        ir::Precision precision;
    };
    for (const Case& one : {Case{"coverage", ir::Precision::f32},
                            {"coverage_rk4", ir::Precision::f64},
                            {"coverage_discrete", ir::Precision::f64},
                            {"coverage_free", ir::Precision::f64}}) {
        CAPTURE(one.file);
        const Scene scene = Scene::load(std::filesystem::path(source_dir) / "kernels/articulated" /
                                        (std::string(one.file) + ".json"));
        const auto interpreted = make(scene, one.precision, {DeviceKind::interpreter});
        const auto compiled = make(scene, one.precision, {.threads = 1});
        std::vector<std::vector<double>> points;
        std::vector<Outcome> expected;
        for (int m = 0; m < 5; ++m) {
            points.push_back(interpreted->parameters().values());
            for (std::size_t k = 0; k < points.back().size(); ++k)
                points.back()[k] += 1e-4 * m * static_cast<double>(k % 5);
        }
        for (const std::vector<double>& point : points) {
            compiled->parameters().set_values(point);
            expected.push_back(run(*compiled));
        }
        interpreted->parameters().set_values(points[1]);
        const Outcome reference = run(*interpreted);
        CHECK(same_bits(reference.loss, expected[1].loss));
        CHECK(same_bits(reference.gradient, expected[1].gradient));
        CHECK((reference.state == expected[1].state));
        Ensemble ensemble(*compiled, {.members = 8, .use = EnsembleUse::lanes});
        std::vector<Hash128> states;
        const auto results = ensemble.evaluate(
            points, true, [&](std::size_t) { states.push_back(compiled->state_hash().digest()); });
        for (std::size_t m = 0; m < points.size(); ++m) {
            CHECK(same_bits(results[m].loss, expected[m].loss));
            CHECK(same_bits(results[m].gradient, expected[m].gradient));
            CHECK((states[m] == expected[m].state));
        }
    }
}
