// Scenes within a budget of gradient memory: the same bits under every plan, the peak that was
// predicted, horizons, runs that diverge, and Newton's method on a scene.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "engine/base/aligned.hpp"
#include "engine/base/error.hpp"
#include "engine/base/pages.hpp"
#include "engine/document/read.hpp"
#include "engine/sim/gradients/gradient_check.hpp"
#include "engine/sim/non_finite.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/kernels/kernel_harness.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/program.hpp"
#include "tests/support/scenes.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;

namespace {

SimulationOptions options_for(ir::Precision precision = ir::Precision::f64) {
    SimulationOptions options;
    options.device = test::devices().back();
    options.precision = precision;
    return options;
}

// A chain of springs that hangs from its first point and is pulled by the stiffness.
std::string chain(int points, int steps, const std::string& more = "") {
    std::string positions;
    for (int i = 0; i < points; ++i)
        positions += (i > 0 ? ", [" : "[") + std::to_string(0.1 * i) + ", 0, 0]";
    return R"({"format": 1, "time": {"step": 0.001, "steps": )" + std::to_string(steps) + R"(},
        "bodies": [{"type": "particles", "name": "rope", "fixed": [0], "positions": [)" +
           positions + R"(]}],
        "forces": [{"type": "springs", "name": "links", "connect": {"chain": "rope"},
                    "stiffness": 200}],
        "objective": [{"type": "point_target", "of": "rope", "target": [0, 0, -1]}],
        "parameters": [{"path": "links.stiffness"}])" +
           more + "}";
}

}  // namespace

// In f32 here; the scripted tests of the scenes recompute from checkpoints in both precisions.
TEST_CASE("gradient memory: every bundled scene has the same bits under every plan") {
    std::mt19937 random(3);
    for (const std::filesystem::path& file : test::bundled_scenes()) {
        CAPTURE(file.filename().string());
        Simulation simulation(Scene::load(file), test::all_modules(),
                              options_for(ir::Precision::f32));
        if (simulation.parameters().size() == 0 || simulation.model().terms().empty() ||
            !test::affordable(simulation))
            continue;
        const double loss = simulation.run(true);
        const std::vector<double> expected = simulation.gradient();
        const Hash128 hash = simulation.state_hash().digest();
        REQUIRE(simulation.rollout().plan().kind == PlanKind::store_all);
        const std::int64_t steps = simulation.steps();
        for (const bool equal : {true, false}) {
            // Few checkpoints for many segments take long.
            const std::int64_t segment =
                std::max<std::int64_t>(steps / static_cast<std::int64_t>(3 + random() % 15), 1);
            const std::int64_t checkpoints =
                equal ? steps : static_cast<std::int64_t>(2 + random() % 3);
            CAPTURE(segment);
            CAPTURE(checkpoints);
            simulation.rollout().force_plan(segment, checkpoints);
            CHECK(simulation.run(true) == loss);
            CHECK(test::same_bits(simulation.gradient(), expected));
            CHECK((simulation.state_hash().digest() == hash));
            CHECK(simulation.loss() == loss);
        }
    }
}

TEST_CASE("gradient memory: Hessian products have the same bits under every plan") {
    for (const char* name : {"spring_cage", "mass_spring_simple"}) {
        CAPTURE(name);
        const Scene scene =
            Scene::load(std::string(hindcast::test::source_dir) + "/scenes/" + name + ".json");
        SimulationOptions options = options_for();
        options.steps = 20;
        Simulation simulation(scene, test::all_modules(), options);
        std::vector<double> direction(simulation.parameters().size());
        for (std::size_t k = 0; k < direction.size(); ++k)
            direction[k] = std::sin(1.0 + static_cast<double>(k));
        const std::vector<double> expected = simulation.hessian_product(direction);
        for (const auto& [segment, checkpoints] : {std::pair{3, 2}, {1, 5}, {7, 100}}) {
            simulation.rollout().force_plan(segment, checkpoints);
            CHECK(test::same_bits(simulation.hessian_product(direction), expected));
        }
    }
}

TEST_CASE("gradient memory: 100000 steps of springs within 64 MiB") {
    if (!test::has_cpu_device()) HINDCAST_SKIP("needs the compiled back end");
    const Scene scene = Scene::parse(chain(40, 100'000, R"(, "gradients": {"memory": "64 MiB"})"));
    Simulation simulation(scene, test::all_modules(), options_for());
    simulation.run(false, [](std::int64_t done) { return done < 1; });
    const std::int64_t before = memory_use().current;
    const CheckpointPlan plan = simulation.plan_gradients();
    reset_memory_peak();
    CHECK(plan.kind == PlanKind::equal_segments);
    CHECK(plan.peak_bytes <= (std::int64_t{64} << 20));
    const double loss = simulation.run(true);
    const std::vector<double> gradient = simulation.gradient();
    const auto measured = static_cast<double>(memory_use().peak - before);
    MESSAGE(plan.describe() << "; measured " << bytes_text(static_cast<std::int64_t>(measured)));
    CHECK(measured <= 64.0 * 1048576);
    CHECK(measured <= 1.2 * static_cast<double>(plan.peak_bytes));
    CHECK(std::isfinite(loss));
    // Against forward mode, which keeps nothing.
    const double forward = simulation.directional_derivative(std::vector<double>{1.0});
    CHECK(gradient[0] == doctest::Approx(forward).epsilon(1e-9));
}

TEST_CASE("gradient memory: the scene's budget, the caller's, and one that is too small") {
    const Scene scene = Scene::parse(chain(10, 200, R"(, "gradients": {"memory": "1 GiB"})"));
    SimulationOptions options = options_for();
    Simulation ample(scene, test::all_modules(), options);
    CHECK(ample.plan_gradients().kind == PlanKind::store_all);
    ample.run(true);
    const std::vector<double> expected = ample.gradient();

    options.gradient_memory = 40'000;
    Simulation tight(scene, test::all_modules(), options);
    CHECK(tight.plan_gradients().kind != PlanKind::store_all);
    CHECK(tight.plan_gradients().peak_bytes <= 40'000);
    tight.run(true);
    CHECK(test::same_bits(tight.gradient(), expected));

    options.gradient_memory = 100;
    Simulation none(scene, test::all_modules(), options);
    std::string message;
    try {
        none.plan_gradients();
    } catch (const Error& e) {
        message = e.what();
    }
    CHECK(message.find("gradients over 200 steps do not fit into 100 bytes of memory; the least "
                       "that works is ") == 0);
    CHECK(std::isfinite(none.run(false)));  // without gradients there is nothing to fit
    // What it says works.
    const std::size_t open = message.find('('), close = message.find(" bytes)");
    options.gradient_memory = std::stoll(message.substr(open + 1, close - open - 1));
    Simulation least(scene, test::all_modules(), options);
    least.run(true);
    CHECK(test::same_bits(least.gradient(), expected));
}

TEST_CASE("gradient memory: checkpoints in a file, which is gone afterward") {
    const test::TemporaryFolder folder;
    const Scene scene = Scene::parse(chain(10, 200));
    SimulationOptions options = options_for();
    Simulation ample(scene, test::all_modules(), options);
    ample.run(true);
    const std::vector<double> expected = ample.gradient();
    options.spill = folder.path();
    options.gradient_memory = 60'000;
    {
        Simulation spilled(scene, test::all_modules(), options);
        CHECK(spilled.plan_gradients().spilled);
        spilled.run(true);
        CHECK(std::filesystem::is_empty(folder.path()));  // the file has no name
        CHECK(test::same_bits(spilled.gradient(), expected));
    }
    options.spill = folder / "missing";
    Simulation nowhere(scene, test::all_modules(), options);
    CHECK_THROWS_AS(nowhere.plan_gradients(), Error);
}

TEST_CASE("gradient memory: sizes, and what a scene may say") {
    CHECK(parse_bytes("512 MiB") == std::int64_t{512} << 20);
    CHECK(parse_bytes("64MiB") == std::int64_t{64} << 20);
    CHECK(parse_bytes("1.5 GB") == 1'500'000'000);
    CHECK(parse_bytes("4096") == 4096);
    CHECK(parse_bytes("3 bytes") == 3);
    for (const char* wrong : {"", "MiB", "-1 MiB", "0", "1 mib", "1 MiB x", "nan", "inf", "1e40"})
        CHECK_THROWS_AS(parse_bytes(wrong), Error);
    CHECK(free_memory() > (std::int64_t{1} << 20));
    CHECK_THROWS_AS(Scene::parse(chain(3, 5, R"(, "gradients": {"memory": "much"})")), Error);
    CHECK_THROWS_AS(Scene::parse(chain(3, 5, R"(, "gradients": {"memory": 7})")), Error);
    CHECK_THROWS_AS(Scene::parse(chain(3, 5, R"(, "gradients": {"horizon": 0})")), Error);
    CHECK_THROWS_AS(Scene::parse(chain(3, 5, R"(, "gradients": {"horizn": 3})")), Error);
    Scene scene = Scene::parse(chain(3, 5, R"(, "gradients": {"horizon": 3})"));
    CHECK(scene.gradients().horizon == 3);
    CHECK(!scene.gradients().memory);
    scene.set("gradients.horizon", "4");
    CHECK(scene.gradients().horizon == 4);
}

TEST_CASE("gradient memory: a horizon in the scene counts whole steps") {
    // Free flight: x_n = x_0 + n h v + g h^2 n (n + 1) / 2. Over the last K of n steps a unit of
    // gravity moves the point by h^2 K (K + 1) / 2.
    for (const int substeps : {1, 4})
        for (const int horizon : {1, 7, 20}) {
            CAPTURE(substeps);
            CAPTURE(horizon);
            const Scene scene =
                Scene::parse(R"({"format": 1, "time": {"step": 0.1, "steps": 20, "substeps": )" +
                             std::to_string(substeps) + R"(}, "gravity": [0, 0, -2],
                "bodies": [{"type": "particles", "name": "b", "positions": [[1, 2, 3]]}],
                "objective": [{"type": "point_target", "of": "b", "target": [0, 0, 0]}],
                "parameters": [{"path": "gravity"}], "gradients": {"horizon": )" +
                             std::to_string(horizon) + "}}");
            Simulation s(scene, test::all_modules(), options_for());
            s.run(true);
            const double h = 0.1 / substeps, k = horizon * substeps, n = 20 * substeps;
            const double z = 3 - 2 * h * h * n * (n + 1) / 2;
            CHECK(s.gradient()[2] ==
                  doctest::Approx(2 * z * h * h * k * (k + 1) / 2).epsilon(1e-12));
        }
}

TEST_CASE("diverging runs stop early, and say where") {
    // Springs far too stiff for the step: the chain explodes.
    const Scene scene = Scene::parse(
        chain(5, 100'000, R"(, "optimizer": {"type": "gradient_descent", "rate": 1})"));
    Simulation simulation(scene, test::all_modules(), options_for());
    simulation.parameters().set_values(std::vector<double>{1e9});
    std::int64_t steps = 0;
    const double loss = simulation.run(false, [&](std::int64_t done) {
        steps = done;
        return true;
    });
    CHECK(std::isnan(loss));
    REQUIRE(simulation.rollout().divergence());
    CHECK(steps == simulation.rollout().divergence()->step);
    CHECK(steps < 2000);
    CHECK(steps % Simulation::divergence_interval == 0);
    const std::string why = explain_loss(simulation);
    CAPTURE(why);
    CHECK(why.find("in step ") != std::string::npos);
    CHECK(why.find("launch '") != std::string::npos);
    Optimization optimization(simulation);
    const Optimization::Outcome outcome = optimization.run();
    CHECK(outcome.stop == Optimization::Stop::not_finite);
    // A run that is well is not stopped.
    simulation.parameters().set_values(std::vector<double>{100});
    CHECK(std::isfinite(simulation.run(false, [&](std::int64_t done) { return done < 1000; })));
    CHECK(!simulation.rollout().divergence());
}

TEST_CASE("gradient memory: on the command line") {
    HINDCAST_NEEDS_PROGRAM();
    const test::TemporaryFolder folder;
    const std::string cage = std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json";
    const auto optimize = [&](const std::string& name, std::vector<std::string> more) {
        std::vector<std::string> words = {"optimize",     cage, "--device", test::test_device(),
                                          "--iterations", "3",  "--output", name};
        words.insert(words.end(), more.begin(), more.end());
        const test::Finished run = test::run_program(words, folder.path());
        CAPTURE(run.err);
        CHECK(run.status == 0);
        return run.out;
    };
    const auto summary = [&](const std::string& name) {
        return document::Document::load(folder / name / "summary.json");
    };
    CHECK(optimize("all", {}).find("store all of 30 steps") != std::string::npos);
    const std::string out = optimize("few", {"--memory", "12kB", "--adjoint-norms"});
    CHECK(out.find("steps recomputed") != std::string::npos);
    CHECK(out.find("adjoint of the state") != std::string::npos);
    CHECK(std::filesystem::exists(folder / "few/adjoint_norms.csv"));
    const auto all = summary("all"), few = summary("few");
    CHECK(document::number_of(*all.root().find("best")->find("loss")) ==
          document::number_of(*few.root().find("best")->find("loss")));
    const document::Node& memory = *few.root().find("gradient_memory");
    CHECK(memory.find("plan")->string() == "equal segments");
    CHECK(memory.find("predicted_bytes")->integer() <= 12'000);
    CHECK(memory.find("measured_bytes")->integer() <= 12'000);
    CHECK(static_cast<double>(memory.find("measured_bytes")->integer()) <=
          1.2 * static_cast<double>(memory.find("predicted_bytes")->integer()));
    const test::Finished none = test::run_program(
        {"optimize", cage, "--device", test::test_device(), "--memory", "1kB"}, folder.path());
    CHECK(none.status == 1);
    CHECK(none.err.find("the least that works is ") != std::string::npos);
}

TEST_CASE("newton_cg on the spring cage") {
    Scene scene = Scene::load(std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json");
    scene.document().set(
        "/optimizer",
        document::Document::parse(R"({"type": "newton_cg", "iterations": 12})").root());
    Simulation simulation(scene, test::all_modules(), options_for());
    Optimization optimization(simulation);
    std::vector<double> losses;
    optimization.run([&](const Optimization::Row& row) {
        losses.push_back(row.loss);
        return true;
    });
    REQUIRE(losses.size() > 3);
    CHECK(losses[0] == doctest::Approx(.239205878825));
    for (std::size_t k = 1; k < losses.size(); ++k) CHECK(losses[k] < losses[k - 1]);
    // Gradient descent needs 30 iterations for a loss of 1e-9; Newton's method converges faster
    // than any geometric series.
    CHECK(losses.back() < 1e-16);
    CHECK(losses.size() <= 10);
}

TEST_CASE("gradient check: growth of adjoints is reported") {
    const Scene scene = Scene::parse(chain(5, 100));
    GradientCheckOptions wanted;
    wanted.entries = 1;
    wanted.directions = 1;
    const GradientReport report =
        check_gradients(scene, test::all_modules(), options_for(), wanted);
    CHECK(report.passed());
    REQUIRE(report.adjoint_norms.norms.size() == 101);
    CHECK(report.adjoint_norms.norms.back() > 0);
    CHECK(to_text(report).find("growth ") != std::string::npos);
}
