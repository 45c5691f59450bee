// Damping and drag against closed forms of the discrete equations of motion.
#include <doctest/doctest.h>

#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

// One point under gravity (1, -2) with a force, velocity at the end of n steps of 1/64.
std::unique_ptr<Simulation> falling(int steps, const std::string& force,
                                    const std::string& gravity = "[1, -2]") {
    return simulate(R"("dimension": 2, "time": {"step": "1/64", "steps": )" +
                    std::to_string(steps) + R"(}, "gravity": )" + gravity + R"(,
        "bodies": [{"type": "particles", "name": "p", "positions": [[0, 0]], "mass": 2,
                    "velocity": [3, 0.5]}],
        "forces": [)" +
                    force + "]");
}

}  // namespace

TEST_CASE("damping before and after the forces") {
    // before: v <- a v + h g, so v_n = a^n v_0 + h g (1 - a^n) / (1 - a); after: h g times a.
    const double h = 1.0 / 64, a = std::exp(-1.5 * h), n = 50, an = std::exp(-1.5 * h * n);
    const double g[2] = {1, -2}, v0[2] = {3, 0.5};
    for (const bool after : {false, true}) {
        const auto sim = falling(50, std::string(R"({"type": "damping", "rate": 1.5, "order": ")") +
                                         (after ? "after" : "before") + "\"}");
        sim->run();
        for (int k = 0; k < 2; ++k) {
            const double driven = h * g[k] * (1 - an) / (1 - a);
            CHECK(velocity(*sim, 0, k) ==
                  doctest::Approx(an * v0[k] + (after ? a * driven : driven)).epsilon(1e-12));
        }
    }
}

TEST_CASE("damping of one body leaves others and fixed points alone") {
    const auto sim = simulate(R"("time": {"step": 0.5, "steps": 1}, "gravity": [0, 0, 0],
        "bodies": [{"type": "particles", "name": "a", "positions": [[0,0,0]], "velocity": [1,0,0]},
                   {"type": "particles", "name": "b", "positions": [[0,0,0], [1,0,0]],
                    "velocity": [1,0,0], "fixed": [0]}],
        "forces": [{"type": "damping", "of": "b", "rate": [5, 2]}])");
    sim->run();
    CHECK(velocity(*sim, 0, 0) == 1);
    CHECK(velocity(*sim, 1, 0) == 1);
    CHECK(velocity(*sim, 2, 0) == doctest::Approx(std::exp(-1.0)).epsilon(1e-14));
}

TEST_CASE("linear drag: v - v_end shrinks by 1 - h c / m per step, v_end = wind + m g / c") {
    const double m = 2, c = 3, h = 1.0 / 64, wind[2] = {4, -1}, g[2] = {1, -2}, v0[2] = {3, 0.5};
    for (const int n : {1, 40, 4000}) {
        const auto sim = falling(n, R"({"type": "drag", "linear": 3, "wind": [4, -1]})");
        sim->run();
        for (int k = 0; k < 2; ++k) {
            const double end = wind[k] + m * g[k] / c;
            CHECK(velocity(*sim, 0, k) ==
                  doctest::Approx(end + (v0[k] - end) * std::pow(1 - h * c / m, n)).epsilon(1e-12));
        }
    }
}

TEST_CASE("quadratic drag: the terminal speed is sqrt(m g / q) relative to the wind") {
    const double speed = std::sqrt(2 * 9.81 / 0.7);
    const auto sim =
        falling(4000, R"({"type": "drag", "quadratic": 0.7, "wind": [1.5, 0.25]})", "[0, -9.81]");
    sim->run();
    CHECK(velocity(*sim, 0, 0) == doctest::Approx(1.5).epsilon(1e-9));
    CHECK(velocity(*sim, 0, 1) == doctest::Approx(0.25 - speed).epsilon(1e-9));
}

TEST_CASE("both drags and gusts against a loop written here") {
    const auto sim = falling(77, R"({"type": "drag", "linear": 0.4, "quadratic": 0.3,
        "wind": [2, 0], "amplitude": [1, 0.5], "frequency": 1.25, "phase": 0.3})");
    sim->run();
    double v[2] = {3, 0.5};
    const double h = 1.0 / 64, g[2] = {1, -2}, wind[2] = {2, 0}, amplitude[2] = {1, 0.5};
    for (int n = 0; n < 77; ++n) {
        double u[2];
        const double gust = std::sin(2 * std::acos(-1.0) * 1.25 * n * h + 0.3);
        for (int k = 0; k < 2; ++k) u[k] = wind[k] + amplitude[k] * gust - v[k];
        const double c = 0.4 + 0.3 * std::hypot(u[0], u[1]);
        for (int k = 0; k < 2; ++k) v[k] += h * (g[k] + c * u[k] / 2);
    }
    for (int k = 0; k < 2; ++k) CHECK(velocity(*sim, 0, k) == doctest::Approx(v[k]).epsilon(1e-12));
}

