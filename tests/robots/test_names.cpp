// Names of a robot's bodies, joints, geoms and actuators: in paths, and in values of a scene.
#include <doctest/doctest.h>

#include "engine/sim/ensembles/sweep.hpp"
#include "engine/sim/scene/numbers_at.hpp"
#include "engine/sim/values/set_value.hpp"
#include "engine/sim/values/values_in_place.hpp"
#include "tests/robots/oracle.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// qpos: root 0-6, hip 7, neck 8-11, 12 without a name. Degrees of freedom: root 0-5, hip 6, neck
// 7-9, 10. Bodies: world, torso, left leg, head, box.
const char* const model = R"(<mujoco>
  <worldbody>
    <body name="torso" pos="0 0 1"><freejoint name="root"/>
      <inertial pos="0 0 0" mass="2" diaginertia="0.1 0.2 0.15"/>
      <body name="left leg"><joint name="hip" damping="0.5"/>
        <inertial pos="0 0 -0.3" mass="1" diaginertia="0.01 0.02 0.01"/>
        <geom name="foot" type="sphere" size="0.1" friction="0.7 0.02 0.001" pos="0 0 -0.5"/></body>
      <body name="head" pos="0 0 0.3"><joint name="neck" type="ball"/>
        <inertial pos="0 0 0.1" mass="0.5" diaginertia="0.01 0.01 0.01"/></body>
      <body name="box"><joint type="slide" damping="0.25"/>
        <inertial pos="0 0 0" mass="0.25" diaginertia="0.01 0.01 0.01"/></body>
    </body>
    <geom name="floor" type="plane" size="5 5 1"/>
  </worldbody>
  <actuator>
    <motor name="drive" joint="hip" gear="3"/>
    <general name="lag" joint="hip" dyntype="integrator"/>
  </actuator>
</mujoco>)";

struct Robot {
    explicit Robot(const std::string& keys = "", const std::string& parameters = "[]") {
        std::ofstream(folder / "robot.xml") << model;
        options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        options.precision = ir::Precision::f64;
        scene =
            Scene::of(document::Document::parse(
                          R"({"format": 1, "time": {"step": 0.01, "steps": 3},
            "bodies": [{"type": "articulated", "name": "robot", "model": "robot.xml")" +
                              keys + R"(}], "objective": [{"type": "point_target", "of": "robot",
            "target": [0.5, 0, 1]}], "parameters": )" +
                              parameters + "}",
                          "scene"),
                      folder / "scene.json");
    }
    std::unique_ptr<Simulation> simulation() const {
        return std::make_unique<Simulation>(*scene, all_modules(), options);
    }
    std::vector<double> values(const std::string& key) const {
        return simulation()->model().find_quantity("robot." + key)->values;
    }
    void set(const std::string& path, const std::string& json) {
        set_value(*scene, all_modules(), options, path, json);
    }
    std::string written(const std::string& key) const {
        const document::Node* const node = scene->find("robot." + key);
        return node == nullptr ? "" : document::to_line(*node);
    }
    std::string error() const {
        return message([&] { simulation(); });
    }

    TemporaryFolder folder;
    SimulationOptions options;
    std::optional<Scene> scene;
};

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("names of robots: parameters are named by bodies, joints, geoms and actuators") {
    HINDCAST_NEEDS_MUJOCO();
    const Robot robot("", R"([{"path": "robot.body_mass[left leg]"}, {"path": "robot.qpos[hip]"},
        {"path": "robot.qpos[neck]"}, {"path": "robot.qpos[root:2]"}, {"path": "robot.qvel[neck:1]"},
        {"path": "robot.dof_damping", "select": {"names": ["hip", "root"]}},
        {"path": "robot.dof_damping[10]"}, {"path": "robot.geom_friction[foot].x"},
        {"path": "robot.body_quat[head].w"}, {"path": "robot.geom_solimp[foot].4"},
        {"path": "robot.actuator_gear[drive].0"}, {"path": "robot.ctrl[lag]"},
        {"path": "robot.act[lag]"}])");
    const auto s = robot.simulation();
    CHECK(s->parameters().names() == std::vector<std::string>{"robot.body_mass[left leg]",
                                                              "robot.qpos[hip]",
                                                              "robot.qpos[neck:0]",
                                                              "robot.qpos[neck:1]",
                                                              "robot.qpos[neck:2]",
                                                              "robot.qpos[neck:3]",
                                                              "robot.qpos[root:2]",
                                                              "robot.qvel[neck:1]",
                                                              "robot.dof_damping[hip]",
                                                              "robot.dof_damping[root:0]",
                                                              "robot.dof_damping[root:1]",
                                                              "robot.dof_damping[root:2]",
                                                              "robot.dof_damping[root:3]",
                                                              "robot.dof_damping[root:4]",
                                                              "robot.dof_damping[root:5]",
                                                              "robot.dof_damping[10]",
                                                              "robot.geom_friction[foot].x",
                                                              "robot.body_quat[head].w",
                                                              "robot.geom_solimp[foot].4",
                                                              "robot.actuator_gear[drive].0",
                                                              "robot.ctrl[lag]",
                                                              "robot.act[lag]"});
    CHECK(s->parameters().values() ==
          Numbers{1, 0, 1, 0, 0, 0, 1, 0, 0.5, 0, 0, 0, 0, 0, 0, 0.25, 0.7, 1, 2, 3, 0, 0});
    const auto entries = [&](std::size_t k) { return s->parameters().list()[k].entries; };
    CHECK(entries(0) == std::vector<std::size_t>{2});
    CHECK(entries(2) == std::vector<std::size_t>{8, 9, 10, 11});
    CHECK(entries(4) == std::vector<std::size_t>{8});
    CHECK(entries(11) == std::vector<std::size_t>{1});
    CHECK(entries(12) == std::vector<std::size_t>{0});
    // Every printed name is a path to its number.
    std::size_t k = 0;
    for (const Parameter& p : s->parameters().list())
        for (const std::size_t entry : p.entries) {
            const std::string& name = s->parameters().names()[k++];
            CAPTURE(name);
            const NumbersAt at = numbers_at(s->model(), Path::parse(name));
            CHECK(at.quantity == p.quantity);
            CHECK(at.entries() == std::vector{entry});
        }
}

