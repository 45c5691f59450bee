// Identification of scenes: exact Jacobians, shots that meet, the pendulum's five numbers from noisy
// data, and another recording.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/sim/identification/findings.hpp"
#include "engine/sim/identification/identification.hpp"
#include "tests/identification/measured_scene.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/paths.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// A stone thrown up: height, speed and gravity from its flight; the steps have a closed form.
const char* const throw_scene = R"({"format": 1, "time": {"step": 0.05, "steps": 20},
  "gravity": [0, 0, -9], "bodies": [{"type": "particles", "name": "stone",
    "positions": [[0, 0, 1]], "velocity": [0, 0, 3]}],
  "objective": [{"type": "measured", "name": "camera", "of": "stone", "file": "flight.csv",
    "channels": [{"column": "z", "array": "position", "component": 2}], "sigma": 0.01}],
  "parameters": [{"path": "stone.positions", "components": ["z"]},
                 {"path": "stone.velocity", "components": ["z"]},
                 {"path": "gravity", "components": ["z"]}]})";

// x_k = x + k h v + k (k + 1) / 2 h^2 g.
double height(double x, double v, double g, int k) {
    return x + 0.05 * k * v + 0.5 * k * (k + 1) * 0.0025 * g;
}

std::string flight(double x, double v, double g, bool noisy) {
    std::string text = "time,z\n";
    for (int k = 0; k <= 20; ++k)
        text += std::to_string(0.05 * k) + "," +
                std::to_string(height(x, v, g, k) + (noisy ? 0.01 * std::sin(7.0 * k * k) : 0)) +
                "\n";
    return text;
}

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("identification: a throw, with the Jacobian in closed form") {
    const TemporaryFolder folder;
    put_file(folder, "flight.csv", flight(1.2, 4, -9.8, false));
    const auto simulation = measured_scene(folder, throw_scene);
    Identification identification(*simulation);
    const optim::DenseMatrix jacobian =
        identification.function().jacobian(simulation->parameters().values());
    REQUIRE(jacobian.rows == 21);
    for (std::size_t k = 0; k <= 20; ++k) {
        const double n = static_cast<double>(k);
        CHECK(jacobian(k, 0) == doctest::Approx(1 / 0.01));
        CHECK(jacobian(k, 1) == doctest::Approx(0.05 * n / 0.01));
        CHECK(jacobian(k, 2) == doctest::Approx(0.5 * n * (n + 1) * 0.0025 / 0.01));
    }
    const auto fits = identification.fit({simulation->parameters().values()}, {});
    const auto& result = fits[0].result;
    CHECK(result.values[0] == doctest::Approx(1.2).epsilon(1e-5));
    CHECK(result.values[1] == doctest::Approx(4).epsilon(1e-5));
    CHECK(result.values[2] == doctest::Approx(-9.8).epsilon(1e-5));
    const auto agreement = identification.agreement(result.residuals);
    REQUIRE(agreement.size() == 1);
    CHECK(agreement[0].count == 21);
    CHECK(agreement[0].rms < 1e-6);
}

TEST_CASE("identification: rows in reverse mode where there are fewer residuals than parameters") {
    const TemporaryFolder folder;
    put_file(folder, "flight.csv", "time,z\n0.2,1\n0.5,2\n");
    const auto simulation = measured_scene(folder, throw_scene);
    ResidualFunction function(*simulation);
    const optim::DenseMatrix jacobian = function.jacobian(simulation->parameters().values());
    for (const auto& [row, n] : {std::pair<std::size_t, double>{0, 4}, {1, 10}}) {
        CHECK(jacobian(row, 0) == doctest::Approx(1 / 0.01));
        CHECK(jacobian(row, 1) == doctest::Approx(0.05 * n / 0.01));
        CHECK(jacobian(row, 2) == doctest::Approx(0.5 * n * (n + 1) * 0.0025 / 0.01));
    }
}

