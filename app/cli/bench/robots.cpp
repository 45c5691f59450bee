// The workload of robots.
//
//   humanoid    scenes/robots/humanoid.xml from where it is drawn, 200 steps of 5 ms with all controls 0:
//               it sinks to its knees on eight contacts of elliptic cones. Beside it mj_step of MuJoCo's
//               own library on the same model in the same run (f64, Newton's solver, its own tolerance),
//               and 64 variants in SIMD lanes, whose pelvis is (0.8 + m / 160) times as heavy in variant
//               m. The gradient is by all controls of all steps and by the 14 masses.
//
// One thread throughout. It needs MuJoCo's library, so it runs only where it is named.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "app/cli/bench/bench.hpp"
#include "app/cli/bench/humanoid.hpp"
#include "app/cli/temporary_folder.hpp"
#include "engine/robot/mujoco_library.hpp"
#include "engine/robot/robot_model.hpp"
#include "engine/sim/ensembles/ensemble.hpp"

namespace hindcast::cli {

namespace {

constexpr std::int64_t steps = 200;
constexpr std::size_t members = 64;

// MuJoCo's own steps, through its public functions.
class Mujoco {
public:
    explicit Mujoco(const std::filesystem::path& folder)
        : compiled_(robot::mujoco_library().compile(humanoid_xml, folder / "humanoid.xml")),
          data_(call<void*(const void*)>("mj_makeData")(compiled_.memory.get())) {}
    ~Mujoco() { call<void(void*)>("mj_deleteData")(data_); }
    Mujoco(const Mujoco&) = delete;
    Mujoco& operator=(const Mujoco&) = delete;

    void run() const {
        const void* const model = compiled_.memory.get();
        call<void(const void*, void*)>("mj_resetData")(model, data_);
        auto* const step = call<void(const void*, void*)>("mj_step");
        for (std::int64_t k = 0; k < steps; ++k) step(model, data_);
    }

private:
    template <class F>
    static F* call(const char* name) {
        return reinterpret_cast<F*>(robot::mujoco_library().function(name));
    }
    robot::CompiledModel compiled_;
    void* data_;
};

std::string scene(bool with_controls) {
    return R"({"format": 1, "time": {"step": "1/200", "steps": 200}, "bodies": [{"type": "articulated",
        "name": "person", "model": "humanoid.xml", "max_contacts": 8}], "controllers": [{"type": "spline",
        "name": "muscles", "of": "person", "interpolation": "hold", "interval": "1/200", "values": {"formula": "0*i"}}],
        "objective": [{"type": "joint_target", "of": "person"}], "parameters": [)" +
           std::string(with_controls ? R"({"path": "muscles.values"}, )" : "") +
           R"({"path": "person.body_mass"}]})";
}

std::unique_ptr<Simulation> simulate(const BenchOptions& options, const Registry& registry,
                                     const TemporaryFolder& folder, bool with_controls) {
    SimulationOptions so;
    DeviceOptions device = options.device;
    device.threads = 1;
    so.device = std::make_shared<Device>(device);
    so.precision = options.precision;
    return std::make_unique<Simulation>(
        Scene::of(document::Document::parse(scene(with_controls), "humanoid"),
                  folder.path() / "humanoid.json"),
        registry, so);
}

BenchResult humanoid(const BenchOptions& options) {
    const TemporaryFolder folder;
    folder.write("humanoid.xml", humanoid_xml);
    const Mujoco mujoco(folder.path());
    Registry registry;
    register_all_modules(registry);
    const auto one = simulate(options, registry, folder, true),
               many = simulate(options, registry, folder, false);
    BenchResult result{.workload = "humanoid", .n = 26, .steps = steps, .program_steps = steps};
    result.threads = 1;
    result.loss = one->run(true);
    result.gradients = {{"controls and masses", one->gradient()}};
    std::vector<std::vector<double>> points(members, many->parameters().values());
    for (std::size_t m = 0; m < members; ++m) points[m][1] *= 0.8 + static_cast<double>(m) / 160;
    Ensemble ensemble(*many, {.members = members, .use = EnsembleUse::lanes});
    ensemble.evaluate(points, true);
    const Device& device = *one->options().device;
    double theirs = 1e300, lanes = 1e300, lanes_gradient = 1e300;
    result.forward_s = result.forward_backward_s = 1e300;
    // In turns, since ratios are what counts.
    for (int round = 0; round < (options.repeats > 1 ? 3 : 1); ++round) {
        const auto measure = [&](double& least, const std::function<void()>& call) {
            least = std::min(least, fastest(device, options.repeats, 1, call));
        };
        measure(theirs, [&] { mujoco.run(); });
        measure(result.forward_s, [&] { one->run(false); });
        measure(result.forward_backward_s, [&] {
            one->run(true);
            one->gradient();
        });
        measure(lanes, [&] { ensemble.evaluate(points, false); });
        measure(lanes_gradient, [&] { ensemble.evaluate(points, true); });
    }
    const double parameters = static_cast<double>(one->parameters().values().size());
    result.compile_s = device.statistics().seconds;
    result.runs = one->rollout().whole_program_report();
    result.more = {{"mujoco_forward_s", theirs},
                   {"forward_against_mujoco", theirs / result.forward_s},
                   {"ensemble_forward_s", lanes},
                   {"ensemble_against_mujoco", theirs * members / lanes},
                   {"ensemble_forward_backward_s", lanes_gradient},
                   {"gradient_against_forward", result.forward_backward_s / result.forward_s},
                   {"gradient_against_differences_of_mujoco",
                    theirs * (parameters + 1) / result.forward_backward_s}};
    return result;
}

}  // namespace

std::vector<Workload> robot_workloads() {
    return {{"humanoid", "a humanoid on eight contacts, against MuJoCo's own step",
             [](const BenchOptions& o) { return std::vector{humanoid(o)}; }, false}};
}

}  // namespace hindcast::cli