TEST_CASE("names of robots: values by name leave the others as the model has them") {
    HINDCAST_NEEDS_MUJOCO();
    const Robot robot(R"(, "body_mass": {"torso": 3.2, "box": 0.125},
        "dof_damping": {"root": 0.1, "neck:2": 4}, "qpos": {"root": [1, 2, 3, 0, 1, 0, 0]},
        "geom_friction": {"foot": [0.9, 0.01, 0.002]})");
    CHECK(robot.values("body_mass") == Numbers{0, 3.2, 1, 0.5, 0.125});
    CHECK(robot.values("dof_damping") == Numbers{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.5, 0, 0, 4, 0.25});
    CHECK(robot.values("qpos") == Numbers{1, 2, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0});
    CHECK(robot.values("geom_friction") == Numbers{1, 0.005, 0.0001, 0.9, 0.01, 0.002});
    // A body that is called like a generator, and a generator.
    CHECK(Robot(R"(, "body_mass": {"box": 7})").values("body_mass") == Numbers{0, 2, 1, 0.5, 7});
}

TEST_CASE("names of robots: --set writes by name, into a list where the scene has one") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    robot.set("robot.body_mass[torso]", "3");
    CHECK(robot.written("body_mass") == R"({ "torso": 3.0 })");
    robot.set("robot.body_mass[left leg]", "0.5");
    robot.set("robot.body_mass[1]", "4");
    CHECK(robot.written("body_mass") == R"({ "torso": 4.0, "left leg": 0.5 })");
    CHECK(robot.values("body_mass") == Numbers{0, 4, 0.5, 0.5, 0.25});
    robot.set("robot.geom_friction[foot].y", "0.25");
    CHECK(robot.written("geom_friction") == R"({ "foot": [0.7, 0.25, 0.001] })");
    robot.set("robot.qpos[neck]", "[0, 0, 1, 0]");
    CHECK(robot.values("qpos") == Numbers{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0});
    robot.set("robot.dof_damping[10]", "2");  // it has no name, so all are written
    CHECK(robot.written("dof_damping") ==
          "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 2.0]");
    robot.set("robot.dof_damping[hip]", "1");
    CHECK(robot.written("dof_damping") ==
          "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0]");
    CHECK(robot.scene->find("robot.body_mass[torso]")->real() == 4);
}

TEST_CASE("names of robots: a sweep and numbers that are set in place") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    Sweep sweep(*robot.scene, all_modules(), robot.options,
                {SweepAxis::parse("robot.body_mass[left leg]=0.5,2")});
    sweep.simulation().parameters().set_values(sweep.parameters(1));
    const double loss = sweep.simulation().run(false);
    robot.set("robot.body_mass[left leg]", "2");
    CHECK(robot.simulation()->run(false) == loss);
    const auto s = robot.simulation();
    const model::Quantity& mass = *s->model().find_quantity("robot.body_mass");
    const auto values =
        values_in_place(*s, mass, document::Document::parse(R"({"torso": 5, "head": 1})").root());
    REQUIRE(values);
    CHECK(*values == Numbers{0, 5, 1, 1, 0.25});
    CHECK(!values_in_place(*s, mass, document::Document::parse(R"({"toso": 5})").root()));
}

