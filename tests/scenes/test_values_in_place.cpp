// Numbers that are set in a built simulation, held against simulations built with them: the same
// bits of the state and of the loss, for every quantity of every scene that may be set in place.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "engine/document/values.hpp"
#include "engine/sim/values/values_in_place.hpp"
#include "tests/physics/module_scene.hpp"
#include "tests/support/mujoco.hpp"
#include "tests/support/scenes.hpp"

namespace hindcast {

namespace {

using document::Document;
using document::Node;

SimulationOptions options(std::int64_t steps) {
    SimulationOptions o;
    o.device = std::make_shared<Device>(
        DeviceOptions{test::has_cpu_device() ? DeviceKind::cpu : DeviceKind::interpreter});
    o.steps = steps;
    return o;
}

// The same node with other numbers; a node without numbers stays.
Node changed(const Node& node) {
    if (node.is_array()) {
        Node list = Node::array();
        for (std::size_t k = 0; k < node.size(); ++k) list.push_back(changed(node.item(k)));
        return list;
    }
    if (!document::is_number(node)) return node;
    const double value = document::number_of(node);
    return value == 0 ? Node(0.03125) : Node(value * 1.03125);
}

struct Outcome {
    StateHash state;
    double loss = 0;
};

Outcome run(Simulation& simulation) {
    const double loss = simulation.run();
    return {simulation.state_hash(), loss};
}

void check_same(const Outcome& a, const Outcome& b) {
    CHECK((a.state.digest() == b.state.digest()));
    CHECK((a.loss == b.loss || (std::isnan(a.loss) && std::isnan(b.loss))));
}

// Few steps where the scene's objective leaves that open; else all.
std::int64_t affordable_steps(const Scene& scene) {
    constexpr std::int64_t few = 10;
    try {
        const Simulation simulation(scene, test::all_modules(), options(few));
        return few;
    } catch (const Error&) {  // it names a later time
        return scene.steps();
    }
}

// Sets every quantity in place that may be, one after the other, and compares with a new build.
// Gives their paths.
std::set<std::string> walk(const Scene& scene) {
    const std::int64_t steps = affordable_steps(scene);
    std::set<std::string> set;
    const auto simulation =
        std::make_unique<Simulation>(scene, test::all_modules(), options(steps));
    const Outcome before = run(*simulation);
    for (const auto& [path, quantity] : simulation->model().quantities()) {
        CAPTURE(path);
        const Node* const node = scene.document().find(quantity->scene_pointer);
        if (node == nullptr) continue;
        const Node other = changed(*node);
        if (other == *node) continue;
        const auto values = values_in_place(*simulation, *quantity, other);
        if (!values) continue;
        set.insert(path);
        Document edited = scene.document();
        edited.set(quantity->scene_pointer, other);
        Simulation built(Scene::of(edited, scene.file()), test::all_modules(), options(steps));
        const model::Quantity& fresh = *built.model().find_quantity(path);
        CHECK(*values == fresh.values);
        CHECK(quantity->shared == fresh.shared);
        const std::vector<double> old = std::exchange(quantity->values, *values);
        quantity->upload();
        check_same(run(*simulation), run(built));
        quantity->values = old;
        quantity->upload();
    }
    check_same(run(*simulation), before);
    return set;
}

std::set<std::string> walk_bundled(const char* name) {
    return walk(Scene::load(std::filesystem::path(hindcast::test::source_dir) / "scenes" / name));
}

}  // namespace

TEST_CASE("values in place: every bundled scene, every quantity that may be set") {
    std::size_t found = 0;
    for (const std::filesystem::path& file : test::bundled_scenes()) {
        CAPTURE(file.string());
        const Scene scene = Scene::load(file);
        Simulation simulation(scene, test::all_modules(), options(-1));
        if (!test::affordable(simulation)) continue;
        found += walk(scene).size();
    }
    CHECK(found >= (test::has_cpu_device() ? 40 : 5));
}

TEST_CASE("values in place: every force, objective and controller on particles") {
    const Scene scene =
        Scene::parse(std::string(R"({"format": 1, )") + test::springs_in_wind + "}");
    const std::set<std::string> set = walk(scene);
    CHECK(set == std::set<std::string>{
                     "air.rate",        "center.target", "chain.mass",       "chain.velocity",
                     "engine.change",   "gravity",       "hand.damping",     "hand.places",
                     "hand.stiffness",  "hit.target",    "links.damping",    "links.rest_length",
                     "links.stiffness", "rope.damping",  "rope.rest_length", "rope.stiffness",
                     "track.targets",   "volume.target", "water.rate",       "wind.amplitude",
                     "wind.frequency",  "wind.linear",   "wind.phase",       "wind.quadratic",
                     "wind.wind"});
}

TEST_CASE("values in place: the numbers of an articulated body") {
    HINDCAST_NEEDS_MUJOCO();
    const std::filesystem::path folder(hindcast::test::source_dir);
    const std::set<std::string> set =
        walk(Scene::load(folder / "kernels/articulated/coverage.json"));
    for (const char* key : {"qpos", "qvel", "act", "ctrl"}) {
        CAPTURE(key);
        CHECK(set.contains(std::string("robot.") + key));
    }
    CHECK(walk(Scene::load(folder / "scenes/robots/double_pendulum.json"))
              .contains("pendulum.dof_damping"));
}

TEST_CASE("values in place: what other values were made from is left to a build") {
    const std::set<std::string> cage = walk_bundled("spring_cage.json");
    CHECK(cage.contains("cage.stiffness"));
    CHECK(cage.contains("target.target"));
    CHECK_FALSE(cage.contains("ball.positions"));  // rest lengths are "initial"
    CHECK_FALSE(cage.contains("cage.rest_length"));
    if (!test::has_cpu_device()) return;
    const std::set<std::string> beam = walk_bundled("soft_beam.json");
    CHECK(beam.contains("beam.young_modulus"));
    CHECK(beam.contains("beam.density"));
    const std::set<std::string> block = walk_bundled("mpm_launch.json");
    CHECK(block.contains("block.mu"));
    CHECK(block.contains("block.velocity"));
    CHECK_FALSE(block.contains("block.positions"));
    const std::set<std::string> waves = walk_bundled("wave_image.json");
    CHECK(waves.contains("membrane.level_0"));  // one number, wanted per element
    CHECK_FALSE(waves.contains("image.target"));
}

TEST_CASE("values in place: what a build would refuse, or shape otherwise, is left to it") {
    const Scene scene =
        Scene::load(std::filesystem::path(hindcast::test::source_dir) / "scenes/soft_beam.json");
    SimulationOptions interpreted = options(-1);
    interpreted.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    Simulation simulation(scene, test::all_modules(), interpreted);
    const auto in_place = [&](const char* path, const char* json) {
        return values_in_place(simulation, *simulation.model().find_quantity(path),
                               Document::parse(json, "edit").root());
    };
    CHECK(in_place("beam.young_modulus", "300000") == std::vector<double>{300000});
    CHECK(in_place("beam.young_modulus", "\"500000/2\"") == std::vector<double>{250000});
    CHECK_FALSE(in_place("beam.young_modulus", "40000"));  // below the parameter's bound
    CHECK_FALSE(in_place("beam.young_modulus", "-1"));     // outside its range
    CHECK_FALSE(in_place("beam.young_modulus", "1e300"));  // no f32
    CHECK_FALSE(in_place("beam.young_modulus", "[1e5, 1e5]"));
    CHECK_FALSE(in_place("beam.young_modulus", R"({"formula": "200000"})"));
    CHECK_FALSE(in_place("beam.young_modulus", "true"));
    CHECK(in_place("gravity", "[1, 2, 3]") == std::vector<double>{1, 2, 3});
    CHECK_FALSE(in_place("gravity", "[1, 2]"));
    const Scene waves = Scene::parse(R"({"format": 1, "dimension": 2,
        "time": {"step": 0.01, "steps": 2},
        "bodies": [{"type": "waves", "name": "pond", "nodes": [8, 8], "spacing": 0.1, "speed": 2,
                    "level_0": 0, "level_1": 0}]})");
    Simulation pond(waves, test::all_modules(), interpreted);
    const model::Quantity& speed = *pond.model().find_quantity("pond.speed");
    CHECK(values_in_place(pond, speed, Node(3)) == std::vector<double>{3});
    CHECK_FALSE(values_in_place(pond, speed, Node(1000)));  // unstable: the module's own check
}

}  // namespace hindcast
