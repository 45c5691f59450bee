// Articulated bodies against closed forms and integrations of the test's own, without MuJoCo's
// dynamics: its library reads the models, no more.
#include <doctest/doctest.h>

#include <array>
#include <numbers>

#include "tests/robots/oracle.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

using Three = std::array<double, 3>;

const char* const pendulum = R"(<mujoco>
  <option gravity="0 0 -9.81" integrator="RK4"/>
  <worldbody><body>
    <joint name="pivot" axis="0 1 0"/>
    <inertial pos="0 0 -0.6" mass="1.7" diaginertia="0.02 0.05 0.03"/>
  </body></worldbody>
</mujoco>)";

const char* const double_pendulum = R"(<mujoco>
  <option gravity="0 0 -9.81" integrator="RK4"/>
  <worldbody><body>
    <joint name="upper" axis="0 1 0"/>
    <inertial pos="0 0 -0.4" mass="1.2" diaginertia="0.02 0.03 0.01"/>
    <body pos="0 0 -0.8">
      <joint name="lower" axis="0 1 0" armature="0.02"/>
      <inertial pos="0.05 0 -0.3" mass="0.7" diaginertia="0.01 0.02 0.01"/>
    </body>
  </body></worldbody>
</mujoco>)";

// Principal moments 1, 2, 3 kg m^2, no force.
const char* const brick = R"(<mujoco>
  <option gravity="0 0 0" integrator="RK4"/>
  <worldbody><body>
    <freejoint/>
    <inertial pos="0 0 0" mass="2" diaginertia="1 2 3"/>
  </body></worldbody>
</mujoco>)";

double energy(Ours& ours) {
    double sum = 0;
    for (const auto& [name, value] : energies_of(ours.simulation()))
        if (name.ends_with("of robot")) sum += value;
    return sum;
}

}  // namespace

TEST_CASE("a pendulum of small amplitude has the period of its length and inertia") {
    HINDCAST_NEEDS_MUJOCO();
    // I a'' = -m g l sin a about the pivot, and the period of the amplitude a0 is that of small ones
    // times 1 + a0^2 / 16 + 11 a0^4 / 3072 + O(a0^6). After a whole period it is back where it was.
    const double m = 1.7, l = 0.6, inertia = 0.05 + m * l * l, amplitude = 0.1;
    const double period = 2 * std::numbers::pi * std::sqrt(inertia / (m * 9.81 * l)) *
                          (1 + amplitude * amplitude / 16 +
                           11 * amplitude * amplitude * amplitude * amplitude / 3072);
    constexpr int steps = 400;
    Ours ours(pendulum, period / steps, steps);
    ours.set({{amplitude}, {0}, {}, {}});
    ours.run();
    CHECK(ours.array("qpos")[0] == doctest::Approx(amplitude).epsilon(1e-7));
    CHECK(std::fabs(ours.array("qvel")[0]) < 1e-6);
    // A quarter of it: at the bottom, with the speed that the height gives.
    Ours quarter(pendulum, period / steps, steps / 4);
    quarter.set({{amplitude}, {0}, {}, {}});
    quarter.run();
    CHECK(std::fabs(quarter.array("qpos")[0]) < 1e-6);
    CHECK(quarter.array("qvel")[0] ==
          doctest::Approx(-std::sqrt(2 * m * 9.81 * l * (1 - std::cos(amplitude)) / inertia))
              .epsilon(1e-7));
}

TEST_CASE("a free body turns by Euler's equations, with its momentum and energy") {
    HINDCAST_NEEDS_MUJOCO();
    // dw/dt = (-(I3 - I2) w2 w3 / I1, ...) in the body's axes, by RK4 with steps of a tenth.
    constexpr int steps = 200;
    const double h = 0.01;
    const Three start{0.4, 2.5, -0.3};
    const auto rate = [](const Three& w) {
        return Three{-(3 - 2) * w[1] * w[2] / 1, -(1 - 3) * w[2] * w[0] / 2.0,
                     -(2 - 1) * w[0] * w[1] / 3.0};
    };
    const auto plus = [](const Three& a, const Three& b, double s) {
        return Three{a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]};
    };
    Three w = start;
    for (int k = 0; k < 10 * steps; ++k) {
        const double fine = h / 10;
        const Three k1 = rate(w), k2 = rate(plus(w, k1, fine / 2)),
                    k3 = rate(plus(w, k2, fine / 2)), k4 = rate(plus(w, k3, fine));
        for (std::size_t i = 0; i < 3; ++i)
            w[i] += fine * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) / 6;
    }
    Ours ours(brick, h, steps);
    ours.set({{0, 0, 0, 1, 0, 0, 0}, {0.1, -0.2, 0.3, start[0], start[1], start[2]}, {}, {}});
    ours.run();
    const std::vector<double> q = ours.array("qpos"), v = ours.array("qvel");
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(std::fabs(v[3 + i] - w[i]) < 1e-7);
        CHECK(std::fabs(q[i] - std::array{0.2, -0.4, 0.6}[i]) < 1e-12);
    }
    // The angular momentum in the world, R I w, is that of the start; R's columns from q.
    const double a = q[3], b = q[4], c = q[5], d = q[6];
    const double R[3][3] = {{1 - 2 * (c * c + d * d), 2 * (b * c - a * d), 2 * (b * d + a * c)},
                            {2 * (b * c + a * d), 1 - 2 * (b * b + d * d), 2 * (c * d - a * b)},
                            {2 * (b * d - a * c), 2 * (c * d + a * b), 1 - 2 * (b * b + c * c)}};
    for (std::size_t i = 0; i < 3; ++i) {
        const double momentum = R[i][0] * v[3] + R[i][1] * 2 * v[4] + R[i][2] * 3 * v[5];
        CHECK(std::fabs(momentum - static_cast<double>(i + 1) * start[i]) < 1e-7);
    }
    const double first =
        0.5 * (2 * 0.14 + start[0] * start[0] + 2 * start[1] * start[1] + 3 * start[2] * start[2]);
    CHECK(energy(ours) == doctest::Approx(first).epsilon(1e-8));
}

TEST_CASE("the energy of a double pendulum drifts with the fourth order of RK4's step") {
    HINDCAST_NEEDS_MUJOCO();
    const RobotState start{{1.2, -0.7}, {0.3, 1.1}, {}, {}};
    const auto drift = [&](int steps) {
        Ours still(double_pendulum, 1e-9, 1), ours(double_pendulum, 1.0 / steps, steps);
        still.set(start);
        still.run();
        ours.set(start);
        ours.run();
        return std::fabs(energy(ours) - energy(still));
    };
    const double coarse = drift(100), fine = drift(200);
    CHECK(coarse < 1e-4);
    CHECK(coarse / fine > 12);
    // Of the potential energy at rest by hand: -g (m1 l1 + m2 (0.8 + 0.3)).
    Ours rest(double_pendulum, 1e-9, 1);
    rest.set({{0, 0}, {0, 0}, {}, {}});
    rest.run();
    CHECK(energy(rest) == doctest::Approx(-9.81 * (1.2 * 0.4 + 0.7 * 1.1)).epsilon(1e-9));
}
