// Controllers of robots: what they give in a step, computed once more from their formulas, and what they
// refuse.
#include <doctest/doctest.h>

#include <numbers>

#include "tests/robots/oracle.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

constexpr double step = 0.02;

const char* const arm = R"(<mujoco><option gravity="0 0 -9.81"/>
  <worldbody>
    <body><joint name="a" axis="0 1 0" damping="0.2"/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body pos="0.3 0 0"><joint name="b" type="slide" axis="1 0 0" damping="0.4"/>
        <inertial pos="0.1 0 0" mass="0.5" diaginertia="0.1 0.1 0.1"/>
        <body><joint name="c" type="ball"/>
          <inertial pos="0.1 0 0" mass="0.3" diaginertia="0.1 0.1 0.1"/></body></body></body>
  </worldbody>
  <actuator>
    <motor name="first" joint="a" ctrlrange="-2 6"/><motor name="second" joint="b"/>
    <motor name="third" joint="c" gear="1 0 0"/>
  </actuator></mujoco>)";

const char* const passive = R"(<mujoco><worldbody><body><joint axis="0 1 0"/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>)";

// Times that are not those of steps.
const char* const tape = "t,current,force\n1.05,0.5,2\n1.11,-0.3,3\n1.125,0.8,-1\n1.2,0.1,4\n";

std::unique_ptr<Simulation> controlled(const TemporaryFolder& folder,
                                       const std::string& controllers, std::int64_t steps,
                                       const char* model = arm,
                                       const std::string& keys = R"(, "ctrl": [0.5, 0.25, 0])") {
    std::ofstream(folder / "robot.xml") << model;
    std::ofstream(folder / "tape.csv") << tape;
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = ir::Precision::f64;
    options.steps = steps;
    return std::make_unique<Simulation>(
        Scene::of(
            document::Document::parse(R"({"format": 1, "time": {"step": 0.02, "steps": 20},
            "bodies": [{"type": "articulated", "name": "robot", "model": "robot.xml")" +
                                          keys + R"(}], "controllers": [)" + controllers + "]}",
                                      "scene"),
            folder / "scene.json"),
        all_modules(), options);
}

// The controls of step `number`, and the state at its begin.
struct Given {
    std::vector<double> control, qpos, qvel;
};
Given given(const std::string& controllers, std::int64_t number) {
    const TemporaryFolder folder;
    const auto before = controlled(folder, controllers, number),
               after = controlled(folder, controllers, number + 1);
    before->run();
    after->run();
    return {after->model().array("robot.control").to_doubles(),
            before->model().array("robot.qpos").to_doubles(),
            before->model().array("robot.qvel").to_doubles()};
}

std::string refusal(const std::string& controllers, const char* model = arm,
                    const std::string& keys = "") {
    const TemporaryFolder folder;
    return message([&] { controlled(folder, controllers, 1, model, keys); });
}

// Hermite's cubic in its own basis.
double hermite(double p, double m, double q, double n, double t) {
    return p * (1 + 2 * t) * (1 - t) * (1 - t) + m * t * (1 - t) * (1 - t) +
           q * t * t * (3 - 2 * t) + n * t * t * (t - 1);
}

}  // namespace

TEST_CASE("controllers: courses over time are held, go along lines or cubics") {
    HINDCAST_NEEDS_MUJOCO();
    const double rows[5] = {0.3, -0.8, 1.1, 0.4, 0.9};
    const auto course = [](const std::string& interpolation) {
        return R"({"type": "spline", "of": "robot", "actuators": ["second"], "interval": 0.05,
            "values": [[0.3], [-0.8], [1.1], [0.4], [0.9]], "interpolation": ")" +
               interpolation + "\"}";
    };
    for (const int number : {0, 1, 2, 3, 4, 6, 7, 9, 10, 11, 15}) {
        CAPTURE(number);
        const double place = number * step / 0.05;
        const int low = std::min(static_cast<int>(std::floor(place + 1e-9)), 4);
        const double t = place - low;
        const auto value = [&](int k) { return rows[std::clamp(k, 0, 4)]; };
        const auto slope = [&](int k) {
            if (k == 0) return rows[1] - rows[0];
            if (k == 4) return rows[4] - rows[3];
            return (rows[k + 1] - rows[k - 1]) / 2;
        };
        const double held = value(low), line = value(low) + t * (value(low + 1) - value(low)),
                     cubic = low == 4 ? rows[4]
                                      : hermite(value(low), slope(low), value(low + 1),
                                                slope(low + 1), t);
        for (const auto& [interpolation, expected] :
             {std::pair{"hold", held}, {"linear", line}, {"cubic", cubic}}) {
            CAPTURE(interpolation);
            const Given g = given(course(interpolation), number);
            CHECK(g.control[0] == 0.5);
            CHECK(std::fabs(g.control[1] - (0.25 + expected)) < 1e-14);
            CHECK(g.control[2] == 0);
        }
    }
}

