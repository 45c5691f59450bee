// Rigid bodies of simple shapes, written in the scene: masses and inertias by their formulas, fall
// and slide in closed form, the ground across gravity, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "engine/robot/rigid_shapes.hpp"
#include "engine/sim/gradients/gradient_check.hpp"
#include "tests/robots/oracle.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

constexpr double pi = std::numbers::pi;

std::unique_ptr<Simulation> scene_of(const std::string& model, std::int64_t steps,
                                     const std::string& more = "",
                                     const std::string& gravity = "[0, 0, -10]") {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = ir::Precision::f64;
    options.steps = steps;
    const std::string text =
        R"({"format": 1, "time": {"step": 0.001, "steps": 1000}, "gravity": )" + gravity +
        R"(, "bodies": [{"type": "articulated", "name": "rigid",
                             "model": )" +
        model + more + "}]}";
    return std::make_unique<Simulation>(Scene::of(document::Document::parse(text, "scene"), {}),
                                        all_modules(), options);
}

std::vector<double> numbers(Simulation& s, const std::string& path) {
    const model::Quantity* const q = s.model().find_quantity(path);
    REQUIRE(q != nullptr);
    return q->values;
}

}  // namespace

TEST_CASE("rigid shapes: masses and moments of inertia are those of the solids") {
    HINDCAST_NEEDS_MUJOCO();
    const auto s = scene_of(R"({"shapes": [
        {"type": "box", "size": [0.1, 0.2, 0.3], "density": 500, "position": [0, 0, 1]},
        {"type": "sphere", "radius": 0.2, "mass": 3, "position": [1, 0, 1]},
        {"type": "capsule", "radius": 0.1, "length": 0.4, "position": [2, 0, 1]},
        {"type": "cylinder", "radius": 0.1, "length": 0.5, "position": [3, 0, 1]},
        {"type": "ellipsoid", "size": [0.2, 0.4, 0.6], "position": [4, 0, 1]},
        {"type": "cone", "radius": 0.2, "length": 0.6, "position": [5, 0, 1]}]})",
                            0);
    const std::vector<double> mass = numbers(*s, "rigid.body_mass"),
                              inertia = numbers(*s, "rigid.body_inertia");
    REQUIRE(mass.size() == 7);  // the first is the world
    const auto check = [&](std::size_t body, double m, std::array<double, 3> moments) {
        CAPTURE(body);
        CHECK(mass[body] == doctest::Approx(m).epsilon(1e-12));
        std::array<double, 3> own{inertia[3 * body], inertia[3 * body + 1], inertia[3 * body + 2]};
        std::ranges::sort(own);
        std::ranges::sort(moments);
        for (std::size_t k = 0; k < 3; ++k)
            CHECK(own[k] == doctest::Approx(moments[k]).epsilon(1e-12));
    };
    const auto block = [](double m, double a, double b, double c, double by) {
        return std::array{m / by * (b * b + c * c), m / by * (a * a + c * c),
                          m / by * (a * a + b * b)};
    };
    check(1, 500 * 0.006, block(500 * 0.006, 0.1, 0.2, 0.3, 12));
    check(2, 3, {0.4 * 3 * 0.04, 0.4 * 3 * 0.04, 0.4 * 3 * 0.04});
    // A cylinder and two half balls, whose centers of mass are 3/8 r from their flat faces.
    const double r = 0.1, l = 0.4, tube = 1000 * pi * r * r * l,
                 cap = 1000 * 2 * pi / 3 * r * r * r,
                 along = tube * r * r / 2 + 2 * cap * 0.4 * r * r, d = l / 2 + 3 * r / 8,
                 across = tube * (3 * r * r + l * l) / 12 +
                          2 * (cap * (0.4 * r * r - 9 * r * r / 64) + cap * d * d);
    check(3, tube + 2 * cap, {across, across, along});
    const double disc = 1000 * pi * 0.01 * 0.5;
    check(4, disc, {disc * (0.03 + 0.25) / 12, disc * (0.03 + 0.25) / 12, disc * 0.01 / 2});
    const double egg = 1000 * 4 * pi / 3 * 0.1 * 0.2 * 0.3;
    check(5, egg, block(egg, 0.1, 0.2, 0.3, 5));
    // 3/10 m r^2 about the axis, 3/80 m (4 r^2 + l^2) across it; the center is l/4 above the base.
    const double cone = 1000 * pi / 3 * 0.04 * 0.6, sideways = cone * 3 / 80 * (0.16 + 0.36);
    check(6, cone, {sideways, sideways, cone * 0.3 * 0.04});
    CHECK(numbers(*s, "rigid.body_ipos")[6 * 3 + 2] == doctest::Approx(-0.15).epsilon(1e-12));
}

