// How heavy the points of a robot feel, by hand.
#include <doctest/doctest.h>

#include "engine/model/handles/grips.hpp"
#include "tests/robots/oracle.hpp"

using namespace hindcast;
using namespace hindcast::test;

TEST_CASE("grips of robots: a pendulum, a free body, one that nothing moves") {
    HINDCAST_NEEDS_MUJOCO();
    // Points: centers of mass of rod, stone and wall; sites: tip of the rod, corner of the stone.
    Ours ours(R"(<mujoco><option gravity="0 0 0"/><worldbody>
        <body name="rod" pos="0 0 2"><joint axis="0 1 0" armature="0.1"/>
          <inertial pos="0 0 -0.5" mass="2" diaginertia="0.3 0.4 0.3"/>
          <site pos="0 0 -1"/></body>
        <body name="stone" pos="3 0 0"><freejoint/>
          <inertial pos="0 0 0" mass="1.5" diaginertia="0.2 0.2 0.2"/><site pos="0 0 0.4"/></body>
        <body name="wall" pos="5 0 0">
          <inertial pos="0 0 0" mass="7" diaginertia="1 1 1"/></body>
        </worldbody></mujoco>)",
              0.01, 0);
    ours.run();
    const model::Grips* const grips = model::grips_of(ours.simulation().model(), "robot");
    REQUIRE(grips != nullptr);
    CHECK(grips->body_of == std::vector<std::int64_t>{1, 2, 3, 1, 2});
    // About its axis the rod has I = 0.4 + 2 * 0.5^2 + 0.1 = 1; a point at distance r feels like I/r^2.
    CHECK(grips->masses(0).least == doctest::Approx(4));
    CHECK(grips->masses(0).all == doctest::Approx(4));  // no less than that
    CHECK(grips->masses(3).least == doctest::Approx(1));
    CHECK(grips->masses(3).all == doctest::Approx(2));
    CHECK(grips->masses(1).least == doctest::Approx(1.5));
    CHECK(grips->masses(1).all == doctest::Approx(1.5));
    // Across its arm a corner turns the stone: 1/m + r^2/I.
    CHECK(grips->masses(4).least == doctest::Approx(1 / (1 / 1.5 + 0.16 / 0.2)));
    CHECK(grips->masses(2).least == 0);
    CHECK(model::grips_of(ours.simulation().model(), "other") == nullptr);
}

TEST_CASE("grips of robots: the same whatever numbers say how bodies resist") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    std::ofstream(folder / "robot.xml") << R"(<mujoco><worldbody>
        <body><freejoint/><inertial pos="0 0 0" mass="1.5" diaginertia="0.2 0.2 0.2"/></body>
        </worldbody></mujoco>)";
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = ir::Precision::f64;
    Simulation s(Scene::of(document::Document::parse(R"({"format": 1,
        "time": {"step": 0.01, "steps": 0}, "bodies": [{"type": "articulated", "name": "robot",
        "model": "robot.xml", "inertia_numbers": "pseudo"}]})",
                                                     "scene"),
                           folder / "scene.json"),
                 all_modules(), options);
    s.run();
    const model::Grips* const grips = model::grips_of(s.model(), "robot");
    REQUIRE(grips != nullptr);
    CHECK(grips->masses(0).least == doctest::Approx(1.5));
    CHECK(grips->masses(0).all == doctest::Approx(1.5));
}
