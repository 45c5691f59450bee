// What modules show (engine/model/shown.hpp) against closed forms.
#include <doctest/doctest.h>

#include <algorithm>
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

// A strip of 0.3 m along the warp and 0.2 m along the weft, as the formula places it.
std::unique_ptr<Simulation> strip(const std::string& stiffness, const std::string& formula) {
    return simulate(R"("time": {"step": 1e-3, "steps": 1}, "gravity": [0, 0, 0],
        "bodies": [{"type": "cloth", "name": "strip", "area_density": 0.2,
            "mesh": {"grid": {"origin": [0, 0, 0], "warp": [0.3, 0, 0], "weft": [0, 0.2, 0],
                              "cells": [3, 2]}},
            "positions": {"formula": [)" +
                    formula + "]}, " + stiffness + "}]");
}
void check_strip(Simulation& s, double energy_density, double tension) {
    const auto w = shown(s, "membrane energy density of strip"),
               n = shown(s, "membrane tension of strip");
    REQUIRE(w.size() == 12);
    REQUIRE(n.size() == 12);
    for (std::size_t k = 0; k < 12; ++k) {
        CHECK(w[k] == doctest::Approx(energy_density).epsilon(1e-12));
        CHECK(n[k] == doctest::Approx(tension).epsilon(1e-12));
    }
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

TEST_CASE("shown: energy and tension of a strip stretched along warp and weft") {
    const double ku = 60, kv = 35, nu = 0.3;
    for (const auto& [along, across] :
         {std::pair{1.25, 0.9}, std::pair{0.9, 1.25}, std::pair{1.1, 1.0}, std::pair{0.7, 0.8}}) {
        CAPTURE(along);
        const auto s = strip(
            R"("warp_stiffness": 60, "weft_stiffness": 35, "shear_stiffness": 11, "poisson_ratio": 0.3)",
            "\"" + number(along) + "*x\", \"0.5\", \"" + number(across) + "*y\"");
        // S = dW/dE by hand, and F S F^T / j with F = diag(along, across).
        const double Eu = (along * along - 1) / 2, Ev = (across * across - 1) / 2,
                     c = 1 - nu * nu * kv / ku, Su = (ku * Eu + nu * kv * Ev) / c,
                     Sv = (kv * Ev + nu * kv * Eu) / c;
        check_strip(*s, 0.5 * (Su * Eu + Sv * Ev),
                    std::max(Su * along / across, Sv * across / along));
    }
}

TEST_CASE("shown: the tension of an isotropic strip does not depend on where its warp runs") {
    // Pulled to s times its length along an angle to the warp, free across: E = (s^2 - 1)/2 there
    // and -nu E across, so that S = k E along and 0 across; then turned in space.
    const double k = 60, nu = 0.3, s = 1.2, E = (s * s - 1) / 2, t = std::sqrt(1 - 2 * nu * E);
    for (const double angle : {0.0, 0.4, std::acos(-1.0) / 4, 1.3}) {
        CAPTURE(angle);
        const std::string c = number(std::cos(angle)), d = number(std::sin(angle)),
                          along = number(s) + "*(" + c + "*x+" + d + "*y)",
                          across = number(t) + "*(" + c + "*y-" + d + "*x)";
        const auto sheet =
            strip(R"("warp_stiffness": 60, "poisson_ratio": 0.3)",
                  "\"0.6*(" + along + ")\", \"" + across + "\", \"0.8*(" + along + ")\"");
        check_strip(*sheet, 0.5 * k * E * E, k * E * s / t);
    }
    // The same in all directions: there is no axis to find.
    const double S = k * E / (1 - nu);
    check_strip(*strip(R"("warp_stiffness": 60, "poisson_ratio": 0.3)", R"("1.2*y", "1.2*x", "3")"),
                S * E, S);
    // Simple shear by q of a sheet with g alone: F = ((1, q), (0, 1)), S_uv = g q, and with nu = 0
    // S_vv = k q^2/2. N = F S F^T as j = 1.
    const double q = 0.5, g = 11, Sv = k * q * q / 2, a = 2 * q * g * q + q * q * Sv,
                 b = g * q + q * Sv;
    check_strip(*strip(R"("warp_stiffness": 60, "poisson_ratio": 0, "shear_stiffness": 11)",
                       R"("x+0.5*y", "y", "0")"),
                0.5 * k * q * q * q * q / 4 + g * q * q / 2,
                (a + Sv) / 2 + std::sqrt((a - Sv) * (a - Sv) / 4 + b * b));
}

TEST_CASE(
    "shown: the tension of fibers in a solid that is held stretched, as their activation swings") {
    const double pi = std::acos(-1.0);
    for (const bool plane : {false, true})
        for (const char* integrator : {"semi_implicit_euler", "implicit_euler"}) {
            CAPTURE(plane);
            CAPTURE(integrator);
            const auto s = simulate(
                (plane ? R"("dimension": 2, "gravity": [0, 0], )" : R"("gravity": [0, 0, 0], )") +
                std::string(R"("time": {"step": "1/20", "steps": 3, "integrator": ")") +
                integrator + R"("}, "bodies": [{"type": "solid", "name": "beam", "mesh": {)" +
                (plane ? R"("points": [[0, 0], [1, 0], [0, 1]], "triangles": [[0, 1, 2]]},
                    "positions": {"formula": ["1.1*x+0.2*y", "1.3*y"]}, "fixed": true)"
                       : R"("points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
                    "tetrahedra": [[0, 1, 2, 3]]},
                    "positions": {"formula": ["1.1*x+0.2*y", "1.3*y", "z"]}, "fixed": true)") +
                R"(, "mu": 10, "lambda": 10}],
                "forces": [{"type": "fibers", "name": "left", "of": "beam", "stiffness": 70,
                    "direction": )" +
                (plane ? "[0, 2]" : "[0, 2, 0]") +
                R"(, "activation": 0.2, "amplitude": 0.1, "frequency": 1.5, "phase": 0.4},
                    {"type": "fibers", "name": "right", "of": "beam", "stiffness": [40],
                    "direction": )" +
                (plane ? "[1, 0]" : "[1, 0, 0]") + "}]");
            for (const int steps : {0, 1, 3}) {
                const double alpha = 0.2 + 0.1 * std::sin(2 * pi * 1.5 * steps / 20 + 0.4);
                CHECK(shown(*s, "fiber tension of left", steps)[0] ==
                      doctest::Approx(70 * (std::hypot(0.2, 1.3) - 1 + alpha)).epsilon(1e-12));
                CHECK(shown(*s, "fiber tension of right", steps)[0] ==
                      doctest::Approx(40 * 0.1).epsilon(1e-12));
            }
            // Two of one solid have names of their own.
            std::vector<std::string> names;
            for (const model::ShownQuantity& q : model::shown_quantities(s->model()))
                names.push_back(model::shown_name(s->model(), q));
            CHECK(names == std::vector<std::string>{"energy density", "von Mises stress",
                                                    "fiber tension of left",
                                                    "fiber tension of right"});
        }
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
