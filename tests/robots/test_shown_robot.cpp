// What is shown of robots beside their bodies: contact forces against MuJoCo's and against weights, axes
// of joints and sites against closed forms.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/model/handles/sliders.hpp"
#include "engine/model/shown.hpp"
#include "tests/robots/collision/contacts.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

struct Arrow {
    std::array<double, 3> place{}, vector{};
};

std::vector<Arrow> arrows_of(Simulation& simulation, const std::string& name) {
    model::ShownValues shown(simulation.model(), name + " of robot");
    shown.evaluate();
    const std::vector<double> numbers = shown.values().to_doubles();
    std::vector<Arrow> all(numbers.size() / 6);
    for (std::size_t k = 0; k < numbers.size(); ++k)
        (k % 6 < 3 ? all[k / 6].place : all[k / 6].vector)[k % 3] = numbers[k];
    return all;
}

double length(const std::array<double, 3>& v) { return std::hypot(v[0], v[1], v[2]); }
double apart(const std::array<double, 3>& a, const std::array<double, 3>& b) {
    return length({a[0] - b[0], a[1] - b[1], a[2] - b[2]});
}

// Those of the oracle's last step, on the second geom of each contact.
std::vector<Arrow> forces_of(const Oracle& oracle, const robot::CompiledModel& model) {
    const auto force_of = reinterpret_cast<void (*)(const void*, const void*, int, double*)>(
        robot::mujoco_library().function("mj_contactForce"));
    std::vector<Arrow> all;
    for (const FoundContact& c : contacts_of(oracle)) {
        std::array<double, 6> own{};
        force_of(model.memory.get(), oracle.data(), static_cast<int>(all.size()), own.data());
        Arrow arrow{c.place, {}};
        for (std::size_t k = 0; k < 3; ++k)
            for (std::size_t axis = 0; axis < 3; ++axis)
                arrow.vector[k] += c.frame[3 * axis + k] * own[axis];
        all.push_back(arrow);
    }
    return all;
}

// Bodies that lie on a floor, of every dimension of contact, one by a <pair>.
std::string heap(const std::string& cone) {
    return R"(<mujoco>
  <option timestep="0.005" cone=")" +
           cone + R"(" impratio="2" solver="Newton" tolerance="0" iterations="200"
          ls_tolerance="1e-12" ls_iterations="100"><flag warmstart="disable"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" condim="1" friction="0.8 0.01 0.002"/>
    <body pos="0 0 0.095"><freejoint/><geom type="sphere" size="0.1" condim="1"/></body>
    <body pos="1 0 0.095"><freejoint/><geom type="box" size="0.2 0.15 0.1" condim="3"/></body>
    <body pos="2 0 0.09" euler="0 90 20"><freejoint/>
      <geom type="capsule" size="0.1 0.3" condim="4"/></body>
    <body pos="3 0 0.195"><freejoint/><geom type="sphere" size="0.2" condim="6"/></body>
    <body pos="4 0 0.098"><freejoint/><geom name="puck" type="sphere" size="0.1"/></body>
  </worldbody>
  <contact><pair geom1="puck" geom2="floor" condim="3" friction="0.3 0.6 0.01 0.002 0.003"/></contact>
</mujoco>)";
}

}  // namespace

TEST_CASE("shown of robots: the forces of contacts are MuJoCo's") {
    HINDCAST_NEEDS_MUJOCO();
    for (const std::string cone : {"pyramidal", "elliptic"}) {
        CAPTURE(cone);
        const std::string text = heap(cone);
        Oracle oracle(text, "robot.xml");
        const robot::CompiledModel model = robot::mujoco_library().compile(text, "robot.xml");
        Ours ours(text, 0.005, 1);
        RobotState state;
        const auto start = oracle.model().reals("qpos0");
        state.qpos.assign(start.begin(), start.end());
        for (std::size_t k = 0; k < 30; ++k)  // sliding, turning, some pressed down
            state.qvel.push_back(k % 6 == 2 ? -0.05 : 0.4 * std::sin(static_cast<double>(k)));
        ours.set(state);
        ours.run();
        oracle.set(state);
        oracle.step();
        const std::vector<Arrow> expected = forces_of(oracle, model),
                                 found =
                                     arrows_of(ours.simulation(), "contact force between bodies");
        CHECK(expected.size() >= 8);
        double most = 0, sum = 0, difference = 0;
        for (const Arrow& e : expected) {
            most = std::max(most, length(e.vector));
            const auto nearest = std::ranges::min_element(found, {}, [&](const Arrow& f) {
                return apart(f.place, e.place) + apart(f.vector, e.vector) / 1e3;
            });
            CHECK(apart(nearest->place, e.place) < 1e-9);
            difference = std::max(difference, apart(nearest->vector, e.vector));
            sum += e.vector[2];
        }
        CHECK(most > 1);
        CHECK(difference < 1e-6 * most);
        // No others.
        double ours_sum = 0;
        for (const Arrow& f : found) ours_sum += f.vector[2];
        CHECK(std::fabs(ours_sum - sum) < 1e-6 * most);
    }
}

