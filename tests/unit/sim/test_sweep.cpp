// Sweeps: what an axis says, the order of the grid, and which numbers a path means.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/sim/ensembles/sweep.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/devices.hpp"

namespace hindcast {

namespace {

using Values = std::vector<double>;

// Two balls in free fall: x = x0 + n h v + g h^2 n (n + 1) / 2.
constexpr const char* flight = R"({
    "format": 1, "time": {"step": 0.5, "steps": 4}, "gravity": [0, 0, -8],
    "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0], [1, 2, 3]],
                "velocity": [[0, 1, 2], [0, 0, 1]], "mass": 2}],
    "objective": [{"type": "point_target", "of": "ball", "target": [0, 0, 0]}],
    "parameters": [{"path": "ball.velocity", "components": ["z"]}]})";

Sweep make(const std::vector<std::string>& axes, const char* scene = flight) {
    SimulationOptions options;
    options.device = test::interpreter_device();
    options.precision = ir::Precision::f64;
    std::vector<SweepAxis> list;
    for (const std::string& axis : axes) list.push_back(SweepAxis::parse(axis));
    return Sweep(Scene::parse(scene), test::all_modules(), options, std::move(list));
}

}  // namespace

TEST_CASE("sweep: lists, ranges and fractions") {
    CHECK(SweepAxis::parse("a.b=1,-2.5,3e2,1/4").values == Values{1, -2.5, 300, 0.25});
    CHECK(SweepAxis::parse("a.b=1,2").path == "a.b");
    CHECK(SweepAxis::parse("a.b=0:1:5").values == Values{0, 0.25, 0.5, 0.75, 1});
    CHECK(SweepAxis::parse("a.b=2:-1:2").values == Values{2, -1});
    for (const char* wrong : {"a.b", "=1", "a.b=", "a.b=1,,2", "a.b=x", "a.b=1:2", "a.b=1:2:1",
                              "a.b=1:2:3:4", "a.b=1:2:x", "a.b=nan", "a.b=inf", "a..b=1"}) {
        CAPTURE(std::string(wrong));
        CHECK_THROWS_AS(SweepAxis::parse(wrong), Error);
    }
}

TEST_CASE("sweep: the last axis runs fastest, and a path may mean several numbers") {
    Sweep sweep = make({"ball.velocity.z=5,6", "gravity.z=-1,-2,-3"});
    CHECK(sweep.size() == 6);
    CHECK(sweep.own_parameters() == 2);
    CHECK(sweep.coordinates(0) == Values{5, -1});
    CHECK(sweep.coordinates(1) == Values{5, -2});
    CHECK(sweep.coordinates(5) == Values{6, -3});
    // Parameters: both z velocities, then gravity.z, which the scene does not name.
    CHECK(sweep.simulation().parameters().names() ==
          std::vector<std::string>{"ball.velocity[0].z", "ball.velocity[1].z", "gravity.z"});
    CHECK(sweep.parameters(4) == Values{6, 6, -2});
    CHECK(sweep.slope(0, {1, 10, 100}) == 11);
    CHECK(sweep.slope(1, {1, 10, 100}) == 100);
    CHECK(sweep.gradient_norm({3, 4, 100}) == 5);
    CHECK(make({"ball.velocity[1].z=7"}).parameters(0) == Values{2, 7});
}

TEST_CASE("sweep: losses and slopes are those of a closed form") {
    // After n = 4 steps of h = 0.5: z = 2 v + 2.5 g, y = 2; loss = (z^2 + y^2) / 2 over ball 0.
    Sweep sweep = make({"ball.velocity[0].z=1,3", "gravity.z=-1,-2"});
    for (std::size_t k = 0; k < sweep.size(); ++k) {
        const Values at = sweep.coordinates(k);
        const double z = 2 * at[0] + 2.5 * at[1];
        sweep.simulation().parameters().set_values(sweep.parameters(k));
        const double both = sweep.simulation().run(true);
        const Values gradient = sweep.simulation().gradient();
        // Ball 1 adds the same for every variant but gravity.
        const double other = 0.5 * (1 + 4 + std::pow(3 + 2 * 1 + 2.5 * at[1], 2));
        CHECK(both == doctest::Approx(0.5 * (z * z + 4) + other));
        CHECK(sweep.slope(0, gradient) == doctest::Approx(2 * z));
        CHECK(sweep.slope(1, gradient) ==
              doctest::Approx(2.5 * z + 2.5 * (3 + 2 * 1 + 2.5 * at[1])));
    }
}

TEST_CASE("sweep: what is wrong is said") {
    CHECK_THROWS_WITH_AS(make({"ball.velocity.z=1", "ball.velocity[0].z=1"}),
                         doctest::Contains("'ball.velocity[0].z' is swept by two axes"), Error);
    CHECK_THROWS_WITH_AS(make({"ball.mass=1,-1"}), doctest::Contains("cannot be -1"), Error);
    CHECK_THROWS_WITH_AS(make({"ball.velocty=1"}), doctest::Contains("did you mean"), Error);
    CHECK_THROWS_WITH_AS(make({"time.step=1"}), doctest::Contains("unknown path"), Error);
    CHECK_THROWS_WITH_AS(make({"ball.velocity.z=0:1:10000", "gravity.z=0:1:10000"}),
                         doctest::Contains("more than 10000000 points"), Error);
}

}  // namespace hindcast