TEST_CASE("rigid shapes: a cone stands on its base, in contact the pyramid that its page names") {
    HINDCAST_NEEDS_MUJOCO();
    const auto s = scene_of(R"({"ground": 0, "shapes": [
        {"type": "cone", "radius": 0.2, "length": 0.6, "position": [0, 0, 0.302]},
        {"type": "cone", "radius": 0.2, "length": 0.6, "position": [1, 0, 0.302]}]})",
                            600);
    s->run();
    const std::vector<double> q = s->model().array("rigid.qpos").to_doubles();
    REQUIRE(q.size() == 14);
    // Its origin is the middle of its axis. Contact is soft: it sinks in by less than 2 mm.
    for (const std::size_t k : {std::size_t{2}, std::size_t{9}}) {
        CHECK(q[k] < 0.3);
        CHECK(q[k] > 0.298);
        CHECK(q[k + 1] == doctest::Approx(1).epsilon(1e-6));  // upright
    }
}

TEST_CASE(
    "rigid shapes: one falls as the discrete sum says, by the scene's gravity and its gradient") {
    HINDCAST_NEEDS_MUJOCO();
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = ir::Precision::f64;
    Simulation s(Scene::of(document::Document::parse(R"({"format": 1,
        "time": {"step": 0.01, "steps": 20}, "gravity": [0.5, 0, -10],
        "bodies": [{"type": "articulated", "name": "rigid", "model": {"shapes": [
            {"type": "box", "name": "stone", "size": [0.1, 0.2, 0.3], "position": [0.1, 0.2, 3]}]}}],
        "objective": [{"type": "point_target", "of": "rigid", "target": [0, 0, 0]}],
        "parameters": [{"path": "gravity"}]})",
                                                     "scene"),
                           {}),
                 all_modules(), options);
    const double loss = s.run(true);
    // x_n = x_0 + h^2 g n (n + 1) / 2.
    const double sum = 1e-4 * 20 * 21 / 2, x = 0.1 + 0.5 * sum, z = 3 - 10 * sum;
    CHECK(loss == doctest::Approx(x * x + 0.04 + z * z).epsilon(1e-12));
    const std::vector<double> g = s.gradient();
    REQUIRE(g.size() == 3);
    CHECK(g[0] == doctest::Approx(2 * x * sum).epsilon(1e-10));
    CHECK(g[1] == doctest::Approx(2 * 0.2 * sum).epsilon(1e-10));
    CHECK(g[2] == doctest::Approx(2 * z * sum).epsilon(1e-10));
}

TEST_CASE("rigid shapes: rest on the ground, across gravity, and on a fixed one") {
    HINDCAST_NEEDS_MUJOCO();
    for (const bool y_up : {false, true}) {
        CAPTURE(y_up);
        const std::string high = y_up ? "[0, 1.31, 0]" : "[0, 0, 1.31]",
                          beside = y_up ? "[2, 0.7, 0]" : "[2, 0, 0.7]",
                          table = y_up ? "[0, 1.1, 0]" : "[0, 0, 1.1]";
        std::string model =
            R"({"ground": 0.5, "shapes": [{"type": "sphere", "radius": 0.1, "position": )";
        model.append(high)
            .append(R"(}, {"type": "sphere", "radius": 0.2, "position": )")
            .append(beside)
            .append(R"(}, {"type": "box", "size": [0.2, 0.2, 0.2], "fixed": true, "position": )")
            .append(table)
            .append("}]}");
        const auto s = scene_of(model, 1000, "", y_up ? "[0, -10, 0]" : "[0, 0, -10]");
        s->run();
        const std::vector<double> x = s->model().array("position").to_doubles();
        const std::size_t up = y_up ? 1 : 2;
        REQUIRE(x.size() == 9);
        CHECK(x[up] == doctest::Approx(1.3).epsilon(2e-3));
        CHECK(x[3 + up] == doctest::Approx(0.7).epsilon(2e-3));
        CHECK(x[6 + up] == 1.1);
    }
}

