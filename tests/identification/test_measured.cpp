// Residuals of measured data: a stone's flight, whose steps and cubics have closed forms.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/model/residuals.hpp"
#include "tests/identification/measured_scene.hpp"
#include "tests/support/error_message.hpp"
#include "tests/support/mujoco.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

constexpr double h = 0.1, g = -10, x0 = 0.5, v0 = 2;

// One stone that flies up and down, six steps of semi-implicit Euler: v_k = v0 + k h g,
// x_k = x0 + k h v0 + k (k + 1) / 2 h^2 g.
std::string flight(const std::string& keys, const std::string& more = "") {
    return R"({"format": 1, "time": {"step": 0.1, "steps": 6}, "gravity": [0, 0, -10],
      "bodies": [{"type": "particles", "name": "stone", "positions": [[0, 0, 0.5]], "velocity": [0, 0, 2]}],
      "objective": [{"type": "measured", "name": "camera", "of": "stone", "file": "flight.csv", )" +
           keys + "}]" + more + "}";
}
double v_at(int k) { return v0 + k * h * g; }
double x_at(int k) { return x0 + k * h * v0 + 0.5 * k * (k + 1) * h * h * g; }
// Hermite's cubic in its own basis.
double between(double time) {
    const int k = static_cast<int>(time / h);
    const double t = time / h - k, s = 1 - t;
    return x_at(k) * (1 + 2 * t) * s * s + h * v_at(k) * t * s * s +
           x_at(k + 1) * t * t * (3 - 2 * t) + h * v_at(k + 1) * t * t * (t - 1);
}

std::vector<double> residuals(const std::string& file, const std::string& keys) {
    const TemporaryFolder folder;
    put_file(folder, "flight.csv", file);
    const auto simulation = measured_scene(folder, flight(keys));
    simulation->run();
    return simulation->model().array("camera.residual").to_doubles();
}

double loss(const std::string& file, const std::string& keys) {
    const TemporaryFolder folder;
    put_file(folder, "flight.csv", file);
    return measured_scene(folder, flight(keys))->run();
}

std::string refusal(const std::string& file, const std::string& keys) {
    const TemporaryFolder folder;
    put_file(folder, "flight.csv", file);
    return message([&] { measured_scene(folder, flight(keys)); });
}

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
}

const std::string height = R"("channels": [{"column": "z", "array": "position", "component": 2}])";
const std::string speed = R"("channels": [{"column": "z", "array": "velocity", "component": 2}])";

}  // namespace

TEST_CASE("measured: residuals at the samples' own times") {
    SUBCASE("positions along cubics") {
        const auto r = residuals("time,z\n0,0\n0.033,0.1\n0.1,0\n0.25,0.2\n0.6,1\n", height);
        const double expected[] = {x0, between(0.033) - 0.1, x_at(1), between(0.25) - 0.2,
                                   x_at(6) - 1};
        REQUIRE(r.size() == 5);
        for (std::size_t i = 0; i < 5; ++i)
            CHECK(r[i] == doctest::Approx(expected[i]).epsilon(1e-13));
    }
    SUBCASE("velocities along lines") {
        const auto r = residuals("time,z\n0.04,0\n0.55,0\n", speed);
        CHECK(r[0] == doctest::Approx(v0 + 0.04 * g).epsilon(1e-13));
        CHECK(r[1] == doctest::Approx(v0 + 0.55 * g).epsilon(1e-13));
    }
    SUBCASE("held: the begin of the step") {
        const auto r = residuals("time,z\n0.04,0\n0.2,0\n0.55,0\n0.6,0\n",
                                 R"("channels": [{"column": "z", "array": "velocity",
                                                  "component": 2, "between": "hold"}])");
        CHECK(r[0] == doctest::Approx(v_at(0)).epsilon(1e-13));
        CHECK(std::fabs(r[1] - v_at(2)) < 1e-13);
        CHECK(r[2] == doctest::Approx(v_at(5)).epsilon(1e-13));
        CHECK(r[3] == doctest::Approx(v_at(6)).epsilon(1e-13));
    }
    SUBCASE("scale, offset, sigma, delay, another clock, a window") {
        const auto r =
            residuals("clock;z\n99;7\n100.05;1\n100.17;3\n100.31;5\n100.4;7\n",
                      height + R"(, "time": "clock", "start": 100, "scale": 0.1, "offset": [0.25],
                        "sigma": 0.5, "delay": 0.08, "from": 0.1, "until": 0.35)");
        REQUIRE(r.size() == 2);
        CHECK(r[0] == doctest::Approx((between(0.09) - 0.55) / 0.5).epsilon(1e-12));
        CHECK(r[1] == doctest::Approx((between(0.23) - 0.75) / 0.5).epsilon(1e-12));
    }
    SUBCASE("several channels, empty cells are no samples") {
        const auto r =
            residuals("time,z,u\n0.1,0,\n0.2,,0\n0.3,1,2\n",
                      R"("channels": [{"column": "z", "array": "position", "component": 2},
                                    {"column": "u", "array": "velocity", "component": 2}])");
        const double expected[] = {x_at(1), x_at(3) - 1, v_at(2), v_at(3) - 2};
        REQUIRE(r.size() == 4);
        for (std::size_t i = 0; i < 4; ++i)
            CHECK(r[i] == doctest::Approx(expected[i]).epsilon(1e-13));
    }
}

