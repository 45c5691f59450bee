// Constants that follow from other numbers of a model: those of mj_setConst after a change, the step
// that they lead to, and its derivatives.
#include <doctest/doctest.h>

#include "tests/robots/constrained_models.hpp"
#include "tests/robots/oracle.hpp"
#include "tests/robots/tendon_models.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// Welds and connects whose second side follows from the pose qpos0, limits and friction loss of all that has
// an inverse weight, bodies that only slide or only turn.
const char* const holding = R"(<mujoco>
  <option timestep="0.005" gravity="0 0.1 -9.81" solver="Newton" tolerance="0" iterations="200"
          ls_tolerance="1e-12" ls_iterations="100"><flag warmstart="disable"/></option>
  <worldbody>
    <body name="a" pos="0 0 1" simple="false">
      <joint name="a1" type="slide" axis="0 1 0.2" ref="0.2" frictionloss="0.3"/>
      <inertial pos="0.1 0.05 0.1" mass="1.1" diaginertia="0.01 0.02 0.015"/>
      <body name="b" pos="0.3 0 0">
        <joint name="b1" axis="0 1 0" ref="20" range="-5 5"/>
        <inertial pos="0.1 0 0" mass="0.8" diaginertia="0.006 0.01 0.008"/>
        <body name="b2" pos="0.3 0 0" euler="10 0 30">
          <inertial pos="0.1 0 0" mass="0.3" diaginertia="0.006 0.01 0.008"/></body>
      </body>
    </body>
    <body name="c" pos="0.5 0.3 1" simple="false">
      <joint type="free" frictionloss="0.2" damping="0.1"/>
      <inertial pos="0.02 0 0.01" mass="1.5" diaginertia="0.01 0.015 0.02"/>
      <body name="d" pos="0 0.2 0.1">
        <joint name="d1" type="ball" range="0 10"/>
        <inertial pos="0 0.1 0" mass="0.5" diaginertia="0.004 0.003 0.005"/>
      </body>
    </body>
    <body name="e" pos="-0.5 0 1" simple="false">
      <joint name="e1" axis="0 0 1" armature="0.02"/>
      <inertial pos="0.1 0.05 0" mass="0.6" diaginertia="0.004 0.003 0.005"/>
    </body>
    <body name="still" pos="0.3 0.2 0.1"/>
  </worldbody>
  <tendon><fixed name="t1" range="-0.02 0.03" frictionloss="0.3">
    <joint joint="a1" coef="0.5"/><joint joint="b1" coef="-2"/></fixed></tendon>
  <equality>
    <connect body1="b2" body2="c" anchor="0.15 0 0.02"/>
    <weld body1="d" body2="e" anchor="0.1 0 0.05" solref="0.04 0.9"/>
    <weld body1="e" anchor="0.1 0.2 0.05" torquescale="0.6"/>
    <weld body1="still" body2="a" relpose="0.1 0.2 0.3 0.9 0.1 0.2 0.3"/>
    <joint joint1="a1" joint2="e1" polycoef="0.1 0.8 -0.3 0.2 0.05"/>
  </equality>
</mujoco>)";

// Numbers that a change may multiply or move, and by how much.
const std::vector<std::pair<const char*, double>> changes = {
    {"body_mass", 0.3},  {"body_inertia", 0.2}, {"body_ipos", 0.05},
    {"body_iquat", 0.1}, {"body_pos", 0.1},     {"body_quat", 0.1},
    {"jnt_pos", 0.05},   {"jnt_axis", 0.1},     {"dof_armature", 0.01}};

// Gives both these numbers; quaternions and axes are made of length 1 in MuJoCo, which takes them as
// they are.
void give(Oracle& oracle, Ours& ours, const std::string& key, std::vector<double> values) {
    model::Quantity& q = ours.quantity(key);
    q.values = values;
    q.upload();
    const bool unit = key.ends_with("quat") || key == "jnt_axis";
    for (std::size_t k = 0; unit && k < values.size();
         k += static_cast<std::size_t>(q.components)) {
        double square = 0;
        for (std::size_t c = 0; c < static_cast<std::size_t>(q.components); ++c)
            square += values[k + c] * values[k + c];
        for (std::size_t c = 0; c < static_cast<std::size_t>(q.components); ++c)
            values[k + c] /= std::sqrt(square);
    }
    std::ranges::copy(values, oracle.field(key).begin());
}

std::vector<double> numbers(std::span<const double> of) { return {of.begin(), of.end()}; }

double largest_difference(const std::vector<double>& a, std::span<const double> b) {
    double largest = 0;
    REQUIRE(a.size() <= b.size());
    for (std::size_t k = 0; k < a.size(); ++k)
        largest = std::max(largest, std::fabs(a[k] - b[k]) / (1 + std::fabs(b[k])));
    return largest;
}

double uniform(std::mt19937_64& generator) {
    return static_cast<double>(generator() >> 11) * 0x1p-52 - 1;
}

void change(Oracle& oracle, Ours& ours, std::mt19937_64& generator) {
    for (const auto& [key, size] : changes) {
        std::vector<double> values = numbers(oracle.model().reals(key));
        const std::string name = key;
        const bool multiplies = name == "body_mass" || name == "body_inertia";
        // MuJoCo has the world as it is.
        const std::size_t first =
            name.starts_with("body")
                ? values.size() / static_cast<std::size_t>(oracle.model().size("nbody"))
                : 0;
        for (std::size_t k = first; k < values.size(); ++k) {
            const double by = size * uniform(generator);
            if (multiplies)
                values[k] *= 1 + by;
            else
                values[k] += name == "dof_armature" ? std::fabs(by) : by;
        }
        give(oracle, ours, key, values);
    }
    oracle.set_constants();
}

}  // namespace

