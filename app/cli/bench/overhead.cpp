// Workloads that consist of overhead.
//
//   launch_overhead  y[i] = a x[i] + y0[i] over 8 elements, a = 1.5, x[i] = (i + 1) / 8,
//                    y0[i] = 1 / (i + 1); seconds per replay of one recorded launch and of its
//                    adjoint, 20 000 of each. Loss: the sum of y.
//   spring_cage      scenes/spring_cage.json: 1 free mass, 8 springs, 30 steps; one iteration =
//                    forward + backward + update of the eight rest lengths.
#include "app/cli/bench/bench.hpp"

namespace hindcast::cli {

const char* const spring_cage_scene = R"json({
    "format": 1, "time": {"step": "1/30", "steps": 30}, "gravity": [0, 0, -9.81],
    "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0]]},
               {"type": "particles", "name": "anchors", "fixed": true, "positions": [[0.2, -0.7, 0.8], [1.1, 0, 0.2],
                [-1.2, 0.1, 0.1], [0.4, 0.6, 0.4], [-0.2, 0.7, -0.9], [0.1, -0.8, -0.8], [-0.8, -0.9, 0.2], [-0.1, 1, 0.4]]}],
    "forces": [{"type": "springs", "name": "cage", "stiffness": 100, "damping": 10, "connect": [["ball", 0, "anchors", 0],
                ["ball", 0, "anchors", 1], ["ball", 0, "anchors", 2], ["ball", 0, "anchors", 3], ["ball", 0, "anchors", 4],
                ["ball", 0, "anchors", 5], ["ball", 0, "anchors", 6], ["ball", 0, "anchors", 7]]}],
    "objective": [{"type": "point_target", "of": "ball", "target": [0.375, 0.125, 0.25]}],
    "parameters": [{"path": "cage.rest_length"}]})json";

namespace {

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
    result.gradients = {{"x", x.gradient().to_doubles()}};
    result.compile_s = device->statistics().seconds;
    const double f = fastest(*device, options.repeats, launches, [&] { forward.run(); });
    const double a = fastest(*device, options.repeats, launches, [&] { adjoint.run(); });
    const double s = fastest(*device, options.repeats, launches, [&] {
        launch.set(0, 1.5);
        forward.run();
    });
    result.forward_s = f * launches;
    result.forward_backward_s = (f + a) * launches;
    result.traffic.launches = result.traffic.adjoints = 1;
    result.more = {{"launch_s", f}, {"adjoint_s", a}, {"set_and_launch_s", s}};
    return result;
}

BenchResult spring_cage(const BenchOptions& options) {
    return run_scene({.workload = "spring_cage",
                      .scene = spring_cage_scene,
                      .n = 1,
                      .batch = 200,
                      .rate = 0.5,
                      .gradient_name = "rest"},
                     options);
}

}  // namespace

std::vector<Workload> overhead_workloads() {
    return {{"launch_overhead", "20 000 launches over 8 elements",
             [](const BenchOptions& o) { return std::vector{launch_overhead(o)}; }},
            {"spring_cage", "1 mass, 8 springs, 30 steps, with the update of the parameters",
             [](const BenchOptions& o) { return std::vector{spring_cage(o)}; }}};
}

}  // namespace hindcast::cli
