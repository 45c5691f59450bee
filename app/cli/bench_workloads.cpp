// The benchmark workloads, self-contained.
//
//   launch_overhead  y[i] = a x[i] + y0[i] over 8 elements; seconds per replay of one recorded
//   launch and of its adjoint spring_cage      scenes/spring_cage.json: 1 free mass, 8 springs, 30
//   steps; one iteration = forward + backward + update cloth_springs    256 x 256 particles, 390
//   658 springs (structural, shear, bend), 200 steps of 1 ms, one stiffness for
//                    all; gradient of |mean position - target|^2 in all initial velocities and the
//                    stiffness
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "app/cli/bench.hpp"
#include "engine/sim/simulation.hpp"

namespace hindcast::cli {

namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Seconds per call: the minimum over at least `repeats` runs of `batch` calls, until about two
// seconds have passed.
double fastest(int repeats, int batch, const std::function<void()>& call) {
    double best = 1e300;
    const double start = now();
    for (int r = 0; r < repeats || (now() - start < 2.0 && r < 50); ++r) {
        const double t = now();
        for (int k = 0; k < batch; ++k) call();
        best = std::min(best, (now() - t) / batch);
    }
    return best;
}

double norm(const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
}

BenchResult launch_overhead(const BenchOptions& options) {
    using namespace lang;
    const KernelDef axpy = kernel("axpy", {"a", "x", "y0", "y"},
                                  [](Int i, Param<Float> a, Read<Float> x, Read<Float> y0,
                                     Write<Float> y) { y[i] = a.value() * x[i] + y0[i]; });
    constexpr int n = 8, launches = 20000;
    const auto device = std::make_shared<Device>(options.device);
    const ir::Type real = ir::real_type(options.precision);
    Array x(real, {n}), y0(real, {n}), y(real, {n});
    for (int i = 0; i < n; ++i) {
        x.set_value(i, 0, (i + 1) / 8.0);
        y0.set_value(i, 0, 1.0 / (i + 1));
    }
    Launch launch(device, axpy, options.precision, n, {1.5, x, y0, y});
    launch.differentiate_only({"x", "y0", "y"});
    const Launch::Replay forward = launch.forward(), adjoint = launch.adjoint();
    BenchResult result{.workload = "launch_overhead", .n = n, .steps = launches};
    forward.run();
    y.gradient().fill(1);
    adjoint.run();
    for (int i = 0; i < n; ++i) result.loss += y.value(i);
    result.gradient_norm = norm(x.gradient().to_doubles());
    result.compile_s = device->statistics().seconds;
    const double f = fastest(options.repeats, launches, [&] { forward.run(); });
    const double a = fastest(options.repeats, launches, [&] { adjoint.run(); });
    const double s = fastest(options.repeats, launches, [&] {
        launch.set(0, 1.5);
        forward.run();
    });
    result.forward_s = f * launches;
    result.forward_backward_s = (f + a) * launches;
    result.more = {{"launch_s", f}, {"adjoint_s", a}, {"set_and_launch_s", s}};
    return result;
}

// A scene run as a benchmark: `updates` also moves the parameters against the gradient by `rate`
// after each backward.
BenchResult scene_bench(const std::string& name, const std::string& text, std::int64_t n, int batch,
                        double rate, const BenchOptions& options,
                        const std::function<void(const std::vector<double>&, BenchResult&)>& look) {
    Registry registry;
    register_all_modules(registry);
    SimulationOptions so;
    so.device = std::make_shared<Device>(options.device);
    so.precision = options.precision;
    Simulation simulation(Scene::parse(text, name), registry, so);
    Parameters& parameters = simulation.parameters();
    const std::vector<double> start = parameters.values();
    BenchResult result{.workload = name, .n = n, .steps = simulation.steps()};
    result.loss = simulation.run(true);
    const std::vector<double> gradient = simulation.gradient();
    result.gradient_norm = norm(gradient);
    look(gradient, result);
    result.compile_s = so.device->statistics().seconds;
    result.forward_s = fastest(options.repeats, batch, [&] { simulation.run(false); });
    std::vector<double> p = start;
    int iterations = 0;
    result.forward_backward_s = fastest(options.repeats, batch, [&] {
        simulation.run(true);
        const std::vector<double> g = simulation.gradient();
        if (rate == 0) return;
        if (++iterations % 30 == 0) p = start;  // stay where the work is the same
        for (std::size_t k = 0; k < p.size(); ++k) p[k] -= rate * g[k];
        parameters.set_values(p);
    });
    result.more.emplace_back("history_mb",
                             static_cast<double>(simulation.rollout().kept_bytes()) / 1048576.0);
    return result;
}

BenchResult spring_cage(const BenchOptions& options) {
    static const char* const scene = R"json({
        "format": 1, "time": {"step": "1/30", "steps": 30}, "gravity": [0, 0, -9.81],
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0]]},
                   {"type": "particles", "name": "anchors", "fixed": true, "positions": [[0.2, -0.7, 0.8], [1.1, 0, 0.2],
                    [-1.2, 0.1, 0.1], [0.4, 0.6, 0.4], [-0.2, 0.7, -0.9], [0.1, -0.8, -0.8], [-0.8, -0.9, 0.2], [-0.1, 1, 0.4]]}],
        "forces": [{"type": "springs", "name": "cage", "stiffness": 100, "damping": 10, "connect": [["ball", 0, "anchors", 0],
                    ["ball", 0, "anchors", 1], ["ball", 0, "anchors", 2], ["ball", 0, "anchors", 3], ["ball", 0, "anchors", 4],
                    ["ball", 0, "anchors", 5], ["ball", 0, "anchors", 6], ["ball", 0, "anchors", 7]]}],
        "objective": [{"type": "point_target", "of": "ball", "target": [0.375, 0.125, 0.25]}],
        "parameters": [{"path": "cage.rest_length"}]})json";
    return scene_bench("spring_cage", scene, 1, 200, 0.5, options,
                       [](const std::vector<double>&, BenchResult&) {});
}