TEST_CASE("rigid shapes: a box slides as far as its friction lets it") {
    HINDCAST_NEEDS_MUJOCO();
    for (const double friction : {0.2, 0.4}) {
        CAPTURE(friction);
        const auto s = scene_of(
            R"({"ground": 0, "shapes": [{"type": "box", "size": [0.4, 0.4, 0.1], "friction": )" +
                std::to_string(friction) + R"(, "position": [0, 0, 0.05]}]})",
            1000, R"(, "qvel": [1, 0, 0, 0, 0, 0])");
        s->run();
        // Soft contact lets it creep: v^2 / (2 mu g), within four hundredths.
        CHECK(s->model().array("position").to_doubles()[0] ==
              doctest::Approx(1 / (2 * friction * 10)).epsilon(0.04));
    }
}

TEST_CASE(
    "rigid shapes: what changes velocities of points is refused, forces act on their centers") {
    HINDCAST_NEEDS_MUJOCO();
    const std::string ball =
        R"({"shapes": [{"type": "sphere", "radius": 0.2, "mass": 3, "position": [0, 0, -0.1]}]})";
    const auto with = [&](const std::string& section, const std::string& object,
                          const std::string& other = "", std::int64_t steps = 0) {
        return scene_of(ball, steps, "}" + other + R"(], ")" + section + R"(": [{)" + object,
                        "[0, 0, 0]");
    };
    const auto refusal = [&](const std::string& section, const std::string& object,
                             const std::string& other = "") {
        return message([&] { with(section, object, other); });
    };
    const std::string plane =
                          R"("type": "plane", "name": "one", "normal": [0, 0, 1], "response": )",
                      free = R"(, {"type": "particles", "name": "free", "positions": [[1, 0, 0]]})",
                      damping = R"("type": "damping", "name": "one", "rate": 1)",
                      kick = R"("type": "kick", "name": "one", "change": [1, 0, 0])";
    const std::vector<std::array<std::string, 3>> refused{
        {"forces", damping, "dof_damping"},
        {"controllers", kick, "qvel"},
        {"colliders", plane + R"("impulse")", "ground"},
        {"colliders", plane + R"("projection")", "ground"},
        {"colliders", plane + R"("impact")", "ground"}};
    for (const auto& [section, object, remedy] : refused) {
        CAPTURE(object);
        // It would do nothing.
        CHECK(refusal(section, object).find("follow from its joints") != std::string::npos);
        for (const std::string& said : {refusal(section, object + R"(, "of": "rigid")"),
                                        refusal(section, object + R"(, "of": "rigid")", free)}) {
            CHECK(said.find("'rigid' follow from its joints") != std::string::npos);
            CHECK(said.find(remedy) != std::string::npos);
        }
        // Beside others, which it means.
        CHECK_NOTHROW(with(section, object, free));
        CHECK_NOTHROW(with(section, object + R"(, "of": "free")", free));
    }
    // A force over time: v = sum of h f / m.
    constexpr int steps = 100;
    const auto pushed =
        with("forces", R"text("type": "push", "name": "one", "of": "rigid", "interval": 0.001,
        "interpolation": "hold", "force": {"formula": ["3+t", "0", "cos(20*t)"]})text",
             "", steps);
    pushed->run();
    double impulse[3] = {0, 0, 0};
    for (int k = 0; k < steps; ++k) {
        impulse[0] += 0.001 * (3 + 0.001 * k);
        impulse[2] += 0.001 * std::cos(0.02 * k);
    }
    for (int c = 0; c < 3; ++c)
        CHECK(std::fabs(pushed->model().array("rigid.qvel").value(c) - impulse[c] / 3) < 1e-12);
    // A spring of 300 N/m pushes the ball's center out of the plane.
    const auto s = with("colliders", plane + R"("penalty", "stiffness": 300)", "", steps);
    s->run();
    double z = -0.1, v = 0;
    for (int k = 0; k < steps; ++k) {
        v -= 0.001 * 300 * z / 3;
        z += 0.001 * v;
    }
    REQUIRE(z < 0);
    CHECK(s->model().array("position").to_doubles()[2] == doctest::Approx(z).epsilon(1e-10));
}

