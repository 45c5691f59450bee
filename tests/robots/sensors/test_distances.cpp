// Sensors of distances of geoms against MuJoCo's, and their derivatives.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/robots/sensors/sensors.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// Two arms that nothing lets touch. KIND and OTHER stand for their geoms, SENSORS for what is sensed.
const char* const arms = R"(<mujoco>
  <option timestep="0.005" solver="Newton" tolerance="0" ccd_tolerance="1e-12" ccd_iterations="500"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <asset><mesh name="stone" vertex="0 0 0 .3 0 .1 0 .4 0 0 .1 .3 .3 .3 .2 -.1 -.1 .2"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" euler="10 5 0"/>
    <body name="a" pos="0 0 0.1"><joint type="slide" axis="1 0 0.2"/><joint type="ball"/>
      <geom name="a" KIND pos="0.1 0.02 0.05" euler="20 30 40"/>
      <geom name="a2" size="0.05" pos="-0.3 0 0.1"/></body>
    <body name="b" pos="0.2 0.1 0.3"><joint type="slide" axis="0 1 0.1"/><joint type="ball"/>
      <geom name="b" OTHER pos="0 0.1 0.02" euler="-20 10 0"/>
      <geom name="b2" type="capsule" size="0.04 0.1" pos="0 -0.3 0"/></body>
  </worldbody>
  <sensor>SENSORS</sensor></mujoco>)";

// Distance, way and ends, in both orders.
std::string sensed(const std::string& one, const std::string& two, const std::string& cutoff) {
    std::string all;
    for (const char* kind : {"distance", "normal", "fromto"})
        all += fmt::format("<{} {}1={} cutoff='{}'/>", kind, one, two, cutoff);
    return all;
}
std::string all_sensed(const std::string& cutoff) {
    return sensed("geom", "'a' geom2='b'", cutoff) + sensed("geom", "'b' geom2='a'", cutoff);
}

std::string arms_of(const std::string& kind, const std::string& other, const std::string& sensors) {
    return replaced(replaced(replaced(arms, "KIND", kind), "OTHER", other), "SENSORS", sensors);
}

const std::vector<std::pair<std::string, std::string>> round_pairs = {
    {"size='0.2'", "size='0.15'"},
    {"size='0.2'", "type='capsule' size='0.1 0.2'"},
    {"type='cylinder' size='0.15 0.2'", "size='0.15'"},
    {"size='0.2'", "type='box' size='0.1 0.2 0.15'"},
    {"type='capsule' size='0.1 0.3'", "type='capsule' size='0.12 0.2'"},
    {"type='box' size='0.1 0.25 0.2'", "type='capsule' size='0.12 0.2'"},
};
const std::vector<std::pair<std::string, std::string>> convex_pairs = {
    {"type='box' size='0.1 0.25 0.2'", "type='box' size='0.2 0.1 0.15'"},
    {"type='ellipsoid' size='0.1 0.25 0.2'", "size='0.15'"},
    {"type='ellipsoid' size='0.1 0.25 0.2'", "type='capsule' size='0.12 0.2'"},
    {"type='ellipsoid' size='0.1 0.25 0.2'", "type='ellipsoid' size='0.2 0.1 0.15'"},
    {"type='ellipsoid' size='0.1 0.25 0.2'", "type='cylinder' size='0.12 0.2'"},
    {"type='ellipsoid' size='0.1 0.25 0.2'", "type='box' size='0.2 0.1 0.15'"},
    {"type='mesh' mesh='stone'", "type='ellipsoid' size='0.2 0.1 0.15'"},
    {"type='cylinder' size='0.1 0.2'", "type='capsule' size='0.12 0.2'"},
    {"type='cylinder' size='0.1 0.2'", "type='cylinder' size='0.12 0.2'"},
    {"type='cylinder' size='0.1 0.2'", "type='box' size='0.2 0.1 0.15'"},
    {"type='mesh' mesh='stone'", "type='cylinder' size='0.12 0.2'"},
    {"type='mesh' mesh='stone'", "size='0.12'"},
    {"type='mesh' mesh='stone'", "type='capsule' size='0.12 0.2'"},
    {"type='mesh' mesh='stone'", "type='box' size='0.2 0.1 0.15'"},
    {"type='mesh' mesh='stone'", "type='mesh' mesh='stone'"},
};

}  // namespace

TEST_CASE("distances of geoms are MuJoCo's, by closed forms") {
    HINDCAST_NEEDS_MUJOCO();
    for (const auto& [one, two] : round_pairs) {
        CAPTURE(one);
        CAPTURE(two);
        check_states(arms_of(one, two, all_sensed("3")), {});
        check_states(arms_of(one, two, all_sensed("0.4")), {.count = 30});
        check_states(arms_of(one, two, all_sensed("0")), {.count = 30});
    }
    for (const char* one : {"size='0.2'", "type='capsule' size='0.1 0.2'",
                            "type='cylinder' size='0.15 0.2'", "type='box' size='0.1 0.2 0.15'",
                            "type='ellipsoid' size='0.1 0.2 0.15'", "type='mesh' mesh='stone'"}) {
        CAPTURE(std::string(one));
        check_states(arms_of(one, "size='0.1'",
                             sensed("geom", "'a' geom2='floor'", "2") +
                                 sensed("geom", "'floor' geom2='a'", "0.3")),
                     {});
    }
}

