// Batches of members that go their own ways, and gradients through windows of their steps, from C++
// (engine/sim/runs): the states of runs alone, differences of windows that are run again, whole runs
// as the sum of their windows.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/sim/runs/scene_batch.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/paths.hpp"

using namespace hindcast;
using runs::SceneBatch;
using runs::SceneRuns;

namespace {

constexpr std::int64_t steps_before = 9, steps_within = 7;
const std::vector<double> stiffnesses{80, 100, 130};

SimulationOptions options() {
    SimulationOptions options;
    options.device = test::devices().back();
    options.precision = ir::Precision::f64;
    return options;
}

Scene cage() { return Scene::load(std::string(test::source_dir) + "/scenes/spring_cage.json"); }

SceneBatch batch_of(const std::vector<double>& stiffness) {
    return {cage(), test::all_modules(), options(), stiffness.size()};
}

std::vector<double> doubles(const SceneBatch::Observation& seen) {
    REQUIRE(seen.type == ir::Type::f64);
    std::vector<double> numbers(seen.bytes.size() / sizeof(double));
    std::memcpy(numbers.data(), seen.bytes.data(), seen.bytes.size());
    return numbers;
}

double dot(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

TEST_CASE("batch: each member has the bits of a run alone, wherever it is") {
    SceneBatch batch = batch_of(stiffnesses);
    batch.set("cage.stiffness", {}, stiffnesses);
    batch.reset({});
    batch.step({}, 4);
    batch.step({1, 0, 1}, 5);
    CHECK(batch.steps_done() == std::vector<std::int64_t>{9, 4, 9});
    const std::vector<double> all = doubles(batch.observe("position"));
    const std::size_t n = all.size() / stiffnesses.size();
    for (std::size_t m = 0; m < stiffnesses.size(); ++m) {
        CAPTURE(m);
        Scene scene = cage();
        scene.set("cage.stiffness", std::to_string(stiffnesses[m]));
        SimulationOptions alone = options();
        alone.steps = batch.steps_done()[m];
        Simulation simulation(scene, test::all_modules(), alone);
        simulation.run();
        const std::vector<double> position = simulation.model().array("position").to_doubles();
        REQUIRE(position.size() == n);
        for (std::size_t k = 0; k < n; ++k) CHECK(all[n * m + k] == position[k]);
    }
}

TEST_CASE("batch: gradients through a window are those of differences, from values and states") {
    SceneBatch batch = batch_of(stiffnesses);
    batch.set("cage.stiffness", {}, stiffnesses);
    batch.reset({});
    batch.step({}, steps_before);
    const std::vector<SceneBatch::Member> start = batch.save();
    std::vector<double> cotangent(doubles(batch.observe("position")).size());
    const std::size_t n = cotangent.size() / stiffnesses.size();
    for (std::size_t k = 0; k < cotangent.size(); ++k) cotangent[k] = std::sin(1.0 + double(k));
    const SceneBatch::Gradients found =
        batch.pull_back({.paths = {"cage.stiffness", "cage.rest_length"},
                         .states = {"velocity"},
                         .steps = steps_within,
                         .loss_weight = 0,
                         .cotangents = {{"position", cotangent}}});
    CHECK(batch.steps_done() ==
          std::vector<std::int64_t>(3, steps_before));  // it stays where it was
    REQUIRE(found.by_path[0].size() == 3);
    REQUIRE(found.by_state[0].size() == cotangent.size());

    // cotangent * position after the window, with the member's stiffness moved.
    const auto moved = [&](std::size_t member, double by) {
        std::vector<double> values = stiffnesses;
        values[member] += by;
        batch.restore({}, start);
        batch.set("cage.stiffness", {}, values);
        batch.step({}, steps_within);
        const std::vector<double> at = doubles(batch.observe("position"));
        return dot(std::span(at).subspan(n * member, n),
                   std::span<const double>(cotangent).subspan(n * member, n));
    };
    for (std::size_t m = 0; m < 3; ++m) {
        CAPTURE(m);
        const double h = 1e-3 * stiffnesses[m];
        const double difference =
            (8 * (moved(m, h) - moved(m, -h)) - (moved(m, 2 * h) - moved(m, -2 * h))) / (12 * h);
        CHECK(found.by_path[0][m] == doctest::Approx(difference).epsilon(1e-8));
    }
    // Along the gradient itself: velocities where the window begins.
    batch.set("cage.stiffness", {}, stiffnesses);
    const auto along = [&](double by) {
        batch.restore({}, start);
        std::vector<double> velocity = doubles(batch.observe("velocity"));
        for (std::size_t k = 0; k < velocity.size(); ++k) velocity[k] += by * found.by_state[0][k];
        // A reset with these states, and the same place as before.
        const std::vector<double> position = doubles(batch.observe("position"));
        batch.reset({}, {{"position", position}, {"velocity", velocity}});
        batch.step({}, steps_within);
        return dot(doubles(batch.observe("position")), cotangent);
    };
    const double h = 1e-3;
    const double difference =
        (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h);
    CHECK(dot(found.by_state[0], found.by_state[0]) == doctest::Approx(difference).epsilon(1e-8));
}

TEST_CASE("batch: the window of a whole run has the gradient of the run") {
    SceneBatch batch = batch_of(stiffnesses);
    batch.set("cage.stiffness", {}, stiffnesses);
    batch.reset({});
    const SceneBatch::Gradients whole = batch.gradients({"cage.stiffness"});
    const SceneBatch::Gradients window = batch.pull_back({.paths = {"cage.stiffness"},
                                                          .states = {},
                                                          .steps = batch.steps(),
                                                          .loss_weight = 1,
                                                          .cotangents = {}});
    for (std::size_t m = 0; m < 3; ++m) {
        CAPTURE(m);
        CHECK(window.losses[m] == whole.losses[m]);
        CHECK(window.by_path[0][m] == doctest::Approx(whole.by_path[0][m]).epsilon(1e-12));
    }
}

TEST_CASE("batch: what cannot be is an error that names it") {
    SceneBatch batch = batch_of(stiffnesses);
    const std::vector<double> two{1, 2};
    CHECK_THROWS_AS(batch.set("cage.stiffness", {}, two), runs::ArgumentFault);
    CHECK_THROWS_AS(batch.set("cage.stifness", {}, stiffnesses), runs::ArgumentFault);
    CHECK_THROWS_AS(batch.step({1, 0}, 1), runs::ArgumentFault);
    CHECK_THROWS_AS(batch.step({}, -1), runs::ArgumentFault);
    CHECK_THROWS_AS(batch.pull_back({.paths = {"cage.stiffness"},
                                     .states = {"ball.speed"},
                                     .steps = 1,
                                     .loss_weight = 1,
                                     .cotangents = {}}),
                    runs::ArgumentFault);
    // What was refused has changed nothing.
    CHECK(batch.steps_done() == std::vector<std::int64_t>(3, 0));
}
