// The bundled scenes whose figures were computed elsewhere: loss and gradient at the start. Their
// optimizations are in the scripted tests beside the scenes.
#include <doctest/doctest.h>

#include "tests/physics/module_scene.hpp"
#include "tests/support/paths.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

struct Start {
    double loss;
    std::vector<double> gradient;
};
Start start_of(const char* scene, ir::Precision precision) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = precision;
    Simulation sim(Scene::load(std::string(hindcast::test::source_dir) + "/scenes/" + scene),
                   all_modules(), options);
    Start start;
    start.loss = sim.run(true);
    start.gradient = sim.gradient();
    return start;
}

void check_start(const char* scene, double loss, const std::vector<double>& gradient) {
    for (const ir::Precision precision : {ir::Precision::f64, ir::Precision::f32}) {
        const double tolerance = precision == ir::Precision::f64 ? 1e-6 : 1e-3;
        const Start start = start_of(scene, precision);
        CHECK(start.loss == doctest::Approx(loss).epsilon(tolerance));
        REQUIRE(start.gradient.size() == gradient.size());
        for (std::size_t k = 0; k < gradient.size(); ++k)
            CHECK(start.gradient[k] == doctest::Approx(gradient[k]).epsilon(tolerance));
    }
}

}  // namespace

TEST_CASE("mass_spring_simple: loss and gradient of the first roll-out") {
    check_start("mass_spring_simple.json", 9.026402e-3, {-5.659657e-3, -5.659657e-3, -2.695810e-3});
}

TEST_CASE("spring_cage: loss and gradient of the first roll-out") {
    check_start("spring_cage.json", .239205878825,
                {.186417187, .282563454, -.205838504, .259649725, -.189670722, -.163316279,
                 -.140992566, .105748975});
}

TEST_CASE("thrown_ball: the gradient agrees with differences") {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = ir::Precision::f64;
    Simulation sim(
        Scene::load(std::string(hindcast::test::source_dir) + "/scenes/thrown_ball.json"),
        all_modules(), options);
    const GradientErrors e = gradient_errors(sim, 0);
    CHECK(e.forward < 1e-12);
    CHECK(e.difference < 1e-6);
}
