// What modules show (engine/model/shown.hpp) against closed forms.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/model/shown.hpp"
#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

constexpr double g = 9.81;

// What is shown under that key after so many steps.
std::vector<double> shown(Simulation& s, const std::string& key, std::int64_t steps = 0) {
    model::ShownValues values(s.model(), key);
    s.run(false, [&](std::int64_t done) {
        if (done == steps) values.evaluate();
        return done < steps;
    });
    return values.values().to_doubles();
}

// One element at the origin with edges along the axes, deformed by x -> F x.
struct Element {
    std::string keys;  // the material
    std::vector<std::string> place;
};
std::unique_ptr<Simulation> deformed(const Element& e) {
    const bool plane = e.place.size() == 2;
    std::string formula;
    for (const std::string& row : e.place)
        formula += (formula.empty() ? "\"" : ", \"") + row + "\"";
    const std::string mesh = plane
                                 ? R"("points": [[0, 0], [1, 0], [0, 1]], "triangles": [[0, 1, 2]])"
                                 : R"("points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                   "tetrahedra": [[0, 1, 2, 3]])";
    return simulate(
        (plane ? R"("dimension": 2, "gravity": [0, 0], )" : R"("gravity": [0, 0, 0], )") +
        std::string(R"("time": {"step": 1e-3, "steps": 1},
        "bodies": [{"type": "solid", "name": "rubber", "mesh": {)") +
        mesh + R"(}, "positions": {"formula": [)" + formula + "]}, " + e.keys + "}]");
}

void check(const Element& e, double energy_density, double von_mises) {
    CAPTURE(e.keys);
    const auto s = deformed(e);
    const auto w = shown(*s, "energy density of rubber"),
               stress = shown(*s, "von Mises stress of rubber");
    REQUIRE(w.size() == 1);
    CHECK(w[0] == doctest::Approx(energy_density).epsilon(1e-12));
    CHECK(stress[0] == doctest::Approx(von_mises).epsilon(1e-12));
}

// A point of 0.7 kg within reach of a floor that may rise, in the plane.
std::string resting(const std::string& of_floor, const std::string& gravity = "[0, -9.81]",
                    int steps = 150) {
    return R"("dimension": 2, "time": {"step": 0.05, "steps": )" + std::to_string(steps) +
           R"(, "integrator": "implicit_euler"}, "gravity": )" + gravity + R"(,
        "bodies": [{"type": "particles", "name": "block", "positions": [[0, 8e-3]], "mass": 0.7}],
        "colliders": [{"type": "plane", "name": "floor", "normal": [0, 1], "offset": 0,
            "response": "barrier", "stiffness": 2e4, "distance": 1e-2)" +
           of_floor + "}]";
}

}  // namespace

TEST_CASE("shown: energy density and von Mises stress of an element stretched along one axis") {
    const double mu = 700, lambda = 1100;
    const std::string moduli = R"("mu": 700, "lambda": 1100)";
    for (const double s : {0.4, 0.9, 1.3, 2.5}) {
        CAPTURE(s);
        // F = diag(s, 1, 1), J = s: sigma_xx = mu (s - 1/s) + lambda log(s)/s, else lambda log(s)/s.
        const double w =
            0.5 * mu * (s * s - 1) - mu * std::log(s) + 0.5 * lambda * std::log(s) * std::log(s);
        const std::string along = number(s) + "*x";
        check({moduli, {along, "y", "z"}}, w, mu * std::fabs(s - 1 / s));
        // Plane strain has the same stress across the plane as along y.
        check({moduli, {along, "y"}}, w, mu * std::fabs(s - 1 / s));
        // E_xx = e = (s^2 - 1)/2: sigma_xx = s (2 mu + lambda) e, sigma_yy = lambda e / s.
        const double e = 0.5 * (s * s - 1);
        check({moduli + R"(, "material": "st_venant_kirchhoff")", {along, "y", "z"}},
              (mu + 0.5 * lambda) * e * e, std::fabs(s * (2 * mu + lambda) * e - lambda * e / s));
    }
    // mu = E / (2 (1 + nu)).
    check({R"("young_modulus": 2600, "poisson_ratio": 0.3)", {"1.5*x", "1.5*y", "1.5*z"}},
          1000 * (1.5 * (1.5 * 1.5 - 1) - 3 * std::log(1.5)) +
              0.5 * 1500 * 9 * std::log(1.5) * std::log(1.5),
          0);
}

TEST_CASE("shown: energy density and von Mises stress in simple shear") {
    const double mu = 700, r = 0.3;
    for (const double k : {-0.8, 0.1, 2.0}) {
        CAPTURE(k);
        const std::string along = "x+(" + number(k) + ")*y";
        // F = I + k e_x e_y, J = 1: sigma = mu (F F^T - I).
        const double w = 0.5 * mu * k * k;
        check({R"("mu": 700, "lambda": 1100)", {along, "y", "z"}}, w,
              mu * std::fabs(k) * std::sqrt(k * k + 3));
        check({R"("mu": 700, "lambda": 1100)", {along, "y"}}, w,
              mu * std::fabs(k) * std::sqrt(k * k + 3));
        // sigma = 2 c10 B - 2 c01 B^-1 - p I, B = F F^T.
        const double a = (1 - r) * mu, b = r * mu, q = k * k;
        check({R"("mu": 700, "lambda": 1100, "material": "mooney_rivlin", "mooney_ratio": 0.3)",
               {along, "y", "z"}},
              w,
              std::sqrt(0.5 * q * q * ((a + b) * (a + b) + a * a + b * b) +
                        3 * (a + b) * (a + b) * q));
    }
}

TEST_CASE("shown: the tension of springs, which is none where they do not act") {
    const auto s = simulate(R"("time": {"step": 1e-3, "steps": 1}, "gravity": [0, 0, 0],
        "bodies": [{"type": "particles", "name": "p", "positions": [[0, 0, 0], [3, 4, 0], [3, 4, 1]]}],
        "forces": [{"type": "springs", "name": "both", "connect": {"chain": "p"},
                    "stiffness": [10, 20], "rest_length": [4.5, 1.25]},
                   {"type": "springs", "name": "rope", "connect": {"chain": "p"}, "acts": "pull",
                    "stiffness": [10, 20], "rest_length": [4.5, 1.25]}])");
    CHECK(shown(*s, "tension of both")[0] == doctest::Approx(5).epsilon(1e-14));
    CHECK(shown(*s, "tension of both")[1] == doctest::Approx(-5).epsilon(1e-14));
    CHECK(shown(*s, "tension of rope") == std::vector<double>{shown(*s, "tension of both")[0], 0});
}

TEST_CASE("shown: the contact force on a point carries its weight, on a floor that rises too") {
    for (const char* floor : {"", R"(, "velocity": [0, 0.1])"}) {
        CAPTURE(floor);
        const auto s = simulate(resting(floor));
        const auto force = shown(*s, "contact force", 150);
        CHECK(std::fabs(force[0]) <= 1e-12);
        CHECK(force[1] == doctest::Approx(0.7 * g).epsilon(1e-9));
        // At the start -k b'(d), b = -(d - r)^2 log(d / r).
        const double d = 8e-3, r = 1e-2, off = d - r;
        CHECK(shown(*s, "contact force")[1] ==
              doctest::Approx(2e4 * (2 * off * std::log(d / r) + off * off / d)).epsilon(1e-12));
    }
}

TEST_CASE("shown: the contact force holds a point on a slope by normal force and friction") {
    // tan(20 degrees) < 0.5
    const double angle = 20 * std::acos(-1.0) / 180;
    const std::string friction = R"(, "friction": 0.5, "bristle_stiffness": 1e4)";
    const auto s = simulate(resting(
        friction, "[" + number(g * std::sin(angle)) + ", " + number(-g * std::cos(angle)) + "]",
        400));
    const auto force = shown(*s, "contact force", 400);
    CHECK(force[0] == doctest::Approx(-0.7 * g * std::sin(angle)).epsilon(1e-9));
    CHECK(force[1] == doctest::Approx(0.7 * g * std::cos(angle)).epsilon(1e-9));
}

TEST_CASE("shown: nothing is added to a run, and launches are made for what is asked for only") {
    const auto s = simulate(resting(""));
    int asked = 0;
    const auto add = [&](model::Model&, const Array&, Program&) { ++asked; };
    using model::ShownQuantity;
    const ShownQuantity counted{"block", "counted", "N", "", ShownQuantity::Of::points, 1, 2, add};
    const auto launches = [&] {
        return s->model().step_program().launches().size() +
               s->model().prologue().launches().size();
    };
    const std::size_t before = launches();
    model::publish(s->model(), counted);
    CHECK(launches() == before);
    s->run(false);
    CHECK(asked == 0);
    model::ShownValues values(s->model(), "counted");
    CHECK(asked == 1);
    values.evaluate();
    CHECK(values.values().to_doubles() == std::vector<double>{0, 0});

    CHECK_THROWS_WITH(model::ShownValues(s->model(), "counts"),
                      "nothing in this scene shows 'counts'");
    CHECK_THROWS_AS(model::publish(s->model(), counted), Error);
    ShownQuantity other = counted;
    other.owner = "floor";
    other.unit = "kN";
    CHECK_THROWS_AS(model::publish(s->model(), other), Error);
    other.name = "position";
    CHECK_THROWS_AS(model::publish(s->model(), other), Error);
}
