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
    for (const Scene& scene : coverage_of("articulated")) {
        CAPTURE(scene.file().string());
        for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64}) {
            CAPTURE((precision == ir::Precision::f64));
            const auto interpreted = make(scene, precision, {DeviceKind::interpreter});
            const auto compiled = make(scene, precision, {.threads = 1});
            std::vector<std::vector<double>> points;
            std::vector<Outcome> expected;
            for (int m = 0; m < 5; ++m) {
                std::vector<double> point = interpreted->parameters().values();
                for (std::size_t k = 0; k < point.size(); ++k)
                    point[k] += 1e-4 * m * static_cast<double>(k % 5);
                points.push_back(point);
                compiled->parameters().set_values(point);
                expected.push_back(run(*compiled));
                if (m > 1) continue;
                const std::vector<double> start = interpreted->parameters().values();
                interpreted->parameters().set_values(point);
                const Outcome o = run(*interpreted);
                interpreted->parameters().set_values(start);
                CHECK(same_bits(o.loss, expected.back().loss));
                CHECK(same_bits(o.gradient, expected.back().gradient));
                CHECK((o.state == expected.back().state));
            }
            Ensemble ensemble(*compiled, {.members = 8, .use = EnsembleUse::lanes});
            std::vector<Hash128> states;
            const auto results = ensemble.evaluate(points, true, [&](std::size_t) {
                states.push_back(compiled->state_hash().digest());
            });
            for (std::size_t m = 0; m < points.size(); ++m) {
                CHECK(same_bits(results[m].loss, expected[m].loss));
                CHECK(same_bits(results[m].gradient, expected[m].gradient));
                CHECK((states[m] == expected[m].state));
            }
        }
    }
}
