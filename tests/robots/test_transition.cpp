// The derivatives of one step by state and controls, against MuJoCo's own differences (mjd_transitionFD).
//
// Its state has tangents: 6 numbers of a free joint, of which three turn the body about its own axes.
#include <doctest/doctest.h>

#include "tests/robots/collision/contacts.hpp"
#include "tests/robots/constrained_models.hpp"
#include "tests/robots/oracle.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

using Vector = std::vector<double>;

model::Quantity& quantity(Ours& ours, const std::string& path) {
    model::Quantity* const found = ours.simulation().model().find_quantity(path);
    REQUIRE(found != nullptr);
    return *found;
}

// Of a function's derivative by qpos that by its tangents: along dq = (q, w) / 2 for each quaternion.
Vector by_tangents(const robot::RobotModel& model, const Vector& qpos, const Vector& slope) {
    Vector all(static_cast<std::size_t>(model.size("nv")));
    const auto types = model.integers("jnt_type"), places = model.integers("jnt_qposadr"),
               dofs = model.integers("jnt_dofadr");
    for (std::size_t j = 0; j < types.size(); ++j) {
        auto q = static_cast<std::size_t>(places[j]), v = static_cast<std::size_t>(dofs[j]);
        const std::size_t ways = types[j] == 0 ? 3 : types[j] == 1 ? 0 : 1;
        for (std::size_t k = 0; k < ways; ++k) all[v + k] = slope[q + k];
        if (types[j] > 1) continue;
        q += ways, v += ways;
        const double *a = &qpos[q], *s = &slope[q];
        all[v] = 0.5 * (-a[1] * s[0] + a[0] * s[1] + a[3] * s[2] - a[2] * s[3]);
        all[v + 1] = 0.5 * (-a[2] * s[0] - a[3] * s[1] + a[0] * s[2] + a[1] * s[3]);
        all[v + 2] = 0.5 * (-a[3] * s[0] + a[2] * s[1] - a[1] * s[2] + a[0] * s[3]);
    }
    return all;
}

// The weights of qpos for which a change of the tangents counts `weights`: 2 (q, w) for a quaternion.
Vector of_positions(const robot::RobotModel& model, const Vector& qpos, const Vector& weights) {
    Vector all(qpos.size());
    const auto types = model.integers("jnt_type"), places = model.integers("jnt_qposadr"),
               dofs = model.integers("jnt_dofadr");
    for (std::size_t j = 0; j < types.size(); ++j) {
        auto q = static_cast<std::size_t>(places[j]), v = static_cast<std::size_t>(dofs[j]);
        const std::size_t ways = types[j] == 0 ? 3 : types[j] == 1 ? 0 : 1;
        for (std::size_t k = 0; k < ways; ++k) all[q + k] = weights[v + k];
        if (types[j] > 1) continue;
        q += ways, v += ways;
        const double *a = &qpos[q], *w = &weights[v];
        all[q] = 2 * (-a[1] * w[0] - a[2] * w[1] - a[3] * w[2]);
        all[q + 1] = 2 * (a[0] * w[0] - a[3] * w[1] + a[2] * w[2]);
        all[q + 2] = 2 * (a[3] * w[0] + a[0] * w[1] - a[1] * w[2]);
        all[q + 3] = 2 * (-a[2] * w[0] + a[1] * w[1] + a[0] * w[2]);
    }
    return all;
}

// w^T (A, B) from the gradient of sum (x - target)^2 with target x - w / 2.
Vector product(Ours& ours, const robot::RobotModel& model, const RobotState& start,
               const RobotState& end, const Vector& w) {
    const auto nv = static_cast<std::ptrdiff_t>(model.size("nv"));
    const auto aim = [&](const char* path, const Vector& x, const Vector& weights) {
        model::Quantity& target = quantity(ours, path);
        for (std::size_t k = 0; k < x.size(); ++k) target.values[k] = x[k] - 0.5 * weights[k];
        target.upload();
    };
    aim("place.target", end.qpos, of_positions(model, end.qpos, {w.begin(), w.begin() + nv}));
    aim("speed.target", end.qvel, {w.begin() + nv, w.end()});
    ours.simulation().run(true);
    const Vector gradient = ours.simulation().gradient();
    const auto nq = static_cast<std::ptrdiff_t>(start.qpos.size());
    Vector all = by_tangents(model, start.qpos, {gradient.begin(), gradient.begin() + nq});
    all.insert(all.end(), gradient.begin() + nq, gradient.end());
    return all;
}