TEST_CASE("identification: a delay's derivative is the speed") {
    const TemporaryFolder folder;
    put_file(folder, "flight.csv", "time,z\n0.22,1\n0.51,2\n");
    std::string scene = throw_scene;
    scene.replace(scene.find(R"("sigma": 0.01)"), 13, R"("sigma": 0.01, "delay": 0.03)");
    scene.replace(scene.find(R"("parameters": [)"), 15,
                  R"("parameters": [{"path": "camera.delay"}, )");
    const auto simulation = measured_scene(folder, scene);
    ResidualFunction function(*simulation);
    const auto values = simulation->parameters().values();
    const optim::DenseMatrix jacobian = function.jacobian(values);
    // The slope of the cubic through the steps, in its own basis.
    for (const auto& [row, time] : {std::pair<std::size_t, double>{0, 0.19}, {1, 0.48}}) {
        const int k = static_cast<int>(time / 0.05);
        const double t = time / 0.05 - k;
        const auto x = [](int n) { return height(1, 3, -9, n); };
        const auto v = [](int n) { return 3 - 9 * 0.05 * n; };
        const double slope = (x(k + 1) - x(k)) * 6 * t * (1 - t) / 0.05 +
                             v(k) * (1 - 4 * t + 3 * t * t) + v(k + 1) * (3 * t * t - 2 * t);
        CHECK(jacobian(row, 0) == doctest::Approx(-slope / 0.01).epsilon(1e-9));
    }
}

TEST_CASE("identification: what the data cannot tell is said") {
    const TemporaryFolder folder;
    put_file(folder, "flight.csv", flight(1.2, 4, -9.8, false));
    std::string scene = throw_scene;
    // An offset of what is measured and the height of the throw are one number.
    scene.replace(scene.find(R"("parameters": [)"), 15,
                  R"("parameters": [{"path": "camera.offset"}, )");
    const auto simulation = measured_scene(folder, scene);
    Identification identification(*simulation);
    const auto check = identification.check();
    REQUIRE_FALSE(check.findings.empty());
    CHECK(contains(check.findings[0], "camera.offset"));
    CHECK(contains(check.findings[0], "stone.positions[0].z"));
    CHECK(contains(check.findings[0], "changes nothing"));
    CHECK(check.found.own_part[0] == 0);
    CHECK(check.found.own_part[2] > 0.01);
    const auto fits = identification.fit({simulation->parameters().values()}, {});
    const optim::FitStatistics statistics = identification.statistics(fits[0].result);
    CHECK(statistics.is_singular);
    CHECK(std::isinf(statistics.standard_errors[0]));
    CHECK(std::isfinite(statistics.standard_errors[3]));
}

TEST_CASE("identification: several starts, and other data") {
    const TemporaryFolder folder, elsewhere;
    put_file(folder, "flight.csv", flight(1.2, 4, -9.8, true));
    put_file(elsewhere, "second.csv", flight(1.2, 4, -9.8, false));
    std::string scene = throw_scene;
    const auto bound = [&](const std::string& path, const std::string& bounds) {
        const auto at = scene.find("{\"path\": \"" + path);
        scene.insert(at + 1, "\"bounds\": " + bounds + ", ");
    };
    bound("stone.positions", "[-5, 5]");
    bound("stone.velocity", "[-9, 9]");
    CHECK(contains(message([&] {
                       const auto s = measured_scene(folder, scene);
                       Identification(*s).starts(2, 0);
                   }),
                   "'gravity' has no bounds"));
    bound("gravity", "[-20, 0]");
    const auto simulation = measured_scene(folder, scene);
    Identification identification(*simulation);
    const auto starts = identification.starts(4, 1);
    CHECK(starts[0] == simulation->parameters().values());
    CHECK(starts[1] != starts[2]);
    const auto fits = identification.fit(starts, {});
    CHECK(Identification::agreeing(fits) == 4);

    simulation->parameters().set_values(fits[Identification::best(fits)].result.values);
    SimulationOptions options = simulation->options();
    options.allowed_paths = {elsewhere.path()};
    Simulation other(with_other_data(simulation->scene(), "", elsewhere / "second.csv"),
                     all_modules(), options);
    CHECK(take_identified(*simulation, other).empty());
    Identification second(other);
    const auto agreement =
        second.agreement(second.function().residuals(other.parameters().values()));
    CHECK(agreement[0].rms < 0.01);
    CHECK(contains(message([&] { with_other_data(simulation->scene(), "flght.csv", "x"); }),
                   "did you mean 'flight.csv'"));
}