TEST_CASE("shown of robots: what lies still is carried by its contacts") {
    HINDCAST_NEEDS_MUJOCO();
    Ours ours(R"(<mujoco><option gravity="0 0 -10"/><worldbody>
        <geom type="plane" size="5 5 1"/>
        <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.1 0.1" mass="3"/></body>
        </worldbody></mujoco>)",
              0.01, 400);
    ours.run();
    std::array<double, 3> sum{};
    std::size_t at_work = 0;
    for (const Arrow& a : arrows_of(ours.simulation(), "contact force between bodies")) {
        if (length(a.vector) == 0) continue;
        ++at_work;
        CHECK(std::fabs(std::fabs(a.place[0]) - 0.2) < 1e-4);
        CHECK(std::fabs(std::fabs(a.place[1]) - 0.1) < 1e-4);
        for (std::size_t k = 0; k < 3; ++k) sum[k] += a.vector[k];
    }
    CHECK(at_work == 4);
    CHECK(std::fabs(sum[2] - 30) < 1e-3);
    CHECK(std::hypot(sum[0], sum[1]) < 1e-3);
}

TEST_CASE("shown of robots: axes of joints and sites") {
    HINDCAST_NEEDS_MUJOCO();
    Ours ours(R"(<mujoco><option gravity="0 0 0"/><worldbody>
        <body pos="0 0 2"><joint name="lift" type="slide" axis="0 0 2"/>
          <joint name="turn" axis="0 0 1" pos="0.1 0 0"/>
          <joint name="tilt" axis="0 3 0" pos="0 0 0.2"/>
          <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
          <site pos="0.5 0 0" quat="1 0 0 0"/>
        </body></worldbody></mujoco>)",
              0.01, 0);
    const double half = std::acos(-1.0) / 2;
    ours.set({{0.5, half, 0.0}, {0, 0, 0}, {}, {}});
    ours.run();
    const auto axes = arrows_of(ours.simulation(), "joint axis");
    REQUIRE(axes.size() == 3);
    const auto near = [](const std::array<double, 3>& a, const std::array<double, 3>& b) {
        CHECK(apart(a, b) < 1e-12);
    };
    // Lifted to z = 2.5, then a quarter turn about the vertical through (0.1, 0): what was at the origin
    // is at (0.1, -0.1), x points along y, y along -x.
    near(axes[0].vector, {0, 0, 1});
    near(axes[1].vector, {0, 0, 1});
    CHECK(std::hypot(axes[1].place[0] - 0.1, axes[1].place[1]) < 1e-12);
    near(axes[2].vector, {-1, 0, 0});
    near(axes[2].place, {0.1, -0.1, 2.7});
    const auto site = arrows_of(ours.simulation(), "site axis");
    REQUIRE(site.size() == 3);
    for (const Arrow& a : site) near(a.place, {0.1, 0.4, 2.5});
    near(site[0].vector, {0, 1, 0});
    near(site[1].vector, {-1, 0, 0});
    near(site[2].vector, {0, 0, 1});
}

TEST_CASE(
    "shown of robots: a hinge's axis is shown where it is, also once others have turned its body") {
    HINDCAST_NEEDS_MUJOCO();
    Ours ours(R"(<mujoco><option gravity="0 0 0"/><worldbody>
        <body><joint axis="0 0 1" pos="1 0 0"/><joint axis="1 0 0" pos="0 2 0"/>
          <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>)",
              0.01, 0);
    ours.set({{0, 0.7}, {0, 0}, {}, {}});
    ours.run();
    // The first axis stays the vertical through (1, 0), however the second joint turns the body.
    const auto axes = arrows_of(ours.simulation(), "joint axis");
    CHECK(std::hypot(axes[0].place[0] - 1, axes[0].place[1]) < 1e-12);
    CHECK(apart(axes[0].vector, {0, 0, 1}) < 1e-12);
}

TEST_CASE("sliders of robots: ranges are the model's where it has limits") {
    HINDCAST_NEEDS_MUJOCO();
    Ours ours(R"(<mujoco><worldbody>
        <body name="trunk"><freejoint name="root"/>
          <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
          <body name="leg"><joint name="hip" range="-30 60"/>
            <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
            <body><joint type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
            </body></body></worldbody>
        <actuator><motor name="drive" joint="hip" ctrlrange="-2 3"/><motor joint="hip"/></actuator>
        </mujoco>)",
              0.01, 0);
    model::Model& model = ours.simulation().model();
    const auto controls = model::sliders(model, "robot.ctrl");
    REQUIRE(controls.size() == 2);
    CHECK(controls[0].name == "drive");
    CHECK(controls[0].limited);
    CHECK(controls[0].low == -2);
    CHECK(controls[0].high == 3);
    CHECK(controls[1].name == "actuator 1");
    CHECK(!controls[1].limited);
    const auto joints = model::sliders(model, "robot.qpos");
    REQUIRE(joints.size() == 5);
    CHECK(joints[2].name == "root z");
    CHECK(joints[2].element == 2);
    CHECK(joints[3].name == "hip");
    CHECK(joints[3].element == 7);
    CHECK(joints[3].unit == "rad");
    CHECK(joints[3].low == doctest::Approx(-std::acos(-1.0) / 6));
    CHECK(joints[3].high == doctest::Approx(std::acos(-1.0) / 3));
    CHECK(joints[4].name == "joint 2 of body 3");
    CHECK(joints[4].unit == "m");
    CHECK(!joints[4].limited);
}