std::string zeros(std::int64_t count) {
    std::string text;
    for (std::int64_t k = 0; k < count; ++k) text += k > 0 ? ", 0" : "0";
    return "[" + text + "]";
}

void compare(const std::string& text, const RobotState* given, std::mt19937_64& generator) {
    Oracle oracle(text, "robot.xml");
    const robot::RobotModel& model = oracle.model();
    const RobotState start = given != nullptr ? *given : oracle.random_state(generator);
    const bool controls = model.size("nu") > 0;
    Ours ours(
        text, robot_step, 1,
        R"(, "objective": [{"type": "array_target", "name": "place", "array": "robot.qpos",
                 "target": )" +
            zeros(model.size("nq")) +
            R"(}, {"type": "array_target", "name": "speed", "array": "robot.qvel", "target": )" +
            zeros(model.size("nv")) +
            R"(}], "parameters": [{"path": "robot.qpos"}, {"path": "robot.qvel"})" +
            (controls ? R"(, {"path": "robot.ctrl"}])" : "]"));
    ours.set(start);
    oracle.set(start);
    const auto state = static_cast<std::size_t>(2 * model.size("nv")),
               inputs = static_cast<std::size_t>(model.size("nu"));
    const Oracle::Transition t = oracle.transition(1e-6);
    oracle.set(start);
    oracle.step();
    for (int k = 0; k < 3; ++k) {
        Vector w(state), expected(state + inputs);
        for (double& x : w) x = static_cast<double>(generator() >> 11) * 0x1p-52 - 1;
        for (std::size_t i = 0; i < state; ++i) {
            for (std::size_t j = 0; j < state; ++j) expected[j] += w[i] * t.by_state[i * state + j];
            for (std::size_t j = 0; j < inputs; ++j)
                expected[state + j] += w[i] * t.by_control[i * inputs + j];
        }
        const Vector found = product(ours, model, start, oracle.state(), w);
        CHECK(distance(found, expected) < 1e-5);
    }
}

}  // namespace

TEST_CASE("derivatives of one step are MuJoCo's differences") {
    HINDCAST_NEEDS_MUJOCO();
    std::mt19937_64 generator(21);
    for (const std::size_t number : {0U, 1U, 2U, 3U})
        for (const char* integrator : {"Euler", "implicitfast", "discrete"}) {
            const std::string name = constrained_texts()[number].name;
            CAPTURE(name);
            compare(with_integrator(constrained_texts()[number], integrator), nullptr, generator);
        }
}

TEST_CASE("derivatives of one step of a humanoid that stands are MuJoCo's differences") {
    HINDCAST_NEEDS_MUJOCO();
    if (!std::filesystem::exists(robot_models_folder() / "mjx")) HINDCAST_SKIP("no models of MJX");
    const std::string text =
        R"(<mujoco><include file=")" +
        (robot_models_folder() / "mjx/mujoco/mjx/test_data/humanoid/humanoid.xml").string() +
        R"("/><option timestep="0.005" solver="Newton" tolerance="0" iterations="200"
             ls_tolerance="1e-12" ls_iterations="100"><flag warmstart="disable"/></option></mujoco>)";
    std::mt19937_64 generator(22);
    Oracle oracle(text, "robot.xml");
    RobotState standing = oracle.random_state(generator);
    const auto home = oracle.model().reals("qpos0");
    standing.qpos.assign(home.begin(), home.end());
    for (double& v : standing.qvel) v *= 0.05;
    for (double& u : standing.ctrl) u *= 0.3;
    // It falls until its feet have met the floor.
    oracle.set(standing);
    for (int k = 0; k < 60; ++k) oracle.step();
    standing = oracle.state();
    oracle.forward();
    CHECK(contacts_of(oracle).size() >= 2);
    compare(text, &standing, generator);
}