TEST_CASE("constants that follow from others are those of mj_setConst, and so is the next step") {
    HINDCAST_NEEDS_MUJOCO();
    std::vector<std::pair<std::string, std::string>> models = {{"holding", holding}};
    for (const std::size_t k : {0U, 1U, 2U})
        models.emplace_back(constrained_texts()[k].name,
                            with_integrator(constrained_texts()[k], "implicitfast"));
    models.emplace_back(tendon_texts()[3].name, with_integrator(tendon_texts()[3], "Euler"));
    for (auto& [name, text] : models) {
        CAPTURE(name);
        // MuJoCo keeps bodies that were simple so unless they are told otherwise.
        for (std::size_t k = text.find("<body"); k != std::string::npos && name != "holding";
             k = text.find("<body", k + 1))
            text.insert(k + 5, " simple=\"false\"");
        Oracle oracle(text, "robot.xml");
        Ours ours(text, robot_step, 1);
        std::mt19937_64 generator(5);
        double constants = 0, velocity = 0;
        for (int k = 0; k < 20; ++k) {
            if (k > 0) change(oracle, ours, generator);
            const RobotState state = oracle.random_state(generator);
            ours.run_beside(oracle, state);
            for (const char* key : {"dof_invweight0", "body_invweight0", "tendon_invweight0",
                                    "tendon_length0", "eq_data"})
                if (const std::vector<double> found = ours.array(key); !found.empty())
                    constants = std::max(constants, largest_difference(found, oracle.field(key)));
            velocity = std::max(velocity, distance(ours.array("qvel"), oracle.state().qvel));
        }
        CHECK(constants < 1e-9);
        CHECK(velocity < 1e-9);
    }
}

TEST_CASE("derivatives of a step by numbers that constants follow from are MuJoCo's differences") {
    HINDCAST_NEEDS_MUJOCO();
    std::string parameters;
    for (const auto& [key, size] : changes)
        parameters +=
            (parameters.empty() ? "" : ", ") + (R"({"path": "robot.)" + std::string(key) + "\"}");
    Oracle oracle(holding, "robot.xml");
    Ours ours(holding, robot_step, 1,
              R"(, "objective": [{"type": "array_target", "array": "robot.qvel", "target": 0.1}],
                 "parameters": [)" +
                  parameters + "]");
    std::mt19937_64 generator(3);
    change(oracle, ours, generator);
    const RobotState state = oracle.random_state(generator);
    const auto loss = [&] {
        oracle.set_constants();
        oracle.set(state);
        oracle.step();
        double sum = 0;
        for (const double v : oracle.state().qvel) sum += (v - 0.1) * (v - 0.1);
        return sum;
    };
    ours.set(state);
    CHECK(std::fabs(ours.simulation().run(true) / loss() - 1) < 1e-9);
    const std::vector<double> gradient = ours.simulation().gradient();
    double scale = 0;
    for (const double g : gradient) scale = std::max(scale, std::fabs(g));
    std::size_t place = 0;
    for (const auto& [key, size] : changes) {
        CAPTURE(key);
        const std::vector<double> start = ours.quantity(key).values;
        const std::string name = key;
        const bool of_bodies = name.starts_with("body");
        double worst = 0;
        for (std::size_t k = 0; k < start.size(); ++k, ++place) {
            // The world's numbers change nothing, or all.
            const std::size_t columns = static_cast<std::size_t>(ours.quantity(key).components);
            if (of_bodies && k < columns) continue;
            std::vector<double> values = start;
            const double step = 1e-6 * (1 + std::fabs(start[k]));
            const auto moved = [&](double by) {
                values[k] = start[k] + by;
                give(oracle, ours, key, values);
                return loss();
            };
            const double slope =
                (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) /
                (12 * step);
            worst = std::max(worst, std::fabs(slope - gradient[place]) / scale);
        }
        give(oracle, ours, key, start);
        CHECK(worst < 1e-6);
    }
}

TEST_CASE("constants that a scene writes are its own") {
    HINDCAST_NEEDS_MUJOCO();
    const auto made = [](const std::string& keys) {
        return std::make_unique<Ours>(holding, robot_step, 1, "", keys);
    };
    const auto follows = [](Ours& ours, const char* key) {
        return ours.simulation().model().find_quantity(std::string("robot.") + key) == nullptr;
    };
    const auto all = made(""), none = made(R"(, "derived": false)"),
               some = made(R"(, "tendon_invweight0": [2])");
    for (const char* key : {"dof_invweight0", "body_invweight0", "tendon_invweight0"}) {
        CHECK(follows(*all, key));
        CHECK(!follows(*none, key));
    }
    CHECK(follows(*some, "dof_invweight0"));
    CHECK(!follows(*some, "tendon_invweight0"));
}

TEST_CASE("what holds a mocap body follows from where the model has it, not the keyframe") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string text = R"(<mujoco><worldbody>
        <body name="hand" mocap="true" pos="1 2 3" quat="0.8 0.6 0 0"/>
        <body name="stone" pos="1 2.5 3"><freejoint/>
          <inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.1 0.1"/></body>
      </worldbody>
      <equality><weld body1="hand" body2="stone" anchor="0.1 0 0"/></equality>
      <keyframe><key name="away" mpos="4 5 6" mquat="0 1 0 0"/></keyframe></mujoco>)";
    Ours ours(text, robot_step, 1, "", R"(, "keyframe": "away")");
    ours.run();
    const Oracle oracle(text, "robot.xml");
    CHECK(largest_difference(ours.array("eq_data"), oracle.model().reals("eq_data")) < 1e-12);
}