TEST_CASE("names of robots: published arrays") {
    HINDCAST_NEEDS_MUJOCO();
    const Robot robot;
    const auto s = robot.simulation();
    const auto element = [&](const char* text, std::int64_t count) {
        const auto found = elements_at(s->model(), Path::parse(text), count);
        return std::pair(found->first, found->count);
    };
    using Range = std::pair<std::int64_t, std::int64_t>;
    CHECK(element("robot.xpos[head].z", 5) == Range{3, 1});
    CHECK(element("robot.qvel[root]", 11) == Range{0, 6});
    CHECK(element("robot.geom_xpos[foot].x", 2) == Range{1, 1});
    CHECK(index_text(s->model(), "robot.qacc", 6) == "[hip]");
    CHECK(message([&] { element("position[torso]", 4); }).find("have no names") !=
          std::string::npos);
}

TEST_CASE("names of robots: numbers of controllers are called by their actuators") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    robot.scene->document().set(
        "/controllers",
        document::Document::parse(R"([{"type": "sines", "name": "gait", "of": "robot",
            "actuators": ["lag", "drive"], "frequency": 2, "harmonics": 2,
            "amplitude": [[1, 2], [3, 4]]}])")
            .root());
    robot.scene->document().set(
        "/parameters", document::Document::parse(
                           R"([{"path": "gait.amplitude[drive]"}, {"path": "gait.offset[lag]"}])")
                           .root());
    const auto s = robot.simulation();
    CHECK(s->parameters().names() == std::vector<std::string>{"gait.amplitude[drive:0]",
                                                              "gait.amplitude[drive:1]",
                                                              "gait.offset[lag]"});
    CHECK(s->parameters().values() == Numbers{3, 4, 0});
}

TEST_CASE("names of robots: objectives name points and elements of arrays") {
    HINDCAST_NEEDS_MUJOCO();
    Robot robot;
    const auto loss = [&](const std::string& objective) {
        robot.scene->document().set("/objective",
                                    document::Document::parse("[" + objective + "]").root());
        return robot.simulation()->run(false);
    };
    // Points: torso, left leg, head, box, which has none, so that nothing else is between.
    CHECK(
        loss(R"({"type": "point_target", "of": "robot", "target": [0, 0, 2],
                   "points": ["head", "left leg"]})") ==
        loss(R"({"type": "point_target", "of": "robot", "target": [0, 0, 2], "points": [2, 1]})"));
    CHECK(loss(R"({"type": "array_target", "array": "robot.qpos", "elements": ["root", "hip"],
                   "target": 0.25})") == loss(R"({"type": "array_target", "array": "robot.qpos",
                   "elements": [0, 1, 2, 3, 4, 5, 6, 7], "target": 0.25})"));
    const auto says = [&](const std::string& objective, const std::string& part) {
        const std::string text = message([&] { loss(objective); });
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    };
    says(R"({"type": "point_target", "of": "robot", "target": [0, 0, 2], "points": ["haed"]})",
         "did you mean 'head'");
    says(R"({"type": "array_target", "array": "robot.qpos", "elements": ["hop"]})",
         "did you mean 'hip'");
}

TEST_CASE("names of robots: errors say what there is") {
    HINDCAST_NEEDS_MUJOCO();
    const auto says = [](const std::string& text, const std::string& part) {
        CAPTURE(text);
        CAPTURE(part);
        CHECK(text.find(part) != std::string::npos);
    };
    const auto of_value = [](const char* keys) { return Robot(keys).error(); };
    const auto of_path = [](const std::string& path) {
        return Robot("", R"([{"path": ")" + path + R"("}])").error();
    };
    says(of_value(R"(, "body_mass": {"trso": 1})"), "did you mean 'torso'");
    says(of_value(R"(, "body_mass": {"trso": 1})"), "/bodies/0/body_mass");
    says(of_value(R"(, "body_mass": {"torso": -1})"), "/bodies/0/body_mass/torso");
    says(of_value(R"(, "qpos": {"root": 1, "root:0": 2})"), "name the same number");
    says(of_value(R"(, "qpos": {"root": [1, 2]})"), "7 elements");
    says(of_path("robot.dof_damping[hop]"), "did you mean 'hip'");
    says(of_path("robot.dof_damping[hop]"), "/parameters/0/path");
    says(of_path("robot.qpos[root:9]"), "'root' has the numbers 0 to 6");
    says(of_path("robot.body_mass[9]"), "has 5 elements, no element 9");
    says(of_path("robot.body_mass[torso].y"), "has 1 component, no .y");
    says(of_path("robot.gravity[torso]"), "have no names");
}
