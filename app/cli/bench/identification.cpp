// The workload of identification.
//
//   identify_pendulum   four numbers of a pendulum from a recording of 2 s: the armature (kg m^2) and damping
//                       (N m s) of its joint, the mass of a point at 1 mm (kg), and a constant torque (N m).
//                       Rows k at t = k / 100 s:
//                         torque  0.9 sin(2 pi 0.6 t) + 0.7 sin(2 pi 1.1 t + 1) + 0.5 sin(2 pi 1.7 t + 2)
//                                 + 0.4 sin(2 pi 2.9 t + 3), on lines between the rows
//                         angle and speed: those of armature 0.0625, mass 102.2, damping 0.05, torque 0.076, by
//                                 the classical Runge-Kutta method with 30 steps between rows, and
//                                 0.014 sin(k^2), 0.14 sin(k^2 + 1) as noise; sigma 0.01, 0.1
//                       600 steps of 1/300 s in f64 by MuJoCo's RK4; from armature 0.1, mass 60, damping 0.1, torque 0.
//                       A fit is Levenberg's and Marquardt's method with exact Jacobians.
//
// Beside it: tests/bench/peers/identify_pendulum.py, the same in SciPy with differences by MuJoCo. One thread. It
// needs MuJoCo's library, so it runs only where it is named.
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numbers>

#include <fmt/format.h>

#include "app/cli/bench/bench.hpp"
#include "app/cli/temporary_folder.hpp"
#include "engine/sim/identification/identification.hpp"

namespace hindcast::cli {

namespace {

constexpr int rows = 201, parts = 30, rate = 100;
constexpr std::int64_t steps = 600;

const char* const model = R"(<mujoco><option timestep="0.0033333333333333335" integrator="RK4"/>
    <worldbody><body name="link"><joint name="motor" axis="0 -1 0" armature="0.1" damping="0.1"/>
    <inertial pos="0 0 -0.001" mass="60" diaginertia="1e-9 1e-9 1e-9"/></body></worldbody>
    <actuator><motor name="motor" joint="motor"/></actuator></mujoco>)";

const char* const scene = R"({"format": 1, "time": {"step": "1/300", "steps": 600}, "bodies": [{
    "type": "articulated", "name": "pendulum", "model": "pendulum.xml", "ctrl": [0]}],
    "controllers": [{"type": "recorded", "of": "pendulum", "file": "pendulum.csv", "columns": ["torque"]}],
    "objective": [{"type": "measured", "of": "pendulum", "file": "pendulum.csv", "sigma": [0.01, 0.1],
        "channels": [{"column": "angle", "array": "qpos"}, {"column": "speed", "array": "qvel"}]}],
    "parameters": [{"path": "pendulum.dof_armature", "bounds": [0.01, 0.5], "scale": "log"},
        {"path": "pendulum.body_mass[link]", "bounds": [10, 500], "scale": "log"},
        {"path": "pendulum.dof_damping", "bounds": [0, 0.5]},
        {"path": "pendulum.ctrl", "bounds": [-0.5, 0.5]}]})";

double torque(double t) {
    constexpr double turn = 2 * std::numbers::pi;
    return 0.9 * std::sin(turn * 0.6 * t) + 0.7 * std::sin(turn * 1.1 * t + 1) +
           0.5 * std::sin(turn * 1.7 * t + 2) + 0.4 * std::sin(turn * 2.9 * t + 3);
}

std::string recording() {
    using State = std::array<double, 2>;
    constexpr double mass = 102.2, arm = 1e-3, h = 1.0 / rate / parts;
    const auto rate_of = [](const State& s, double pull) {
        const double inertia = 0.0625 + mass * arm * arm + 1e-9;
        return State{s[1],
                     (pull + 0.076 - mass * arm * 9.81 * std::sin(s[0]) - 0.05 * s[1]) / inertia};
    };
    const auto moved = [](const State& s, const State& by, double t) {
        return State{s[0] + t * by[0], s[1] + t * by[1]};
    };
    std::string text = "time,angle,speed,torque\n";
    State s = {0, 0};
    for (int k = 0; k < rows; ++k) {
        const double now = torque(static_cast<double>(k) / rate), then = torque((k + 1.0) / rate);
        text += fmt::format("{:.17g},{:.17g},{:.17g},{:.17g}\n", static_cast<double>(k) / rate,
                            s[0] + 0.014 * std::sin(1.0 * k * k),
                            s[1] + 0.14 * std::sin(1.0 * k * k + 1), now);
        for (int p = 0; p < parts; ++p) {
            const auto pull = [&](double part) { return now + (then - now) * (p + part) / parts; };
            const State a = rate_of(s, pull(0)), b = rate_of(moved(s, a, h / 2), pull(0.5)),
                        c = rate_of(moved(s, b, h / 2), pull(0.5)),
                        d = rate_of(moved(s, c, h), pull(1));
            for (std::size_t i = 0; i < 2; ++i) s[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
        }
    }
    return text;
}

BenchResult identify_pendulum(const BenchOptions& options) {
    const TemporaryFolder folder;
    folder.write("pendulum.xml", model);
    folder.write("pendulum.csv", recording());
    Registry registry;
    register_all_modules(registry);
    SimulationOptions so;
    DeviceOptions device = options.device;
    device.threads = 1;
    so.device = std::make_shared<Device>(device);
    so.precision = ir::Precision::f64;
    Simulation simulation(
        Scene::of(document::Document::parse(scene, "pendulum"), folder.path() / "pendulum.json"),
        registry, so);
    Identification identification(simulation);
    const std::vector<double> start = simulation.parameters().values();
    std::vector<Identification::Fit> fits;
    const auto fit = [&] { fits = identification.fit({start}, {}); };
    fit();
    BenchResult result{
        .workload = "identify_pendulum", .n = 4, .steps = steps, .program_steps = steps};
    result.threads = 1;
    result.precision = ir::Precision::f64;
    result.loss = fits[0].result.cost;
    result.gradients = {{"estimate", fits[0].result.values}};
    simulation.parameters().set_values(start);
    result.forward_s = fastest(*so.device, options.repeats, 1, [&] { simulation.run(false); });
    result.forward_backward_s =
        fastest(*so.device, options.repeats, 1, [&] { identification.function().jacobian(start); });
    result.compile_s = so.device->statistics().seconds;
    result.runs = simulation.rollout().whole_program_report();
    result.more = {{"fit_s", fastest(*so.device, options.repeats, 1, fit)},
                   {"fit_iterations", static_cast<double>(fits[0].result.iterations)},
                   {"armature", fits[0].result.values[0]},
                   {"mass", fits[0].result.values[1]},
                   {"damping", fits[0].result.values[2]},
                   {"torque", fits[0].result.values[3]}};
    return result;
}

}  // namespace

std::vector<Workload> identification_workloads() {
    return {{"identify_pendulum", "four numbers of a pendulum from a recording: one fit",
             [](const BenchOptions& o) { return std::vector{identify_pendulum(o)}; }, false}};
}

}  // namespace hindcast::cli
