// What is made once when a scene is loaded stays what it is, whatever changes the numbers that it
// was made from: an optimization, --set, --vary, or saving and loading again.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "engine/sim/ensembles/sweep.hpp"
#include "engine/sim/results/results.hpp"
#include "engine/sim/values/set_value.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hindcast {

namespace {

// Two points one meter apart and a spring whose rest length is "initial". Without gravity nothing
// moves; the loss of one step tells the places at which the points start, and the force.
const std::string two_points = R"({"format": 1, "name": "two", "time": {"step": 0.1, "steps": 2},
    "gravity": [0, 0, 0],
    "bodies": [{"type": "particles", "name": "a", "positions": [[0, 0, 0], [1, 0, 0]], "mass": 2,
                "velocity": {"formula": ["0", "0.5*x", "0"]}}],
    "forces": [{"type": "springs", "name": "rod", "connect": [["a", 0, "a", 1]], "stiffness": 3}],
    "objective": [{"type": "point_target", "of": "a", "points": [1], "target": [2, 0, 0]},
                  {"type": "regularization", "of": "a.positions", "weight": 0.125, "sum": true}],
    "parameters": [{"path": "a.positions[1].x"}]})";

SimulationOptions options() {
    SimulationOptions o;
    o.device = std::make_shared<Device>(DeviceOptions{.kind = DeviceKind::interpreter});
    o.precision = ir::Precision::f64;
    return o;
}

// By hand, in f64 rounding aside: the loss where point 1 starts at (x, 0, 0), the rest length and
// the velocity 0.5 in y being those of x = 1.
double expected_loss(double x) {
    double p[2][2] = {{0, 0}, {x, 0}}, v[2][2] = {{0, 0}, {0, 0.5}};
    for (int step = 0; step < 2; ++step) {
        const double d[2] = {p[1][0] - p[0][0], p[1][1] - p[0][1]};
        const double length = std::hypot(d[0], d[1]), pull = 3 * (length - 1) / length;
        for (int k = 0; k < 2; ++k) {
            v[0][k] += 0.1 * pull * d[k] / 2;
            v[1][k] -= 0.1 * pull * d[k] / 2;
        }
        for (int i = 0; i < 2; ++i)
            for (int k = 0; k < 2; ++k) p[i][k] += 0.1 * v[i][k];
    }
    const double dx = p[1][0] - 2, dy = p[1][1];
    return dx * dx + dy * dy + 0.125 * (x - 1) * (x - 1);
}

double run(const Scene& scene) {
    return Simulation(scene, test::all_modules(), options()).run(false);
}

}  // namespace

TEST_CASE("values at load: an optimized value, --set and --vary come to the same loss") {
    const Scene scene = Scene::parse(two_points);
    const double x = 1.25;
    Simulation optimized(scene, test::all_modules(), options());
    optimized.parameters().set_values(std::vector<double>{x});
    const double loss = optimized.run(false);
    CHECK(loss == doctest::Approx(expected_loss(x)).epsilon(1e-12));

    Scene set = scene;
    set_value(set, test::all_modules(), options(), "a.positions[1].x", "1.25");
    CHECK(run(set) == loss);
    set = scene;  // the whole value: as many points, which are the same ones
    set_value(set, test::all_modules(), options(), "a.positions", "[[0, 0, 0], [1.25, 0, 0]]");
    CHECK(run(set) == loss);

    Sweep sweep(scene, test::all_modules(), options(), {SweepAxis::parse("a.positions[1].x=1.25")});
    sweep.simulation().parameters().set_values(sweep.parameters(0));
    CHECK(sweep.simulation().run(false) == loss);
}

TEST_CASE("values at load: a scene that is saved after an optimization runs to the same loss") {
    const test::TemporaryFolder folder;
    Simulation simulation(Scene::parse(two_points), test::all_modules(), options());
    simulation.parameters().set_values(std::vector<double>{1.25});
    const double loss = simulation.run(false);
    save_scene(simulation, folder.path(), "saved.json");
    const Scene saved = Scene::load(folder.path() / "saved.json");
    CHECK(run(saved) == loss);
    // And once more, from other positions.
    Simulation second(saved, test::all_modules(), options());
    second.parameters().set_values(std::vector<double>{1.5});
    const double next = second.run(false);
    CHECK(next == doctest::Approx(expected_loss(1.5)).epsilon(1e-12));
    save_scene(second, folder.path(), "again.json");
    CHECK(run(Scene::load(folder.path() / "again.json")) == next);
}