// MuJoCo's search ends where the distance is right, to some 1e-12: the way there is right to the root of that.
TEST_CASE("distances of geoms are MuJoCo's, of any two convex shapes") {
    HINDCAST_NEEDS_MUJOCO();
    for (const auto& [one, two] : convex_pairs) {
        CAPTURE(one);
        CAPTURE(two);
        check_states(arms_of(one, two, all_sensed("3")),
                     {.tolerance = 1e-8, .of_directions = 1e-5});
        check_states(arms_of(one, two, all_sensed("0.3")),
                     {.count = 30, .tolerance = 1e-8, .of_directions = 1e-5});
    }
}

TEST_CASE("distances of bodies are those of their nearest geoms") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string box = "type='box' size='0.1 0.25 0.2'";
    check_states(
        arms_of("type='capsule' size='0.1 0.3'", box,
                sensed("body", "'a' body2='b'", "2") + sensed("body", "'b' geom2='a2'", "2") +
                    sensed("body", "'world' body2='a'", "2") +
                    sensed("geom", "'b2' body2='a'", "0.3")),
        {});
    check_states(
        arms_of("type='ellipsoid' size='0.1 0.2 0.15'", box, sensed("body", "'a' body2='b'", "2")),
        {.tolerance = 1e-8, .of_directions = 1e-5});
}

TEST_CASE("distances of geoms have exact derivatives") {
    HINDCAST_NEEDS_MUJOCO();
    const std::vector<std::string> numbers = {"qpos", "geom_pos", "geom_quat", "geom_size",
                                              "jnt_axis"};
    for (const auto* pairs : {&round_pairs, &convex_pairs})
        for (const auto& [one, two] : *pairs) {
            CAPTURE(one);
            CAPTURE(two);
            check_sensor_derivatives(arms_of(one, two, sensed("geom", "'a' geom2='b'", "3")),
                                     numbers, 4, 1);
        }
    check_sensor_derivatives(
        arms_of("type='capsule' size='0.1 0.3'", "type='box' size='0.1 0.2 0.3'",
                sensed("body", "'a' body2='b'", "3") + sensed("body", "'a' geom2='floor'", "3")),
        numbers, 4, 1);
}

// A ball of radius 0.1 at (0.5, 0, 0.3) is 0.2 above the floor, and 0.3 beside one of radius 0.1 at the origin
// of that height.
TEST_CASE("distances of geoms: closed forms") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string text = R"(<mujoco><worldbody><geom name="p" type="plane" size="0 0 1"/>
        <geom name="o" size="0.1" pos="0 0 0.3"/>
        <body><joint type="slide"/><geom name="g" size="0.1" pos="0.5 0 0.3"/></body></worldbody>
        <sensor><distance geom1="g" geom2="p" cutoff="1"/><normal geom1="g" geom2="p" cutoff="1"/>
        <fromto geom1="o" geom2="g" cutoff="1"/><distance geom1="g" geom2="o" cutoff="0.2"/>
        <fromto geom1="g" geom2="o" cutoff="0.2"/></sensor></mujoco>)";
    std::string names;
    const std::string with_names = named(text, names);
    Ours ours(with_names, robot_step, 1, "", ", \"sensors\": [" + names + "]");
    ours.run();
    const std::vector<double> found = ours.array("sensordata");
    const std::vector<double> expected = {0.2, 0,   0, -1, 0.1, 0, 0.3, 0.4, 0,
                                          0.3, 0.2, 0, 0,  0,   0, 0,   0};
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) CHECK(std::fabs(found[k] - expected[k]) < 1e-12);
}

TEST_CASE("distances of geoms that are not simulated are refused by name") {
    HINDCAST_NEEDS_MUJOCO();
    const auto said = [&](const std::string& flag, const std::string& sensor) {
        const std::string text = "<mujoco><option><flag " + flag +
                                 R"(/></option><worldbody><body name="a">
            <joint name="a"/><geom name="g" type="box" size="1 1 1"/><geom name="h" type="box" size="1 1 1"/></body>
            </worldbody><sensor><distance name="far" )" +
                                 sensor + "/></sensor></mujoco>";
        return message([&] { Ours(text, robot_step, 1, "", ", \"sensors\": [\"far\"]"); });
    };
    CHECK(said("nativeccd='enable'", "geom1='g' geom2='h'") == "no error");
    CHECK(said("nativeccd='enable'", "geom1='g' body2='a'")
              .find("at /bodies/0/sensors: sensor 'far' measures the distance of geom 'g' from "
                    "itself") != std::string::npos);
    CHECK(said("nativeccd='disable'", "geom1='g' geom2='h'").find("remove the flag") !=
          std::string::npos);
}
