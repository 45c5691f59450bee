// Sensors of contacts against MuJoCo's: which contacts match, in which order, and what is told of them.
#include <doctest/doctest.h>

#include "tests/robots/collision/contacts.hpp"
#include "tests/robots/sensors/sensors.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// Contacts of closed forms, with every dimension. MARGIN, CONE and SENSORS stand for what they
// are.
const char* const heap = R"(<mujoco>
  <option timestep="0.005" solver="Newton" tolerance="0" cone="CONE" iterations="200"
          ls_tolerance="1e-12" ls_iterations="100" ccd_tolerance="1e-12" ccd_iterations="500">
    <flag warmstart="disable"/></option>
  <default><geom condim="4" margin="MARGIN" friction="0.8 0.05 0.02"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <site name="vol" type="box" size="0.5 0.5 0.3" euler="10 20 0"/>
    <site name="egg" type="ellipsoid" size="0.9 0.7 0.5"/>
    <body name="a" pos="0 0 0.1"><freejoint/>
      <geom name="a0" size="0.2"/><geom name="a1" size="0.1" pos="0.3 0 0" condim="6"/>
      <site name="ball" size="0.4"/>
      <body name="b" pos="0 0.3 0"><joint type="ball"/>
        <geom name="b0" size="0.15" pos="0 0.1 0"/><geom name="b1" size="0.12" pos="0 0.3 0" condim="1"/>
        <site name="can" type="cylinder" size="0.5 0.3"/>
        <body name="bb" pos="0.2 0.2 0"><joint/><geom name="bb0" size="0.15"/></body></body></body>
    <body name="c" pos="0.2 0.2 0.3"><freejoint/>
      <geom name="c0" type="capsule" size="0.15 0.3" condim="3"/>
      <geom name="c1" size="0.2" pos="0.3 0.1 0"/></body>
    <body name="d" pos="-0.2 0.2 0.3"><freejoint/><geom name="d0" size="0.25"/></body>
  </worldbody>
  <sensor>SENSORS</sensor></mujoco>)";

const std::string all_data = "found force torque dist pos normal tangent linvel angvel";

std::string sensor(const std::string& sides, const std::string& reduce, int count,
                   const std::string& data = all_data) {
    return "<contact " + sides + " reduce='" + reduce + "' num='" + std::to_string(count) +
           "' data='" + data + "'/>";
}

std::string heap_of(const std::string& sensors, const std::string& cone = "elliptic",
                    const std::string& margin = "0.05") {
    return replaced(replaced(replaced(heap, "CONE", cone), "MARGIN", margin), "SENSORS", sensors);
}

// Bodies with several geoms of several types, some of them pairs of the model's own. FLAG stands for midphase.
const char* const order = R"(<mujoco>
  <option timestep="0.005"><flag warmstart="disable" midphase="FLAG"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/><geom type="capsule" size="0.2 0.3" pos="0 0 0.1"/>
    <geom type="box" size="0.1 0.2 0.3" pos="0.5 0 0"/>
    <body><freejoint/><geom name="a" type="capsule" size="0.12 0.2" pos="0.1 0 0"/><geom size="0.2"/>
      <geom name="b" type="capsule" size="0.12 0.1" pos="-0.2 0.1 0"/></body>
    <body><freejoint/><geom size="0.2" pos="0.1 0 0.1"/><geom name="c" size="0.15" pos="-0.2 0 0"/>
      <geom type="capsule" size="0.1 0.3" pos="0 0.2 0"/></body>
    <body><freejoint/><geom name="d" type="capsule" size="0.2 0.3" pos="0.1 0 0"/>
      <geom name="e" size="0.2" pos="-0.1 0.1 0"/></body>
  </worldbody>
  <contact><pair geom1="e" geom2="a"/><pair geom1="d" geom2="b"/><pair geom1="c" geom2="a"/></contact>
  <sensor><contact num="30" data="found dist pos"/></sensor></mujoco>)";

// Every way to say one side: %1 stands for its number.
const char* const sides[] = {"geom%='floor'", "geom%='a0'",   "body%='a'",     "subtree%='a'",
                             "body%='c'",     "subtree%='b'", "body%='world'", "geom%='c0'"};
std::string side(const char* text, const char* number) { return replaced(text, "%", number); }

}  // namespace

TEST_CASE("sensors of contacts: those that match, in order, as MuJoCo has them") {
    HINDCAST_NEEDS_MUJOCO();
    std::vector<std::string> all = {"", "site='vol'", "site='egg'", "site='ball'", "site='can'"};
    for (const char* one : sides) {
        all.push_back(side(one, "1"));
        all.push_back(side(one, "2"));
        all.push_back("site='egg' " + side(one, "2"));
        for (const char* two : sides) all.push_back(side(one, "1") + " " + side(two, "2"));
    }
    for (const char* reduce : {"none", "mindist", "maxforce"}) {
        CAPTURE(std::string(reduce));
        for (std::size_t first = 0; first < all.size(); first += 12) {
            std::string sensors;
            for (std::size_t k = first; k < std::min(first + 12, all.size()); ++k)
                sensors += sensor(all[k], reduce, k % 3 == 0 ? 1 : 4);
            check_states(heap_of(sensors), {.count = first == 0 ? 100 : 10, .low = 0.3});
        }
    }
}