TEST_CASE("values at load: a scene whose numbers did not change is saved without more keys") {
    const test::TemporaryFolder folder;
    Simulation simulation(Scene::parse(two_points), test::all_modules(), options());
    simulation.run(false);
    save_scene(simulation, folder.path(), "saved.json");
    const Scene saved = Scene::load(folder.path() / "saved.json");
    CHECK(saved.find("a.reference_positions") == nullptr);
}

TEST_CASE("values at load: another number of points is another body") {
    Scene scene = Scene::parse(two_points);
    scene.document().set("/objective", document::Node::array());
    scene.document().set("/parameters", document::Node::array());
    scene.set("a.positions", "[[0, 0, 0], [2, 0, 0], [5, 0, 0]]");
    Simulation simulation(scene, test::all_modules(), options());
    CHECK(simulation.model().find_quantity("rod.rest_length")->values[0] == 2);
}

TEST_CASE("values at load: reference positions may be written") {
    Scene scene = Scene::parse(two_points);
    scene.set("a.reference_positions", "[[0, 0, 0], [3, 0, 0]]");
    Simulation simulation(scene, test::all_modules(), options());
    CHECK(simulation.model().find_quantity("rod.rest_length")->values[0] == 3);
    CHECK(simulation.model().find_quantity("a.velocity")->values[4] == 1.5);
    CHECK(simulation.model().find_quantity("a.positions")->values[3] == 1);
    scene.set("a.reference_positions", "[[0, 0, 0]]");
    CHECK(test::message([&] { Simulation(scene, test::all_modules(), options()); }) != "no error");
}

// ---------------------------------------------------------------- one language of paths

TEST_CASE("paths: --set and --vary take the same ones, written or not") {
    const std::string text = R"({"format": 1, "name": "p", "time": {"step": 0.1, "steps": 3},
        "bodies": [{"type": "particles", "name": "bob", "positions": [[0, 0, 0], [1, 0, 0]],
                    "mass": 0.5}],
        "forces": [{"type": "springs", "name": "rod", "connect": [["bob", 0, "bob", 1]],
                    "stiffness": 3}],
        "objective": [{"type": "point_target", "of": "bob", "points": [1], "target": [2, 0, 0]}]})";
    const Scene scene = Scene::parse(text);
    for (const std::string path :
         {"bob.velocity[0].z", "bob.velocity[1].x", "bob.velocity.y", "bob.mass[0]", "bob.mass[1]",
          "bob.mass", "rod.damping", "rod.stiffness[0]", "gravity.z", "bob.positions[1].y"}) {
        CAPTURE(path);
        Scene set = scene;
        set_value(set, test::all_modules(), options(), path, "1.5");
        const double loss = run(set);
        Sweep sweep(scene, test::all_modules(), options(), {SweepAxis::parse(path + "=1.5")});
        sweep.simulation().parameters().set_values(sweep.parameters(0));
        CHECK(sweep.simulation().run(false) == loss);
        // As a parameter of a scene that has the number.
        Scene named = set;
        named.document().set("/parameters",
                             document::Document::parse("[{\"path\": \"" + path + "\"}]").root());
        Simulation simulation(named, test::all_modules(), options());
        CHECK(simulation.parameters().values()[0] == 1.5);
        CHECK(simulation.run(false) == loss);
    }
    Scene set = scene;
    for (const std::string path : {"bob.mass[2]", "bob.velocity[0].w", "bob.weight[0]"}) {
        CAPTURE(path);
        CHECK(test::message([&] { set_value(set, test::all_modules(), options(), path, "1"); }) !=
              "no error");
        CHECK(test::message([&] {
                  Sweep(scene, test::all_modules(), options(), {SweepAxis::parse(path + "=1")});
              }) != "no error");
    }
}

TEST_CASE("paths: a path with one element of a value for all gives it a value of its own") {
    Scene scene = Scene::parse(two_points);
    set_value(scene, test::all_modules(), options(), "a.mass[1]", "5");
    CHECK(document::to_line(*scene.find("a.mass")) == "[2.0, 5.0]");
    set_value(scene, test::all_modules(), options(), "a.velocity[0]", "[1, 2, 3]");
    CHECK(document::to_line(*scene.find("a.velocity")) == "[[1.0, 2.0, 3.0], [0.0, 0.5, 0.0]]");
}

}  // namespace hindcast