TEST_CASE("drag that says too little, or too much, is an error") {
    CHECK_THROWS_WITH_AS(falling(1, R"({"type": "drag", "wind": [1, 0]})"),
                         doctest::Contains("no coefficient"), Error);
    CHECK_THROWS_WITH_AS(falling(1, R"({"type": "drag", "linear": 1, "amplitude": [1, 0]})"),
                         doctest::Contains("gusts need"), Error);
    CHECK_THROWS_WITH_AS(falling(1, R"({"type": "drag", "linear": 1, "phase": 1})"),
                         doctest::Contains("gusts need"), Error);
}

TEST_CASE("a spring without rest length pulls like k d, also where its ends coincide") {
    // x1 = (1 - k h^2) x0 for the free end of mass 1, hence d|x1 - t|^2/dx0 = -2 (1 - k h^2) t at
    // x0 = 0. A rest length makes the force there singular: its derivative is not finite, not zero.
    // A scene that starts so is refused; positions that are set later come there.
    const double h = 0.125, k = 10, shrunk = 1 - k * h * h;
    for (const char* damping : {"", R"(, "damping": 0)"})
        for (const double rest : {0.0, 0.5}) {
            const auto sim = simulate(
                R"("time": {"step": 0.125, "steps": 1}, "gravity": [0, 0, 0],
                "bodies": [{"type": "particles", "name": "anchor", "positions": [[0,0,0]], "fixed": [0]},
                           {"type": "particles", "name": "end", "positions": [[1,0,0]]}],
                "forces": [{"type": "springs", "name": "link", "stiffness": 10, "rest_length": )" +
                std::to_string(rest) + R"(, "connect": [["anchor", 0, "end", 0]])" + damping +
                R"(}],
                "objective": [{"type": "center_of_mass", "of": "end", "target": [1, -2, 0.5]}],
                "parameters": [{"path": "end.positions"}])");
            sim->parameters().set_values(std::vector<double>{0, 0, 0});
            sim->run(true);
            const std::vector<double> gradient = sim->gradient();
            const double target[3] = {1, -2, 0.5};
            REQUIRE(gradient.size() == 3);
            for (std::size_t c = 0; c < 3; ++c) {
                CAPTURE(rest);
                if (rest == 0)
                    CHECK(gradient[c] == doctest::Approx(-2 * shrunk * target[c]).epsilon(1e-14));
                else
                    CHECK(!std::isfinite(gradient[c]));
            }
        }
}

TEST_CASE("a pull acts on its point while there are places, and is a loop written here") {
    // 3 substeps in each of 6 steps; the hand is there in steps 2 to 4.
    const auto sim = simulate(R"("time": {"step": 0.3, "substeps": 3, "steps": 6},
        "gravity": [0, 0, -1],
        "bodies": [{"type": "particles", "name": "a", "positions": [[0,0,0]]},
                   {"type": "particles", "name": "b", "positions": [[0,0,0], [1,0,0]], "mass": 2}],
        "forces": [{"type": "pull", "of": "b", "point": 1, "start_step": 2, "stiffness": 3,
                    "damping": 0.5, "places": [[1,1,0], [2,1,0], [2,1,5]]}])");
    sim->run();
    const double places[3][3] = {{1, 1, 0}, {2, 1, 0}, {2, 1, 5}}, h = 0.1;
    double x[3] = {1, 0, 0}, v[3] = {0, 0, 0}, free[2] = {0, 0};
    for (int n = 0; n < 18; ++n) {
        for (int k = 0; k < 3; ++k) {
            const int row = n / 3 - 2;
            const double f = row >= 0 && row < 3 ? 3 * (places[row][k] - x[k]) - 0.5 * v[k] : 0;
            v[k] += h * (f / 2 + (k == 2 ? -1 : 0));
        }
        for (int k = 0; k < 3; ++k) x[k] += h * v[k];
        free[1] -= h;
        free[0] += h * free[1];
    }
    for (int k = 0; k < 3; ++k) CHECK(position(*sim, 2, k) == doctest::Approx(x[k]).epsilon(1e-12));
    for (const int other : {0, 1})
        CHECK(position(*sim, other, 2) == doctest::Approx(free[0]).epsilon(1e-12));
    CHECK_THROWS_WITH(simulate(R"("time": {"step": 0.1, "steps": 1},
        "bodies": [{"type": "particles", "name": "b", "positions": [[0,0,0], [1,0,0]]}],
        "forces": [{"type": "pull", "of": "b", "point": 2, "stiffness": 3,
                    "places": [[1,1,0]]}])"),
                      doctest::Contains("the body has no point 2"));
}

TEST_CASE("a pull with more places than the scene has steps is an error, in a short run none") {
    const auto make = [](const std::string& start, std::int64_t run) {
        SimulationOptions options;
        options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
        options.steps = run;
        const Scene scene = Scene::parse(R"({"format": 1, "time": {"step": 0.1, "steps": 4},
            "bodies": [{"type": "particles", "name": "b", "positions": [[0,0,0]]}],
            "forces": [{"type": "pull", "of": "b", "stiffness": 3, "start_step": )" +
                                         start + R"(, "places": [[1,1,0], [1,0,0], [0,0,1]]}]})");
        return std::make_unique<Simulation>(scene, all_modules(), options);
    };
    CHECK_NOTHROW(make("1", -1));
    CHECK_NOTHROW(make("1", 2));
    CHECK_THROWS_WITH_AS(make("2", -1),
                         doctest::Contains("there are 3 places from step 2 on, and the scene has 4 "
                                           "steps"),
                         Error);
    CHECK_THROWS_WITH_AS(make("2", -1), doctest::Contains("leave out the last 1 places"), Error);
    CHECK_THROWS_AS(make("2", 9), Error);
}

TEST_CASE("springs: ends that start at the same place need a rest length of 0, or no push") {
    const auto scene = [](const std::string& keys, const std::string& integrator) {
        return R"("time": {"step": "1/64", "steps": 1, "integrator": ")" + integrator +
               R"("}, "gravity": [0, 0, 0],
            "bodies": [{"type": "particles", "name": "a", "positions": [[0, 0, 0], [1, 0, 0]],
                        "fixed": [0]},
                       {"type": "particles", "name": "b", "positions": [[5, 0, 0], [1, 0, 0]]}],
            "forces": [{"type": "springs", "name": "links", "stiffness": 10,
                        "connect": [["a", 0, "a", 1], ["a", 1, "b", 1]])" +
               keys + "}]";
    };
    const std::string words =
        "at /forces/0/connect: spring 1 has no direction: point 1 of 'a' and point 1 of 'b' start "
        "at the same place; move one of them, or let the spring have the rest length 0";
    for (const char* const integrator : {"semi_implicit_euler", "implicit_euler"}) {
        CAPTURE(integrator);
        check_refused(scene(R"(, "rest_length": 1)", integrator), words);
        check_refused(scene(R"(, "rest_length": [0, 1])", integrator), words);
        check_refused(scene(R"(, "rest_length": 1, "acts": "push")", integrator), words);
        check_refused(scene(R"(, "rest_length": 1, "damping": 1)", integrator), words);
    }
    // Without a rest length the force k d is 0 there; a slack rope exerts none; an offset keeps the
    // direction's scale finite.
    for (const char* const keys :
         {R"(, "rest_length": [1, 0])", "", R"(, "rest_length": {"initial": 2})",
          R"(, "rest_length": 1, "acts": "pull")",
          R"(, "rest_length": 1, "length_offset": 1e-3)"}) {
        CAPTURE(keys);
        const auto s = simulate(scene(keys, "semi_implicit_euler"));
        s->run(false);
        CHECK(velocity(*s, 3, 0) == 0);
    }
    // In f32 places closer than its rounding are the same.
    const std::string near = R"("dimension": 2, "time": {"step": 1, "steps": 1},
        "bodies": [{"type": "particles", "name": "a", "positions": [[1, 0], [1.00000001, 0]]}],
        "forces": [{"type": "springs", "connect": {"chain": "a"}, "stiffness": 1,
                    "rest_length": 1}])";
    CHECK(message([&] { simulate(near, ir::Precision::f64); }) == "no error");
    CHECK(message([&] { simulate(near, ir::Precision::f32); }).find("start at the same place") !=
          std::string::npos);
}

TEST_CASE("springs: a rest length that is set later is looked at as well") {
    const auto s = simulate(R"("dimension": 2, "time": {"step": 1, "steps": 1},
        "bodies": [{"type": "particles", "name": "a", "positions": [[1, 0], [1, 0]]}],
        "forces": [{"type": "springs", "name": "link", "connect": {"chain": "a"}, "stiffness": 1,
                    "rest_length": 0}])");
    const model::Quantity& rest = *s->model().find_quantity("link.rest_length");
    CHECK(message([&] { rest.check(std::vector<double>{0.0}); }) == "no error");
    CHECK(message([&] { rest.check(std::vector<double>{0.5}); }) ==
          "spring 0 has no direction: point 0 of 'a' and point 1 of 'a' start at the same place; "
          "move one of them, or let the spring have the rest length 0");
}