TEST_CASE("sensors of contacts: each number by itself, all that there are, and their sum") {
    HINDCAST_NEEDS_MUJOCO();
    std::string sensors;
    for (const char* reduce : {"none", "mindist", "maxforce"}) {
        for (const char* data : {"found", "force", "torque", "dist", "pos", "normal", "tangent",
                                 "linvel", "angvel", "found dist normal", "force pos angvel"})
            sensors += sensor("subtree1='a'", reduce, 2, data);
        sensors += sensor("", reduce, 20, "found dist");
    }
    for (const char* data :
         {"found", "force", "torque", "pos", "found force torque dist pos normal tangent"})
        for (const char* which : {"", "subtree1='a'", "body2='c'", "site='egg'",
                                  "site='can' subtree2='a'", "geom1='floor' body2='d'"})
            sensors += sensor(which, "netforce", 1, data);
    for (const char* cone : {"pyramidal", "elliptic"})
        for (const char* margin : {"0", "0.05"}) {
            CAPTURE(std::string(cone));
            CAPTURE(std::string(margin));
            check_states(heap_of(sensors, cone, margin), {.low = 0.3});
        }
}

TEST_CASE("sensors of contacts have exact derivatives") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string sensors = sensor("", "none", 6) + sensor("subtree1='a'", "mindist", 3) +
                                sensor("site='egg'", "maxforce", 3) +
                                sensor("body2='c'", "netforce", 1, "force torque pos");
    check_sensor_derivatives(heap_of(sensors), {"qpos", "qvel", "geom_size"}, 3, 1, 0.3);
}

TEST_CASE("sensors of contacts: the order of pairs") {
    HINDCAST_NEEDS_MUJOCO();
    for (const char* flag : {"enable", "disable"})
        check_states(replaced(order, "FLAG", flag), {.low = 0.3});
}

// Boxes, capsules, cylinders and meshes on a plane; capsules on boxes.
TEST_CASE("sensors of contacts: the order within pairs that make several") {
    HINDCAST_NEEDS_MUJOCO();
    for (const TwoGeoms& two : closed_forms()) {
        if (std::string_view(two.first).starts_with("box")) continue;
        CAPTURE(two.first);
        CAPTURE(two.second);
        std::string names;
        const std::string text =
            named(replaced(two.text("", true), "</mujoco>",
                           "<sensor>" + sensor("", "none", 8, "dist pos") + "</sensor></mujoco>"),
                  names);
        Oracle oracle(text, "robot.xml");
        Ours ours(text, robot_step, 1, "", ", \"sensors\": [" + names + "]");
        RandomPoses random(9);
        for (int k = 0; k < 300; ++k) {
            std::vector<Pose> poses = {random.pose(two.reach)};
            if (!two.has_ground()) poses.push_back(random.pose(two.reach));
            const RobotState state{joined(poses), std::vector<double>(poses.size() * 6), {}, {}};
            oracle.set(state), oracle.step();
            ours.set(state), ours.run();
            CHECK(distance(ours.array("sensordata"), sensordata(oracle)) < 1e-9);
        }
    }
}

// A box that lies flat on the floor has four contacts at its corners; one that hangs above has none.
TEST_CASE("sensors of contacts: a closed form") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string text = R"(<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
        <body pos="0 0 0.28"><freejoint/><geom name="box" type="box" size="0.1 0.2 0.3"/></body>
        <body pos="3 0 2"><freejoint/><geom name="high" size="0.1"/></body></worldbody><sensor>
        <contact geom1="box" num="5" data="found dist pos normal"/>
        <contact geom1="floor" geom2="high" num="2" data="found dist"/></sensor></mujoco>)";
    std::string names;
    const std::string with_names = named(text, names);
    Ours ours(with_names, robot_step, 1, "", ", \"sensors\": [" + names + "]");
    ours.run();
    const std::vector<double> found = ours.array("sensordata");
    std::vector<double> expected;
    for (const double y : {-0.2, 0.2})
        for (const double x : {-0.1, 0.1})
            for (const double v : {4.0, -0.02, x, y, -0.01, 0.0, 0.0, -1.0}) expected.push_back(v);
    expected.resize(5 * 8 + 4);
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) CHECK(std::fabs(found[k] - expected[k]) < 1e-12);
}

TEST_CASE("sensors of contacts: orders that are not simulated are refused by name") {
    HINDCAST_NEEDS_MUJOCO();
    const auto said = [&](const std::string& what, const std::string& gap) {
        const std::string text = R"(<mujoco><worldbody><geom name="o" type="box" size="1 1 1"/>
            <body name="a"><freejoint/><geom name="g" type="box" size="1 1 1"/><geom name="h" size="1")" +
                                 gap + R"(/></body></worldbody><sensor><contact name="skin" )" +
                                 what + "/></sensor></mujoco>";
        return message([&] { Ours(text, robot_step, 1, "", ", \"sensors\": [\"skin\"]"); });
    };
    CHECK(said("geom1='o' num='3' data='dist'", "")
              .find("at /bodies/0/sensors: sensor 'skin' lists contacts in "
                    "their order") != std::string::npos);
    CHECK(said("geom1='o' num='3' data='dist'", "").find("geom 'o' and geom 'g'") !=
          std::string::npos);
    CHECK(said("geom1='o' geom2='h' num='3'", "") == "no error");
    CHECK(said("geom1='o' num='3' data='found'", "") == "no error");
    CHECK(said("geom1='o' num='3' reduce='mindist'", "") == "no error");
    CHECK(said("geom1='h'", " margin='0.1' gap='0.1'").find("in a gap, as of") !=
          std::string::npos);
    CHECK(said("geom1='g' reduce='maxforce'", " margin='0.1' gap='0.1'") == "no error");
}