TEST_CASE("controllers: Fourier series add up, and to each other") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string waves = R"({"type": "sines", "of": "robot", "actuators": ["third", "first"],
        "frequency": 1.7, "harmonics": 2, "amplitude": [[0.4, 0.1], [0.2, -0.3]],
        "phase": [[0.5, 0.1], [-0.7, 0.3]], "offset": [0.05, -0.1]})";
    const Given g = given(waves + ", " + waves, 7);
    const double turn = 2 * std::numbers::pi * 1.7 * 7 * step;
    const double third = 0.05 + 0.4 * std::sin(turn + 0.5) + 0.1 * std::sin(2 * turn + 0.1);
    const double first = -0.1 + 0.2 * std::sin(turn - 0.7) - 0.3 * std::sin(2 * turn + 0.3);
    CHECK(std::fabs(g.control[0] - (0.5 + 2 * first)) < 1e-14);
    CHECK(std::fabs(g.control[1] - 0.25) < 1e-14);
    CHECK(std::fabs(g.control[2] - 2 * third) < 1e-14);
}

TEST_CASE("controllers: records are replayed at their own times, late by a delay") {
    HINDCAST_NEEDS_MUJOCO();
    const double times[4] = {1.05, 1.11, 1.125, 1.2}, current[4] = {0.5, -0.3, 0.8, 0.1},
                 force[4] = {2, 3, -1, 4};
    const std::string begin =
        R"({"type": "recorded", "of": "robot", "actuators": ["second", "third"],
        "file": "tape.csv", "time": "t", "columns": ["force", "current"], "start": 1, "delay": 0.03,
        "scale": [1, 2], "interpolation": ")";
    for (const int number : {0, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15}) {
        CAPTURE(number);
        const double time = 1 + (number + 0.5) * step - 0.03;
        int low = 0;
        while (low < 3 && times[low + 1] <= time) ++low;
        const double part =
            low == 3 || time < times[0] ? 0 : (time - times[low]) / (times[low + 1] - times[low]);
        const auto line = [&](const double* values) {
            return values[low] + (low == 3 ? 0 : part * (values[low + 1] - values[low]));
        };
        const Given linear = given(begin + "linear\"}", number),
                    held = given(begin + "hold\"}", number);
        CHECK(std::fabs(linear.control[1] - (0.25 + line(force))) < 1e-12);
        CHECK(std::fabs(linear.control[2] - 2 * line(current)) < 1e-12);
        CHECK(held.control[1] == 0.25 + force[low]);
        CHECK(held.control[2] == 2 * current[low]);
    }
}

TEST_CASE("controllers: a joint is drawn to a target that rests or moves") {
    HINDCAST_NEEDS_MUJOCO();
    const Given rests = given(R"({"type": "pd", "of": "robot", "actuators": ["first", "second"],
        "targets": [0.4, 0.1], "stiffness": [8, 30], "damping": [0.5, 2]})",
                              9);
    CHECK(std::fabs(rests.control[0] - (0.5 + 8 * (0.4 - rests.qpos[0]) - 0.5 * rests.qvel[0])) <
          1e-13);
    CHECK(std::fabs(rests.control[1] - (0.25 + 30 * (0.1 - rests.qpos[1]) - 2 * rests.qvel[1])) <
          1e-13);
    // A line of slope 0.6 rad in 0.1 s.
    const Given moves = given(R"({"type": "pd", "of": "robot", "actuators": ["first"],
        "targets": [[0], [0.6], [0.6], [0.6], [0.6]], "interval": 0.1, "stiffness": 8, "damping": 0.5})",
                              3);
    CHECK(std::fabs(moves.control[0] -
                    (0.5 + 8 * (6 * 0.06 - moves.qpos[0]) + 0.5 * (6 - moves.qvel[0]))) < 1e-13);
}

