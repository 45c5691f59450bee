// The gradient check of scenes with a horizon: it compares the gradient of the last steps with
// differences of runs that begin there.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "engine/base/error.hpp"
#include "engine/sim/gradients/gradient_check.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;

namespace {

SimulationOptions options_for() {
    SimulationOptions options;
    options.device = test::devices().back();
    options.precision = ir::Precision::f64;
    return options;
}

std::string gradients(std::int64_t horizon) {
    return horizon > 0 ? R"(, "gradients": {"horizon": )" + std::to_string(horizon) + "}" : "";
}

// A point that falls: x_n = x_0 + n h v + g h^2 n (n + 1) / 2, h = 0.1, n = 20.
std::string flight(std::int64_t horizon) {
    return R"({"format": 1, "time": {"step": 0.1, "steps": 20}, "gravity": [0, 0, -2],
        "bodies": [{"type": "particles", "name": "b", "positions": [[1, 2, 3]]}],
        "objective": [{"type": "point_target", "of": "b", "target": [0, 0, 0]},
                      {"type": "point_target", "of": "b", "target": [0, 0, 0], "at": [0.3]}],
        "parameters": [{"path": "gravity", "components": ["z"]}, {"path": "b.velocity"}])" +
           gradients(horizon) + "}";
}

// A pendulum of two springs: steps depend on the parameters in every way there is.
std::string pendulum(std::int64_t horizon) {
    return R"({"format": 1, "time": {"step": 0.01, "steps": 60, "substeps": 2},
        "bodies": [{"type": "particles", "name": "p", "fixed": [0], "mass": 0.7,
                    "positions": [[0, 0, 0], [1, 0, 0], [2, 0.3, 0]]}],
        "forces": [{"type": "springs", "name": "s", "connect": {"chain": "p"}, "stiffness": 80}],
        "objective": [{"type": "point_target", "of": "p", "target": [0.5, 0.2, -1]},
                      {"type": "point_target", "of": "p", "target": [1, 0, 0], "at": [0.1, 0.5]}],
        "parameters": [{"path": "s.stiffness"}, {"path": "p.mass"}, {"path": "p.velocity"}])" +
           gradients(horizon) + "}";
}

GradientReport check(const std::string& scene, bool hessian = false) {
    GradientCheckOptions wanted;
    wanted.directions = 3;
    wanted.hessian = hessian;
    return check_gradients(Scene::parse(scene), test::all_modules(), options_for(), wanted);
}

}  // namespace

TEST_CASE("gradient check: differences within a horizon, in closed form") {
    const double h = 0.1, n = 20, z = 3 - 2 * h * h * n * (n + 1) / 2;
    for (const int horizon : {1, 7, 19}) {
        CAPTURE(horizon);
        const GradientReport report = check(flight(horizon));
        CHECK(report.passed());
        CHECK(report.horizon == horizon);
        CHECK(report.steps == 20);
        // The term at step 3 counts if it lies within the horizon, with the steps between.
        const double k = horizon, early = std::max(k - 17, 0.0);
        const double z3 = 3 - 2 * h * h * 3 * 4 / 2;
        const double slope =
            2 * z * h * h * k * (k + 1) / 2 + 2 * z3 * h * h * early * (early + 1) / 2;
        CHECK(report.entries[0].difference == doctest::Approx(slope).epsilon(1e-8));
        CHECK(report.entries[0].adjoint == doctest::Approx(slope).epsilon(1e-12));
        // The velocity is part of the state, which is taken as given.
        for (std::size_t e = 1; e < 4; ++e) {
            CHECK(report.entries[e].difference == 0);
            CHECK(report.entries[e].adjoint == 0);
        }
        CHECK(to_text(report).find("the last " + std::to_string(horizon) + " of 20 steps") !=
              std::string::npos);
    }
    for (const int horizon : {0, 20, 30}) {  // the whole run
        const GradientReport report = check(flight(horizon));
        CHECK(report.passed());
        CHECK(report.horizon == 0);
        CHECK(report.entries[3].difference ==
              doctest::Approx(2 * z * h * n + 2 * (3 - 2 * h * h * 6) * h * 3).epsilon(1e-8));
        CHECK(to_text(report).find("horizon") == std::string::npos);
    }
}

TEST_CASE("gradient check: gradients, forward mode and Hessian products within a horizon") {
    const GradientReport whole = check(pendulum(0), true);
    CHECK(whole.passed());
    for (const int horizon : {5, 20, 40}) {
        CAPTURE(horizon);
        const GradientReport report = check(pendulum(horizon), true);
        for (const std::string& failure : report.failures()) MESSAGE(failure);
        CHECK(report.passed());
        CHECK(report.loss == whole.loss);
        CHECK(std::fabs(report.entries[0].adjoint - whole.entries[0].adjoint) >
              1e-5 * std::fabs(whole.entries[0].adjoint));
    }
}

TEST_CASE("roll-out: runs that begin at the horizon") {
    Simulation s(Scene::parse(pendulum(10)), test::all_modules(), options_for());
    const double loss = s.run(true);
    const std::vector<double> gradient = s.gradient();
    const Hash128 state = s.state_hash().digest();
    s.rollout().start_at_horizon();
    for (const bool keep : {false, true}) {
        std::vector<std::int64_t> seen;
        CHECK(s.run(keep, [&](std::int64_t t) {
            seen.push_back(t);
            return true;
        }) == loss);
        CHECK(seen.size() == 21);  // of substeps
        CHECK(seen.front() == 100);
        CHECK((s.state_hash().digest() == state));
    }
    CHECK(s.gradient() == gradient);
    for (const int segment : {3, 7}) {
        s.rollout().force_plan(segment, 2);
        CHECK(s.run(true) == loss);
        CHECK(s.gradient() == gradient);
    }
    s.rollout().set_horizon(0);
    std::int64_t first = -1;
    s.run(false, [&](std::int64_t t) {
        if (first < 0) first = t;
        return true;
    });
    CHECK(first == 0);
    CHECK_THROWS_AS(s.rollout().start_at_horizon(), Error);
}

TEST_CASE("gradient check: a horizon on the command line") {
    HINDCAST_NEEDS_PROGRAM();
    const test::TemporaryFolder folder;
    const std::string scene = (folder / "scene.json").string();
    std::ofstream(scene) << flight(12);
    const auto run = [&](std::vector<std::string> more) {
        std::vector<std::string> words = {"check", scene, "--device", test::test_device()};
        words.insert(words.end(), more.begin(), more.end());
        const test::Finished finished = test::run_program(words, folder.path());
        CAPTURE(finished.err);
        CHECK(finished.status == 0);
        return finished.out;
    };
    CHECK(run({}).find("the last 12 of 20 steps") != std::string::npos);
    CHECK(run({"--set", "gradients.horizon=20"}).find("horizon") == std::string::npos);
}