TEST_CASE("measured: a robot's forces are those at the begin of a step, its joints have names") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    // A bead of 2 kg on a rod, held by a servo of 50 N/m at 0: force -50 x, and x = 1 at first.
    put_file(folder, "bead.xml", R"(<mujoco><option gravity="0 0 0"/><worldbody><body>
      <joint name="rod" type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
      </body></worldbody><actuator><position name="servo" joint="rod" kp="50"/></actuator></mujoco>)");
    put_file(folder, "bead.csv", "time,f,x\n0,0,0\n0.015,0,\n0.02,0,0\n0.03,0,\n");
    const auto scene = [](const std::string& more) {
        return R"({"format": 1, "time": {"step": 0.01, "steps": 3},
          "bodies": [{"type": "articulated", "name": "bead", "model": "bead.xml", "qpos": [1]}],
          "objective": [{"type": "measured", "name": "m", "of": "bead", "file": "bead.csv", "channels": [
            {"column": "f", "array": "actuator_force", "index": "servo")" +
               more + R"(}, {"column": "x", "array": "qpos", "index": "rod"}]}]})";
    };
    const auto simulation = measured_scene(folder, scene(""));
    simulation->run();
    const auto r = simulation->model().array("m.residual").to_doubles();
    // Semi-implicit Euler: v -= h 25 x, x += h v. The force at 0.03 s belongs to a step that is not made.
    const double x1 = 1 - 0.0001 * 25, x2 = x1 + (x1 - 1) - 0.0001 * 25 * x1;
    const double expected[] = {-50, -50 * x1, -50 * x2, 1, x2};
    REQUIRE(r.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(r[i] == doctest::Approx(expected[i]).epsilon(1e-12));
    CHECK(contains(message([&] { measured_scene(folder, scene(R"(, "between": "linear")")); }),
                   "has what was at the begin of each step"));
    std::string wrong = scene("");
    wrong.replace(wrong.find("\"servo\""), 7, "\"serwo\"");
    CHECK(contains(message([&] { measured_scene(folder, wrong); }), "servo"));
}

TEST_CASE("measured: the place of a robot's site is that of a framepos sensor") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    // A bead on a rod with a site .5 m above it: z = .5 + x, x = t.
    put_file(folder, "bead.xml", R"(<mujoco><option gravity="0 0 0"/><worldbody><body>
      <joint name="rod" type="slide" axis="0 0 1"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
      <site name="tip" pos="0 0 0.5"/></body></worldbody>
      <sensor><framepos name="tip" objtype="site" objname="tip"/></sensor></mujoco>)");
    put_file(folder, "bead.csv", "time,z\n0,0\n0.01,0\n0.02,0\n");
    const auto scene = [](const std::string& channel) {
        return R"({"format": 1, "time": {"step": 0.01, "steps": 3},
          "bodies": [{"type": "articulated", "name": "bead", "model": "bead.xml", "qvel": [1],
                      "sensors": ["tip"]}],
          "objective": [{"type": "measured", "name": "m", "of": "bead", "file": "bead.csv",
                         "channels": [{"column": "z", )" +
               channel + "}]}]}";
    };
    for (const char* array : {"position", "velocity", "site_xpos"}) {
        const std::string said = message(
            [&] { measured_scene(folder, scene(R"("array": ")" + std::string(array) + '"')); });
        CHECK(contains(said, "/objective/0/channels/0/array"));
        CHECK(contains(said, "<framepos name=\"tip\" objtype=\"site\" objname=\"tip\"/>"));
        CHECK(contains(said, R"("array": "sensordata", "index": "tip:0")"));
    }
    // The remedy is one.
    const auto simulation =
        measured_scene(folder, scene(R"("array": "sensordata", "index": "tip:2")"));
    simulation->run();
    const auto r = simulation->model().array("m.residual").to_doubles();
    REQUIRE(r.size() == 3);
    for (std::size_t k = 0; k < 3; ++k)
        CHECK(r[k] == doctest::Approx(0.5 + 0.01 * static_cast<double>(k)).epsilon(1e-12));
}

TEST_CASE("measured: the loss is half the sum of rho") {
    // Velocities at steps 0, 1, 2: 2, 1, 0; residuals 2, -1, 0.5.
    const std::string file = "time,z\n0,0\n0.1,2\n0.2,-0.5\n";
    CHECK(loss(file, speed) == doctest::Approx(0.5 * (4 + 1 + 0.25)));
    CHECK(loss(file, speed + R"(, "loss": "huber", "width": 0.8)") ==
          doctest::Approx(0.5 * (0.8 * (4 - 0.8) + 0.8 * (2 - 0.8) + 0.25)));
    CHECK(loss(file, speed + R"(, "loss": "cauchy", "width": 0.8)") ==
          doctest::Approx(0.5 * 0.64 *
                          std::log((1 + 4 / 0.64) * (1 + 1 / 0.64) * (1 + 0.25 / 0.64))));
    CHECK(loss(file, speed + R"(, "sigma": 2, "weight": 3)") ==
          doctest::Approx(0.5 * 3 * 5.25 / 4));
}

TEST_CASE("measured: rho and its weights are those of the loss") {
    for (const optim::Loss kind : {optim::Loss::squared, optim::Loss::huber, optim::Loss::cauchy}) {
        const optim::RobustLoss loss{kind, 1.3};
        for (const double r : {-4.0, -1.2, -0.1, 0.4, 1.4, 9.0}) {
            // d rho / d r = weight * 2 r
            const double step = 1e-6,
                         slope = (loss.rho(r + step) - loss.rho(r - step)) / (2 * step);
            CHECK(slope == doctest::Approx(2 * r * loss.weight(r)).epsilon(1e-8));
            const auto gradient = [&](double at) { return at * loss.weight(at); };
            CHECK((gradient(r + step) - gradient(r - step)) / (2 * step) ==
                  doctest::Approx(loss.curvature(r)).epsilon(1e-8));
        }
    }
}

TEST_CASE("measured: the residuals are described") {
    const TemporaryFolder folder;
    put_file(folder, "flight.csv", "time,z,u\n0.1,5,6\n0.2,7,\n");
    const auto simulation =
        measured_scene(folder, flight(R"("channels": [{"column": "z", "array": "position"},
                          {"column": "u", "array": "velocity"}], "weight": 2, "sigma": [3, 4])"));
    const auto& blocks = simulation->model().shared<model::Residuals>().blocks;
    REQUIRE(blocks.size() == 1);
    const model::ResidualBlock& block = blocks[0];
    CHECK(block.owner == "camera");
    CHECK(block.file == "flight.csv");
    CHECK(block.weight == 2);
    CHECK(block.times == std::vector<double>{0.1, 0.2, 0.1});
    CHECK(block.measured == std::vector<double>{5, 7, 6});
    REQUIRE(block.channels.size() == 2);
    CHECK(block.channels[1].name == "u");
    CHECK(block.channels[1].first == 2);
    CHECK(block.channels[1].count == 1);
    CHECK(model::ResidualBlock::of(block.sigma, 1, 0) == 4);
    CHECK(model::ResidualBlock::of(block.scale, 1, 0) == 1);
}

TEST_CASE("measured: what is wrong is said") {
    const std::string good = "time,z\n0,0\n0.1,0\n";
    CHECK(contains(refusal("time,z\n0,0\n0.1,x\n", height), "flight.csv:3:5"));
    CHECK(contains(refusal("time,z\n0,0\n0.1,0\n0.1,0\n", height), "flight.csv:4:1"));
    CHECK(contains(refusal("time,z\n0,0\n0.1,0\n0.1,0\n", height), "does not come after"));
    CHECK(contains(refusal("time,zz\n0,0\n", height), "did you mean 'zz'"));
    CHECK(contains(refusal("clock,z\n0,0\n", height), "has no column 'time'"));
    CHECK(contains(refusal("time,z\n100,0\n101,0\n", height), "no sample of column 'z'"));
    CHECK(contains(refusal("time,z\n100,0\n101,0\n", height), "from 100 s to 101 s"));
    CHECK(contains(refusal(good, height + R"(, "at": "end")"), "/objective/0/at"));
    CHECK(contains(refusal(good, height + R"(, "delay": 0.02)"), "it may be from -0.5"));
    CHECK(contains(refusal(good, R"("channels": [{"column": "z", "array": "positon"}])"),
                   "did you mean 'position'"));
    CHECK(
        contains(refusal(good, R"("channels": [{"column": "z", "array": "position", "index": 1}])"),
                 "/objective/0/channels/0/index"));
    CHECK(contains(
        refusal(good, R"("channels": [{"column": "z", "array": "position", "component": 3}])"),
        "/objective/0/channels/0/component"));
    CHECK(contains(
        refusal(good, R"("channels": [{"column": "z", "array": "velocity", "between": "cubic"}])"),
        "is not there to be its slope"));
    CHECK(contains(refusal(good, R"("channels": [{"column": "z", "array": "position", "row": 0}])"),
                   "unknown key 'row'"));
    CHECK(contains(refusal(good, R"("channels": [])"), "/objective/0/channels"));
}