TEST_CASE("identification: objectives without residuals are refused") {
    const TemporaryFolder folder;
    put_file(folder, "flight.csv", flight(1.2, 4, -9.8, false));
    std::string scene = throw_scene;
    scene.replace(
        scene.find(R"("objective": [)"), 14,
        R"("objective": [{"type": "point_target", "name": "hit", "of": "stone", "target": [0, 0, 0]}, )");
    CHECK(contains(message([&] {
                       const auto s = measured_scene(folder, scene);
                       const ResidualFunction function(*s);
                   }),
                   "'hit' is not a sum over residuals"));
}

TEST_CASE("identification: five numbers of a pendulum from noisy data, from five starts") {
    HINDCAST_NEEDS_MUJOCO();
    if (!has_cpu_device()) HINDCAST_SKIP("without compiled kernels this takes minutes");
    // One trajectory from rest, of the bundled scene's data, with the numbers that made them.
    document::Document document =
        document::Document::load(std::string(source_dir) + "/scenes/robots/measured_pendulum.json");
    document.erase("/controllers/1");  // shots
    document.erase("/objective/1");    // that meet
    document.erase("/parameters/6");
    document.erase("/parameters/5");
    SimulationOptions options;
    options.device = cpu_device();
    options.precision = ir::Precision::f64;
    options.steps = 600;
    Simulation simulation(
        Scene::of(std::move(document),
                  std::string(source_dir) + "/scenes/robots/measured_pendulum.json"),
        all_modules(), options);
    Identification identification(simulation);
    std::vector<Identification::Point> starts = identification.starts(6, 0);
    starts.erase(starts.begin());  // random ones alone
    const auto fits = identification.fit(starts, {});
    CHECK(Identification::agreeing(fits) == 5);
    const auto& result = fits[Identification::best(fits)].result;
    const optim::FitStatistics statistics = identification.statistics(result);
    CHECK(statistics.scale == doctest::Approx(1).epsilon(0.1));
    // J less that of the point mass; m c / 1 mm; Fv; Fc pi / 2; minus the offset (make_pendulum.py).
    const double truth[] = {0.06259 - 102.2e-6 - 1e-9, 102.2, 0.04707, 0.1839 * 1.5707963267948966,
                            0.07586};
    for (std::size_t k = 0; k < 5; ++k) {
        CAPTURE(simulation.parameters().names()[k]);
        CHECK(std::fabs(result.values[k] - truth[k]) < 2 * statistics.standard_errors[k]);
        CHECK(statistics.standard_errors[k] < 0.1 * truth[k]);
    }
}

TEST_CASE("identification: what an arm holds, and that its hand's mass cannot be told from it") {
    HINDCAST_NEEDS_MUJOCO();
    if (!has_cpu_device()) HINDCAST_SKIP("without compiled kernels this takes minutes");
    const std::string file = std::string(source_dir) + "/scenes/robots/arm_payload.json";
    SimulationOptions options;
    options.device = cpu_device();
    options.precision = ir::Precision::f64;
    {
        Simulation simulation(Scene::load(file), all_modules(), options);
        Identification identification(simulation);
        CHECK(identification.check().findings.empty());
        const auto fits = identification.fit({simulation.parameters().values()}, {});
        const auto& result = fits[0].result;
        const optim::FitStatistics statistics = identification.statistics(result);
        CHECK(statistics.scale == doctest::Approx(1).epsilon(0.1));
        // data/make_arm.py, in which MuJoCo moves the arm.
        const double truth[] = {2.3, 0.032, -0.018, 0.071, 0.006, 0.013, 0.015};
        for (std::size_t k = 0; k < 7; ++k) {
            CAPTURE(simulation.parameters().names()[k]);
            CHECK(std::fabs(result.values[k] - truth[k]) < 2 * statistics.standard_errors[k]);
            CHECK(statistics.standard_errors[k] < 0.05 * std::fabs(truth[k]));
        }
    }
    // Links that move as one body have one mass, one center and one inertia.
    document::Document document = document::Document::load(file);
    document.insert("/parameters/0", document::Node::object({{"path", "arm.body_mass[hand]"}}));
    Simulation simulation(Scene::of(std::move(document), file), all_modules(), options);
    const auto check = Identification(simulation).check();
    REQUIRE_FALSE(check.findings.empty());
    CHECK(contains(check.findings[0], "arm.body_mass[hand]"));
    CHECK(contains(check.findings[0], "arm.body_mass[payload]"));
}