TEST_CASE("rigid shapes: a ball slides, then rolls, with its derivative, and the loss is smooth") {
    HINDCAST_NEEDS_MUJOCO();
    // Friction mu m g slows the ball until it rolls, with 5/7 of its speed, at 2/7 v / (mu g):
    //     x(T) = 5/7 v T + 2 v^2 / (49 mu g).
    const double v = 2, mu = 0.2, g = 9.81, T = 1.2, x = 5 * v * T / 7 + 2 * v * v / (49 * mu * g),
                 slope = 5 * T / 7 + 4 * v / (49 * mu * g);
    CHECK(slope == doctest::Approx(0.9404).epsilon(1e-4));
    for (const int per_second : {200, 500, 1000}) {
        CAPTURE(per_second);
        SimulationOptions options;
        options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        options.precision = ir::Precision::f64;
        const Scene scene = Scene::of(
            document::Document::parse(
                R"({"format": 1, "gravity": [0, 0, -9.81], "time": {"step": "1/)" +
                    std::to_string(per_second) + R"(", "steps": )" +
                    std::to_string(per_second * 6 / 5) +
                    R"(}, "bodies": [{"type": "articulated", "name": "rigid", "qvel": [2, 0, 0, 0, 0, 0],
                    "model": {"ground": 0, "shapes": [{"type": "sphere", "radius": 0.1,
                              "position": [0, 0, 0.1], "friction": 0.2}]}}],
                "objective": [{"type": "point_target", "of": "rigid", "target": [0, 0, 0.1]}],
                "parameters": [{"path": "rigid.qvel[0]"}]})",
                "scene"),
            {});
        Simulation s(scene, all_modules(), options);
        s.run(true);
        const double end = s.model().array("position").value(0, 0);
        CHECK(end == doctest::Approx(x).epsilon(3e-3));
        // The loss is x^2, but for how deep the ball lies.
        CHECK(std::fabs(s.gradient()[0] / (2 * end) - slope) < 2e-3);
        GradientCheckOptions wanted;
        wanted.directions = 2;
        const GradientReport report = check_gradients(scene, all_modules(), options, wanted);
        CHECK(report.worst() == SlopeVerdict::ok);
    }
}

