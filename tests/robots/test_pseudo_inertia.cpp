// Inertias by pseudo-inertias: the numbers of a model give its own motion, and any others that of MuJoCo's
// model with the inertia that they mean.
#include <doctest/doctest.h>

#include "tests/robots/constrained_models.hpp"
#include "tests/robots/oracle.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// Puts the inertia of ten numbers into a body of MuJoCo's model: by the formulas of the paper, with the
// 4 x 4 matrix U, and the axes that MuJoCo finds.
void put(Oracle& oracle, std::size_t body, const double* n) {
    const double a = std::exp(n[0]);
    const double u[4][4] = {{a * std::exp(n[1]), a * n[4], a * n[6], a * n[7]},
                            {0, a * std::exp(n[2]), a * n[5], a * n[8]},
                            {0, 0, a * std::exp(n[3]), a * n[9]},
                            {0, 0, 0, a}};
    double j[4][4] = {};
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c)
            for (int k = 0; k < 4; ++k) j[r][c] += u[r][k] * u[c][k];
    const double mass = j[3][3];
    double second[3][3], trace = 0, inertia[9];
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) second[r][c] = j[r][c] - j[r][3] * j[c][3] / mass;
    for (int r = 0; r < 3; ++r) trace += second[r][r];
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) inertia[3 * r + c] = (r == c ? trace : 0) - second[r][c];
    double moments[3], axes[9], turn[4];
    reinterpret_cast<int (*)(double*, double*, double*, const double*)>(
        robot::mujoco_library().function("mju_eig3"))(moments, axes, turn, inertia);
    oracle.field("body_mass")[body] = mass;
    for (std::size_t k = 0; k < 4; ++k) oracle.field("body_iquat")[4 * body + k] = turn[k];
    for (std::size_t k = 0; k < 3; ++k) {
        oracle.field("body_ipos")[3 * body + k] = j[k][3] / mass;
        oracle.field("body_inertia")[3 * body + k] = moments[k];
    }
}

}  // namespace

TEST_CASE("pseudo-inertias: steps are MuJoCo's with the inertias that they mean") {
    HINDCAST_NEEDS_MUJOCO();
    std::mt19937_64 generator(31);
    for (const std::size_t number : {0U, 1U, 2U}) {
        std::string text = with_integrator(constrained_texts()[number], "implicitfast");
        for (std::size_t k = text.find("<body"); k != std::string::npos;
             k = text.find("<body", k + 1))
            text.insert(k + 5, " simple=\"false\"");
        Oracle oracle(text, "robot.xml");
        Ours ours(text, robot_step, 1, "", R"(, "inertia_numbers": "pseudo")");
        model::Quantity* const numbers = &ours.quantity("body_pseudo_inertia");
        const std::vector<double> own = numbers->values;
        for (int k = 0; k < 10; ++k) {
            std::vector<double> values = own;
            for (std::size_t i = 10; k > 0 && i < values.size(); ++i)
                values[i] += 0.3 * (static_cast<double>(generator() >> 11) * 0x1p-52 - 1) *
                             (i % 10 < 4 ? 1 : 0.2);
            numbers->values = values;
            numbers->upload();
            for (std::size_t body = 1; k > 0 && body < values.size() / 10; ++body)
                if (oracle.model().reals("body_mass")[body] > 0)
                    put(oracle, body, &values[10 * body]);
            oracle.set_constants();
            const RobotState state = oracle.random_state(generator);
            ours.run_beside(oracle, state);
            CHECK(distance(ours.array("qvel"), oracle.state().qvel) < 1e-9);
        }
    }
}

TEST_CASE("pseudo-inertias: what does not go with them is refused") {
    HINDCAST_NEEDS_MUJOCO();
    const auto said = [](const std::string& moments, const std::string& own) {
        const std::string text = R"(<mujoco><worldbody><body name="plate"><joint/>
            <inertial pos="0 0 0" mass="1" diaginertia=")" +
                                 moments + R"("/></body></worldbody></mujoco>)";
        return message([&] { Ours(text, robot_step, 1, "", own); });
    };
    const std::string pseudo = R"(, "inertia_numbers": "pseudo")";
    CHECK(said("1 1 1.5", pseudo) == "no error");
    CHECK(
        said("1 1 2", pseudo).find("body 'plate' has an inertia that no body with a volume has") !=
        std::string::npos);
    CHECK(said("1 1 1", pseudo + R"(, "body_mass": [0, 2])").find("at /bodies/0/body_mass") !=
          std::string::npos);
    CHECK(said("1 1 1", R"(, "body_pseudo_inertia": [[0,0,0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0,0,0]])")
              .find("at /bodies/0/body_pseudo_inertia") != std::string::npos);
}