BenchResult cloth_springs(const BenchOptions& options) {
    constexpr int side = 256;
    std::string pinned;
    for (int j = 0; j < side; ++j) pinned += (j == 0 ? "" : ",") + std::to_string(j);
    const std::string scene = R"json({
        "format": 1, "time": {"step": 0.001, "steps": 200}, "gravity": [0, -9.8, 0],
        "bodies": [{"type": "particles", "name": "sheet", "positions": {"grid": {"counts": [256, 1, 256], "spacing": "1/255"}},
                    "velocity": {"formula": ["0", "0.3*sin(6.283185307179586*x)*cos(6.283185307179586*z)", "0"]},
                    "fixed": [)json" +
                              pinned + R"json(]}],
        "forces": [{"type": "springs", "name": "net", "stiffness": 40000, "rest_length": {"initial": 0.97},
                    "connect": {"grid": "sheet", "counts": [256, 256], "patterns": ["structural", "shear", "bend"]}},
                   {"type": "damping", "rate": 1, "order": "after"}],
        "objective": [{"type": "center_of_mass", "of": "sheet", "target": [0.4, -0.1, 0.5]}],
        "parameters": [{"path": "sheet.velocity"}, {"path": "net.stiffness"}]})json";
    return scene_bench(
        "cloth_springs", scene, side * side, 1, 0, options,
        [](const std::vector<double>& gradient, BenchResult& result) {
            result.more.emplace_back("stiffness_gradient", gradient.back());
            // The pinned row never moves: its velocities are no parameters of the workload.
            result.more.emplace_back("velocity_gradient_norm",
                                     norm({gradient.begin() + 3 * side, gradient.end() - 1}));
            result.gradient_norm = norm({gradient.begin() + 3 * side, gradient.end()});
        });
}

}  // namespace

std::vector<std::string> bench_workloads() {
    return {"launch_overhead", "spring_cage", "cloth_springs"};
}

BenchResult run_bench(const std::string& workload, const BenchOptions& options) {
    if (workload == "launch_overhead") return launch_overhead(options);
    if (workload == "spring_cage") return spring_cage(options);
    if (workload == "cloth_springs") return cloth_springs(options);
    throw Error("there is no workload '" + workload + "'")
        .remedy("use launch_overhead, spring_cage or cloth_springs");
}

}  // namespace hindcast::cli
