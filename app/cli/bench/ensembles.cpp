// The workload of ensembles.
//
//   ensemble  64 variants of the scene of spring_cage: in variant m every rest length is
//             1 + m / 640 times the initial one. All losses, and all losses and gradients: as an
//             ensemble in SIMD lanes; one after the other, launch by launch; and one after the
//             other, each as one compiled function. The results of the three must be equal. The
//             loss is the sum of all; the gradient is that of variant 0, which is spring_cage.
#include "app/cli/bench/bench.hpp"
#include "engine/sim/ensemble.hpp"

namespace hindcast::cli {

namespace {

constexpr std::size_t members = 64;

using Results = std::vector<Ensemble::Result>;

// One way to run them all: seconds for losses, and for losses and gradients.
struct Measured {
    double forward_s = 0, forward_backward_s = 0, compile_s = 0;
    Results results;
};

Measured measure(const BenchOptions& options, WholeProgramUse whole, EnsembleUse use) {
    Registry registry;
    register_all_modules(registry);
    SimulationOptions so;
    DeviceOptions device = options.device;
    device.whole_program = whole;
    so.device = std::make_shared<Device>(device);
    so.precision = options.precision;
    Simulation simulation(Scene::parse(spring_cage_scene, "ensemble"), registry, so);
    const std::vector<double> start = simulation.parameters().values();
    std::vector<std::vector<double>> points(members, start);
    for (std::size_t m = 0; m < members; ++m)
        for (double& length : points[m]) length *= 1 + static_cast<double>(m) / 640;
    Ensemble ensemble(simulation, {.members = members, .use = use});
    Measured measured;
    ensemble.evaluate(points, false);
    measured.results = ensemble.evaluate(points, true);
    measured.compile_s = so.device->statistics().seconds;
    measured.forward_s =
        fastest(*so.device, options.repeats, 20, [&] { ensemble.evaluate(points, false); });
    measured.forward_backward_s =
        fastest(*so.device, options.repeats, 20, [&] { ensemble.evaluate(points, true); });
    return measured;
}

bool same(const Results& a, const Results& b) {
    for (std::size_t m = 0; m < members; ++m)
        if (a[m].loss != b[m].loss || a[m].gradient != b[m].gradient) return false;
    return true;
}

BenchResult ensemble(const BenchOptions& options) {
    const Measured lanes = measure(options, WholeProgramUse::never, EnsembleUse::lanes);
    const Measured launched = measure(options, WholeProgramUse::never, EnsembleUse::one_by_one);
    const Measured whole = measure(options, WholeProgramUse::always, EnsembleUse::one_by_one);
    if (!same(lanes.results, launched.results) || !same(lanes.results, whole.results))
        throw Error("internal: an ensemble has other results than its members alone");
    BenchResult result{.workload = "ensemble",
                       .n = members,
                       .steps = 30,
                       .program_steps = 30,
                       .forward_s = lanes.forward_s,
                       .forward_backward_s = lanes.forward_backward_s,
                       .compile_s = lanes.compile_s};
    for (const Ensemble::Result& r : lanes.results) result.loss += r.loss;
    result.gradients = {{"rest", lanes.results.front().gradient}};
    result.more = {
        {"launches_forward_s", launched.forward_s},
        {"launches_forward_backward_s", launched.forward_backward_s},
        {"whole_forward_s", whole.forward_s},
        {"whole_forward_backward_s", whole.forward_backward_s},
        {"forward_against_launches", launched.forward_s / lanes.forward_s},
        {"forward_backward_against_launches",
         launched.forward_backward_s / lanes.forward_backward_s},
        {"forward_against_whole", whole.forward_s / lanes.forward_s},
        {"forward_backward_against_whole", whole.forward_backward_s / lanes.forward_backward_s}};
    return result;
}

}  // namespace

std::vector<Workload> ensemble_workloads() {
    return {{"ensemble", "64 variants of spring_cage at once, against one after the other",
             [](const BenchOptions& o) { return std::vector{ensemble(o)}; }}};
}

}  // namespace hindcast::cli