TEST_CASE("rigid shapes: how soft and how rough contact is, of all shapes and of each") {
    HINDCAST_NEEDS_MUJOCO();
    using V = std::vector<double>;
    const std::string balls =
        R"("shapes": [{"type": "sphere", "radius": 0.1},
                      {"type": "sphere", "radius": 0.1, "position": [1, 0, 0], "condim": 4,
                       "friction": [0.3, 0.02, 0.001], "solref": [-2000, 0],
                       "solimp": [0.9, 0.95, 0.001, 0.5, 2]}]})";
    const auto own = scene_of(R"({"ground": -2, )" + balls, 0),
               all = scene_of(R"({"ground": -2, "solref": [0.03, 0.8],
                                  "solimp": [0.1, 0.9, 0.01, 0.4, 3], )" +
                                  balls,
                              0);
    CHECK(numbers(*own, "rigid.geom_solref") == V{0.02, 1, 0.02, 1, -2000, 0});
    CHECK(numbers(*own, "rigid.geom_solimp") ==
          V{1e-4, 0.95, 0.002, 0.5, 2, 1e-4, 0.95, 0.002, 0.5, 2, 0.9, 0.95, 0.001, 0.5, 2});
    CHECK(numbers(*own, "rigid.geom_friction") == V{0, 0, 0, 0.5, 0.005, 1e-4, 0.3, 0.02, 0.001});
    CHECK(numbers(*all, "rigid.geom_solref") == V{0.03, 0.8, 0.03, 0.8, -2000, 0});
    CHECK(numbers(*all, "rigid.geom_solimp") ==
          V{0.1, 0.9, 0.01, 0.4, 3, 0.1, 0.9, 0.01, 0.4, 3, 0.9, 0.95, 0.001, 0.5, 2});

    // A spring without damping gives back what it takes: a ball that falls 0.3 m comes up again. The
    // energy m g z + m v^2 / 2 is that of the start, once it is in the air.
    const auto drop = scene_of(R"({"ground": 0, "solref": [-20000, 0], "shapes": [
                                   {"type": "sphere", "radius": 0.1, "position": [0, 0, 0.4]}]})",
                               400);
    drop->run();
    const double z = drop->model().array("rigid.qpos").value(2),
                 speed = drop->model().array("rigid.qvel").value(2);
    CHECK(z > 0.15);
    CHECK(speed > 0);
    CHECK(10 * z + speed * speed / 2 == doctest::Approx(4).epsilon(0.01));

    // Torsional friction c slows a spin, d omega / dt = -c m g / (2/5 m r^2), within a twelfth: edges
    // of the pyramid that do not resist it bear weight too. Rolling friction slows a ball that rolls.
    const auto after = [&](int condim, std::int64_t number, const std::string& qvel) {
        const auto s = scene_of(R"({"ground": 0, "shapes": [{"type": "sphere", "radius": 0.1,
                                    "position": [0, 0, 0.1], "friction": [0.5, 0.02, 0.005],
                                    "condim": )" +
                                    std::to_string(condim) + "}]}",
                                200, R"(, "qvel": )" + qvel);
        s->run();
        return s->model().array("rigid.qvel").value(number);
    };
    const std::string spins = "[0, 0, 0, 0, 0, 20]", rolls = "[0.5, 0, 0, 0, 5, 0]";
    CHECK(std::fabs(after(3, 5, spins) - 20) < 1e-9);
    const double slowed = 0.02 * 10 / (0.4 * 0.01) * 0.2;
    CHECK(20 - after(4, 5, spins) == doctest::Approx(slowed).epsilon(1.0 / 12));
    CHECK(std::fabs(after(4, 0, rolls) - 0.5) < 1e-3);
    CHECK(after(6, 0, rolls) < 0.48);
}

TEST_CASE("rigid shapes: what is wrong is named") {
    HINDCAST_NEEDS_MUJOCO();
    const auto refusal = [](const std::string& model) {
        return message([&] { scene_of(model, 0); });
    };
    const auto of = [&](const std::string& shapes) {
        return refusal(R"({"shapes": [)" + shapes + "]}");
    };
    const std::string ball = R"({"type": "sphere", "radius": 0.1)";
    CHECK(of(R"({"type": "sphere", "radios": 0.1})").find("radius") != std::string::npos);
    CHECK(of(R"({"type": "spere", "radius": 0.1})").find("sphere") != std::string::npos);
    CHECK(of(R"({"type": "sphere", "radius": 0})").find("above 0") != std::string::npos);
    CHECK(of(ball + R"(, "mass": 1, "density": 1})").find("not both") != std::string::npos);
    CHECK(of(ball + R"(, "orientation": [0, 0, 0, 0]})").find("quaternion is zero") !=
          std::string::npos);
    CHECK(of(ball + R"(, "name": "a"}, )" + ball + R"(, "name": "a"})").find("another") !=
          std::string::npos);
    CHECK(of(ball + R"(, "name": "a b"})").find("underscores") != std::string::npos);
    CHECK(of(ball + R"(, "solref": [0.02, 0]})").find("two positive numbers") != std::string::npos);
    CHECK(of(ball + R"(, "solref": [0.02]})").find("solref") != std::string::npos);
    CHECK(of(ball + R"(, "solimp": [0, 0.95, 0.01, 0.5, 2]})").find("0.9999") != std::string::npos);
    CHECK(of(ball + R"(, "condim": 2})").find("1, 3, 4 or 6") != std::string::npos);
    CHECK(of(ball + R"(, "condim": 3, "friction": 0})").find("without friction") !=
          std::string::npos);
    CHECK(of(ball + R"(, "friction": [0.5, 0.1]})").find("friction") != std::string::npos);
    CHECK(of("").find("an array of 1") != std::string::npos);
    CHECK(refusal("3").find("model") != std::string::npos);
    CHECK(
        refusal(R"({"shapes": [{"type": "box", "size": [1, 1, 1]}], "floor": 0})").find("floor") !=
        std::string::npos);
}
