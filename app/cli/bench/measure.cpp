// Code that all workloads share: timing, the traffic of a step, and the bandwidth it is compared
// with.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "app/cli/bench/bench.hpp"
#include "engine/backend/cuda/context.hpp"
#include "engine/backend/jit/machine_code.hpp"
#include "engine/sim/optimization/descent.hpp"

namespace hindcast::cli {

namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

Traffic traffic_of(Simulation& simulation) {
    Traffic traffic;
    std::map<const void*, double> resident;
    const auto bytes_of = [&](const Launch::Replay& replay) {
        for (const Array& array : replay.arrays())
            if (array) resident[array.version_counter()] = static_cast<double>(array.bytes());
        return replay.bytes();
    };
    for (const Launch& launch : simulation.model().step_program().launches()) {
        ++traffic.launches;
        traffic.forward_bytes += bytes_of(launch.forward());
        if (!launch.has_derivative()) continue;
        ++traffic.adjoints;
        traffic.backward_bytes += bytes_of(launch.adjoint());
    }
    for (const auto& [key, bytes] : resident) traffic.resident_bytes += bytes;
    return traffic;
}

// Measures one iteration on a CUDA device: the seconds for which the host is busy, without its
// waits for the device, and the launches it puts there.
void measure_host(const Device& device, int repeats, const std::function<void()>& iteration,
                  BenchResult& result) {
    using Calls = backend::cuda::Context::Calls;
    double best = 1e300;
    Calls last;
    for (int r = 0; r < std::max(repeats, 5); ++r) {
        device.synchronize();
        const Calls before = device.cuda()->calls();
        const double t = now();
        iteration();
        const double seconds = now() - t;
        const Calls& after = device.cuda()->calls();
        best = std::min(best, seconds - (after.waited_s - before.waited_s));
        last = {after.launches - before.launches, after.graphs - before.graphs,
                after.nodes - before.nodes};
    }
    result.more.emplace_back("host_s", best);
    result.more.emplace_back("host_launches", static_cast<double>(last.launches));
    result.more.emplace_back("host_graphs", static_cast<double>(last.graphs));
    result.more.emplace_back("host_graph_nodes", static_cast<double>(last.nodes));
}

}  // namespace

double fastest(const Device& device, int repeats, int batch, const std::function<void()>& call) {
    double best = 1e300;
    device.synchronize();
    backend::wait_for_all_code();
    const double start = now();
    for (int r = 0; r < repeats || (repeats > 1 && now() - start < 2.0 && r < 50); ++r) {
        const double t = now();
        for (int k = 0; k < batch; ++k) call();
        device.synchronize();
        best = std::min(best, (now() - t) / batch);
    }
    return best;
}

double norm(const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
}

BenchResult run_scene(const SceneBench& bench, const BenchOptions& options) {
    Registry registry;
    register_all_modules(registry);
    SimulationOptions so;
    so.device = std::make_shared<Device>(options.device);
    so.precision = options.precision;
    Simulation simulation(Scene::parse(bench.scene, bench.workload), registry, so);
    Parameters& parameters = simulation.parameters();
    const std::vector<double> start = parameters.values();
    BenchResult result{.workload = bench.workload, .n = bench.n, .steps = simulation.steps()};
    result.program_steps = result.steps;
    result.loss = simulation.run(true);
    const std::vector<double> gradient = simulation.gradient();
    if (bench.look)
        bench.look(gradient, result);
    else
        result.gradients = {{bench.gradient_name, gradient}};
    result.traffic = traffic_of(simulation);
    const int repeats = std::min(options.repeats, bench.most_repeats);
    result.forward_s = fastest(*so.device, repeats, bench.batch, [&] { simulation.run(false); });
    std::vector<double> p = start;
    int iterations = 0;
    // On a GPU the update stays there, as it does in an optimization.
    std::unique_ptr<optim::GradientRule> rule;
    std::unique_ptr<Descent> descent;
    if (so.device->cuda() && bench.rate != 0) {
        optim::Settings settings;
        settings.type = optim::RuleType::gradient_descent;
        settings.rate = bench.rate;
        constexpr double any = std::numeric_limits<double>::infinity();
        const std::size_t n = start.size();
        const optim::Variables variables{std::vector<double>(n, -any), std::vector<double>(n, any),
                                         std::vector<double>(n, 1.0), std::vector<bool>(n)};
        rule = std::make_unique<optim::GradientRule>(settings, variables, so.device);
        descent = std::make_unique<Descent>(simulation, *rule, 0);
        descent->start_at(start);
    }
    const auto iterate = [&] {
        if (descent) {
            descent->evaluate();
            descent->update();
            if (++iterations % 30 == 0) descent->start_at(start);
            return;
        }
        simulation.run(true);
        const std::vector<double> g = simulation.gradient();
        if (bench.rate == 0) return;
        if (++iterations % 30 == 0) p = start;  // stay where the work is the same
        for (std::size_t k = 0; k < p.size(); ++k) p[k] -= bench.rate * g[k];
        parameters.set_values(p);
    };
    result.forward_backward_s = fastest(*so.device, repeats, bench.batch, iterate);
    if (so.device->cuda()) measure_host(*so.device, options.repeats, iterate, result);
    result.compile_s = so.device->statistics().seconds;  // of functions of whole runs too
    result.traffic.joined = static_cast<std::int64_t>(simulation.rollout().step_launches().joined);
    result.runs = simulation.rollout().whole_program_report();
    result.more.emplace_back("history_mb",
                             static_cast<double>(simulation.rollout().kept_bytes()) / 1048576.0);
    if (bench.after) bench.after(simulation, result);
    return result;
}

double triad_bandwidth(const BenchOptions& options, double bytes) {
    using namespace lang;
    static std::map<std::int64_t, double> measured;  // by elements
    const std::int64_t n = std::max<std::int64_t>(1024, static_cast<std::int64_t>(bytes / 12));
    if (const auto known = measured.find(n); known != measured.end()) return known->second;
    const KernelDef triad = kernel("triad", {"s", "b", "c", "a"},
                                   [](Int i, Param<Float> s, Read<Float> b, Read<Float> c,
                                      Write<Float> a) { a[i] = b[i] + s.value() * c[i]; });
    const auto device = std::make_shared<Device>(options.device);
    const Array a(ir::Type::f32, {n}), b(ir::Type::f32, {n}), c(ir::Type::f32, {n});
    b.fill(1), c.fill(2);
    const Launch launch(device, triad, ir::Precision::f32, n, {0.5, b, c, a});
    const Launch::Replay replay = launch.forward();
    replay.run();
    const int batch = static_cast<int>(std::clamp<std::int64_t>((1 << 24) / n, 1, 1000));
    const double seconds = fastest(*device, options.repeats, batch, [&] { replay.run(); });
    return measured[n] = 12.0 * static_cast<double>(n) / seconds;
}

}  // namespace hindcast::cli