TEST_CASE("controllers: a network gives what its layers say") {
    HINDCAST_NEEDS_MUJOCO();
    const double weights[2 * 3 + 3 * 2] = {0.3, -0.2, 0.5,  0.7, -0.4, 0.1,
                                           0.6, 0.2,  -0.3, 0.4, -0.5, 0.8};
    for (const bool relu : {false, true}) {
        const Given g = given(
            std::string(R"({"type": "network", "of": "robot", "actuators": ["first", "second"],
            "observe": ["clock"], "period": 0.7, "hidden": [3], "activation": ")") +
                (relu ? "relu" : "tanh") + R"(", "center": [0.1, -0.2], "width": [2, 0.5],
            "weights": [0.3, -0.2, 0.5, 0.7, -0.4, 0.1, 0.6, 0.2, -0.3, 0.4, -0.5, 0.8],
            "biases": [0.1, -0.3, 0.2, 0.05, -0.1], "scale": [3, 0.5]})",
            8);
        const double phase = 2 * std::numbers::pi * 8 * step / 0.7;
        const double x[2] = {(std::sin(phase) - 0.1) / 2, (std::cos(phase) + 0.2) / 0.5};
        const double inner[3] = {0.1, -0.3, 0.2}, outer[2] = {0.05, -0.1};
        double y[3];
        for (int o = 0; o < 3; ++o) {
            const double sum = inner[o] + weights[2 * o] * x[0] + weights[2 * o + 1] * x[1];
            y[o] = relu ? std::max(sum, 0.0) : std::tanh(sum);
        }
        for (int o = 0; o < 2; ++o) {
            double sum = outer[o];
            for (int i = 0; i < 3; ++i) sum += weights[6 + 3 * o + i] * y[i];
            // The range of the first is [-2, 6], of which 2 is the middle.
            const double expected =
                o == 0 ? 0.5 + 2 + 3 * std::tanh(sum) : 0.25 + 0.5 * std::tanh(sum);
            CHECK(std::fabs(g.control[static_cast<std::size_t>(o)] - expected) < 1e-14);
        }
    }
}

TEST_CASE("controllers: what a network observes, and random weights") {
    HINDCAST_NEEDS_MUJOCO();
    const TemporaryFolder folder;
    const std::string network = R"({"type": "network", "name": "policy", "of": "robot",
        "observe": ["qvel", "qpos", "position"], "hidden": [7], "seed": 3})";
    const Given g = given(network, 5);
    const auto s = controlled(folder, network, 6);
    s->run();
    const auto observed = s->model().array("policy.observed").to_doubles();
    REQUIRE(observed.size() == g.qvel.size() + g.qpos.size() + 9);
    for (std::size_t k = 0; k < g.qvel.size(); ++k) CHECK(observed[k] == g.qvel[k]);
    for (std::size_t k = 0; k < g.qpos.size(); ++k) CHECK(observed[g.qvel.size() + k] == g.qpos[k]);
    const model::Quantity& weights = *s->model().find_quantity("policy.weights");
    const std::size_t inputs = observed.size();
    REQUIRE(weights.values.size() == 7 * inputs + 21);
    double largest = 0;
    for (std::size_t k = 0; k < 7 * inputs; ++k)
        largest = std::max(largest, std::fabs(weights.values[k]));
    const double most = std::sqrt(6.0 / static_cast<double>(inputs + 7));
    CHECK(largest <= most);
    CHECK(largest > 0.9 * most);
}

TEST_CASE("controllers: what is wrong is refused at its place") {
    HINDCAST_NEEDS_MUJOCO();
    const auto says = [](const std::string& text, const std::string& words) {
        CHECK_MESSAGE(text.find(words) != std::string::npos, text);
    };
    says(refusal(R"({"type": "spline", "of": "robto"})"), "did you mean 'robot'");
    says(refusal(R"({"type": "spline", "of": "robot", "actuators": ["frist"]})"), "first");
    says(refusal(R"({"type": "spline", "of": "robot", "actuators": [3]})"), "no actuator 3");
    says(refusal(R"({"type": "spline", "of": "robot", "actuators": [1, "second"]})"), "twice");
    says(refusal(R"({"type": "spline", "of": "robot", "values": [[0, 0, 0], [1, 1, 1]]})"),
         "\"interval\"");
    says(refusal(
             R"({"type": "spline", "of": "robot", "interval": 0.1, "values": [[0, 0], [1, 1]]})"),
         "3");
    says(refusal(R"({"type": "spline", "of": "robot"})", passive), "no actuators");
    says(refusal(R"({"type": "pd", "of": "robot", "stiffness": 1})"), "third");
    says(refusal(R"({"type": "network", "of": "robot", "observe": ["qops"]})"), "qpos");
    says(refusal(R"({"type": "network", "of": "robot", "observe": ["clock"]})"), "period");
    const std::string begin =
        R"({"type": "recorded", "of": "robot", "actuators": ["first"], "file": "tape.csv", )";
    says(refusal(begin + R"("columns": ["force"]})"), "no column");
    says(refusal(begin + R"("time": "t", "columns": ["frce"]})"), "force");
    says(refusal(begin + R"("time": "force", "columns": ["t"]})"), "tape.csv:4:");
    says(refusal(begin + R"("time": "t", "columns": ["force", "current"]})"),
         "2 columns for 1 actuators");
    const std::string scene = R"({"format": 1, "time": {"step": 0.1, "steps": 1},
        "controllers": [{"type": "spline", "of": "robot"}]})";
    says(message([&] {
             SimulationOptions options;
             options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
             Simulation(Scene::parse(scene), all_modules(), options);
         }),
         "no body of type \"articulated\"");
}
