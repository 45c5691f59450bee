// Materials of solids: the force on one tetrahedron against stresses that were derived by hand, large
// strains and small ones, by explicit steps and by minimization.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>

#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
}
Matrix transposed(const Matrix& a) {
    Matrix t{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) t[i][j] = a[j][i];
    return t;
}
// det F F^-T
Matrix cofactors(const Matrix& f) {
    Matrix c{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, d = (j + 1) % 3, e = (j + 2) % 3;
            c[i][j] = f[a][d] * f[b][e] - f[a][e] * f[b][d];
        }
    return c;
}
double determinant(const Matrix& f) {
    const Matrix c = cofactors(f);
    return f[0][0] * c[0][0] + f[0][1] * c[0][1] + f[0][2] * c[0][2];
}
double trace(const Matrix& m) { return m[0][0] + m[1][1] + m[2][2]; }
double square(const Matrix& m) { return trace(product(transposed(m), m)); }
Matrix sum(double a, const Matrix& m, double b, const Matrix& n) {
    Matrix s{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) s[i][j] = a * m[i][j] + b * n[i][j];
    return s;
}
constexpr Matrix identity{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

constexpr double mu = 3, lambda = 4;

// First Piola stresses, dW/dF by hand.
struct Law {
    const char* name;
    std::function<Matrix(const Matrix& F)> stress;
    const char* more = "";  // keys of the scene
};
const std::vector<Law> laws{
    {"neo_hookean",
     [](const Matrix& F) {
         const double J = determinant(F);
         return sum(mu, F, (lambda * std::log(J) - mu) / J, cofactors(F));
     }},
    {"st_venant_kirchhoff",
     [](const Matrix& F) {
         const Matrix E = sum(0.5, product(transposed(F), F), -0.5, identity);
         return product(F, sum(2 * mu, E, lambda * trace(E), identity));
     }},
    {"stable_neo_hookean",
     [](const Matrix& F) {
         const double a = 4 * mu / 3, b = lambda + 5 * mu / 6, c = 1 + a / b - a / (4 * b);
         return sum(a * (1 - 1 / (square(F) + 1)), F, b * (determinant(F) - c), cofactors(F));
     }},
    {"corotated",
     [](const Matrix& F) {
         // The polar decomposition by Newton's iteration (Higham 1986).
         Matrix R = F;
         for (int k = 0; k < 20; ++k) R = sum(0.5, R, 0.5 / determinant(R), cofactors(R));
         const double stretch = trace(product(transposed(R), F));
         return sum(2 * mu, sum(1, F, -1, R), lambda * (stretch - 3), R);
     }},
    {"mooney_rivlin",
     [](const Matrix& F) {
         const double ratio = 0.3, c10 = (1 - ratio) * mu / 2, c01 = ratio * mu / 2,
                      bulk = lambda + 2 * mu / 3, J = determinant(F), first = square(F),
                      second = square(cofactors(F)), shrink = std::pow(J, -2.0 / 3);
         // d|cof F|^2/dF = 2 (|F|^2 F - F F^T F).
         const Matrix twice = product(product(F, transposed(F)), F);
         const Matrix bent = sum(2 * c10 * shrink + 2 * c01 * shrink * shrink * first, F,
                                 -2 * c01 * shrink * shrink, twice);
         return sum(1, bent,
                    bulk * (J - 1) - 2.0 / 3 / J * c10 * shrink * first -
                        4.0 / 3 / J * c01 * shrink * shrink * second,
                    cofactors(F));
     },
     R"(, "mooney_ratio": 0.3)"}};

const std::vector<std::pair<const char*, Matrix>> deformations{
    {"uniaxial", {{{1.4, 0, 0}, {0, 0.9, 0}, {0, 0, 0.9}}}},
    {"biaxial", {{{1.3, 0, 0}, {0, 1.3, 0}, {0, 0, 0.7}}}},
    {"simple shear", {{{1, 0.6, 0}, {0, 1, 0}, {0, 0, 1}}}},
    {"general", {{{1.1, 0.2, -0.1}, {0.3, 0.8, 0.15}, {-0.2, 0.1, 1.25}}}}};

// One tetrahedron: corners at the origin and (a, 0, 0), (0, b, 0), (0, 0, c).
constexpr double side[3] = {0.5, 0.4, 0.6}, density = 24;
constexpr double volume = side[0] * side[1] * side[2] / 6, corner_mass = density * volume / 4;

std::unique_ptr<Simulation> tetrahedron(const Law& law, const Matrix& F, const std::string& time) {
    std::string positions = "[[0, 0, 0]";
    for (int k = 0; k < 3; ++k) {
        positions += ", [";
        for (int i = 0; i < 3; ++i) positions += (i > 0 ? ", " : "") + number(F[i][k] * side[k]);
        positions += "]";
    }
    return simulate(R"("time": )" + time +
                    R"(, "gravity": [0, 0, 0], "bodies": [{"type": "solid", "name": "one",
        "density": 24, "mu": 3, "lambda": 4, "material": ")" +
                    law.name + "\"" + law.more + R"(, "positions": )" + positions + R"(],
        "mesh": {"points": [[0, 0, 0], [0.5, 0, 0], [0, 0.4, 0], [0, 0, 0.6]],
                 "tetrahedra": [[0, 1, 2, 3]]}}],
        "objective": [{"type": "energy", "solids": ["one"]}],
        "parameters": [{"path": "one.mu"}, {"path": "one.lambda"}])");
}

// F of the tetrahedron where it is.
Matrix deformation(Simulation& s) {
    Matrix F{};
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 3; ++i) F[i][k] = (position(s, k + 1, i) - position(s, 0, i)) / side[k];
    return F;
}

}  // namespace

TEST_CASE("materials: forces on a tetrahedron are those of stresses derived by hand") {
    const double h = 1e-3;
    for (const Law& law : laws)
        for (const auto& [name, F] : deformations) {
            CAPTURE(law.name);
            CAPTURE(name);
            // From rest v = h f / m, and f = -V P (columns of the inverse of the edges).
            const auto s = tetrahedron(law, F, R"({"step": "1/1000", "steps": 1})");
            s->run(false);
            const Matrix P = law.stress(F);
            double largest = 0;
            for (const auto& row : P)
                for (const double p : row) largest = std::max(largest, std::abs(p));
            for (int k = 0; k < 3; ++k)
                for (int i = 0; i < 3; ++i) {
                    const double found = velocity(*s, k + 1, i) * corner_mass / h,
                                 expected = -volume * P[i][k] / side[k];
                    CHECK(std::abs(found - expected) <= 1e-12 * volume * largest / 0.4);
                }
        }
}

TEST_CASE("materials: no energy and no force at rest, Hooke's law for small strains") {
    const Matrix e{{{1, 0.3, -0.2}, {0.3, -0.7, 0.4}, {-0.2, 0.4, 0.5}}};
    for (const Law& law : laws) {
        CAPTURE(law.name);
        const auto rest = tetrahedron(law, identity, R"({"step": "1/1000", "steps": 0})");
        CHECK(std::abs(rest->run(false)) < 1e-16);
        const double size = 1e-7, h = 1e-3;
        const auto s =
            tetrahedron(law, sum(1, identity, size, e), R"({"step": "1/1000", "steps": 1})");
        s->run(false);
        const Matrix stress = sum(2 * mu, e, lambda * trace(e), identity);
        for (int k = 0; k < 3; ++k)
            for (int i = 0; i < 3; ++i) {
                const double found = velocity(*s, k + 1, i) * corner_mass / h / size;
                CHECK(found == doctest::Approx(-volume * stress[i][k] / side[k]).epsilon(1e-5));
            }
    }
}

TEST_CASE("materials: a rotation costs nothing") {
    const double c = std::cos(0.7), s = std::sin(0.7);
    const Matrix R{{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
    for (const Law& law : laws) {
        CAPTURE(law.name);
        const auto turned = tetrahedron(law, R, R"({"step": "1/1000", "steps": 0})");
        CHECK(std::abs(turned->run(false)) < 1e-15);
        const Matrix F = deformations.back().second;
        const double here = tetrahedron(law, F, R"({"step": 1, "steps": 0})")->run(false),
                     there =
                         tetrahedron(law, product(R, F), R"({"step": 1, "steps": 0})")->run(false);
        CHECK(there == doctest::Approx(here).epsilon(1e-13));
        CHECK(here > 0);
    }
}

TEST_CASE("materials: an implicit step balances inertia with the stress derived by hand") {
    const double h = 0.1;
    for (const Law& law : laws)
        for (const auto& [name, start] : deformations) {
            CAPTURE(law.name);
            CAPTURE(name);
            const auto s = tetrahedron(
                law, start, R"({"step": "1/10", "steps": 1, "integrator": "implicit_euler"})");
            s->run(true);
            // m (x - x~) / h^2 = f(x)
            const Matrix F = deformation(*s);
            const Matrix P = law.stress(F);
            for (int k = 0; k < 3; ++k)
                for (int i = 0; i < 3; ++i) {
                    const double inertia =
                        corner_mass / (h * h) * (position(*s, k + 1, i) - start[i][k] * side[k]);
                    CHECK(inertia == doctest::Approx(-volume * P[i][k] / side[k]).epsilon(1e-9));
                }
            check_derivatives(*s);
        }
}

TEST_CASE("materials: Rayleigh damping in an implicit step, with the stiffness by differences") {
    const double h = 0.1, alpha = 0.7, beta = 0.3;
    for (const Law& law : laws) {
        CAPTURE(law.name);
        const Matrix start = deformations.back().second;
        Law damped = law;
        const std::string more =
            std::string(law.more) + R"(, "mass_damping": 0.7, "stiffness_damping": 0.3)";
        damped.more = more.c_str();
        const auto s = tetrahedron(
            damped, start, R"({"step": "1/10", "steps": 1, "integrator": "implicit_euler"})");
        s->run(true);
        const Matrix F = deformation(*s);
        const Matrix way = sum(1, F, -1, start);
        const double e = 1e-3;
        const auto stress_at = [&](double t) { return law.stress(sum(1, start, t * e, way)); };
        const Matrix rate = sum(8 / (12 * e), sum(1, stress_at(1), -1, stress_at(-1)),
                                -1 / (12 * e), sum(1, stress_at(2), -1, stress_at(-2)));
        const Matrix P = sum(1, law.stress(F), beta / h, rate);
        for (int k = 0; k < 3; ++k)
            for (int i = 0; i < 3; ++i) {
                const double moved = position(*s, k + 1, i) - start[i][k] * side[k];
                const double resisting = corner_mass * (1 / (h * h) + alpha / h) * moved;
                CHECK(resisting == doctest::Approx(-volume * P[i][k] / side[k]).epsilon(1e-9));
            }
        check_derivatives(*s);
    }
}

TEST_CASE("materials: a triangle in the plane has the stress of plane strain") {
    const double h = 1e-3, thickness = 0.2, area = 0.5 * 0.5 * 0.4;
    const Matrix F{{{1.1, 0.2, 0}, {0.3, 0.8, 0}, {0, 0, 1}}};
    for (const Law& law : laws)
        for (const char* integrator : {"semi_implicit_euler", "implicit_euler"}) {
            CAPTURE(law.name);
            const bool explicit_step = integrator[0] == 's';
            std::string positions = "[[0, 0]";
            for (int k = 0; k < 2; ++k)
                positions +=
                    ", [" + number(F[0][k] * side[k]) + ", " + number(F[1][k] * side[k]) + "]";
            const auto s = simulate(
                R"("dimension": 2, "time": {"step": "1/1000", "steps": 1, "integrator": ")" +
                std::string(integrator) + R"("}, "gravity": [0, 0],
                "bodies": [{"type": "solid", "name": "one", "density": 24, "thickness": 0.2,
                    "mu": 3, "lambda": 4, "material": ")" +
                law.name + "\"" + law.more + R"(, "positions": )" + positions + R"(],
                    "mesh": {"points": [[0, 0], [0.5, 0], [0, 0.4]], "triangles": [[0, 1, 2]]}}],
                "objective": [{"type": "energy", "solids": ["one"]}],
                "parameters": [{"path": "one.mu"}, {"path": "one.positions"}])");
            s->run(true);
            Matrix at = F;
            if (!explicit_step)
                for (int k = 0; k < 2; ++k)
                    for (int i = 0; i < 2; ++i)
                        at[i][k] = (position(*s, k + 1, i) - position(*s, 0, i)) / side[k];
            const Matrix P = law.stress(at);
            for (int k = 0; k < 2; ++k)
                for (int i = 0; i < 2; ++i) {
                    const double found =
                        velocity(*s, k + 1, i) * density * area * thickness / 3 / h;
                    CHECK(found ==
                          doctest::Approx(-area * thickness * P[i][k] / side[k]).epsilon(1e-9));
                }
            check_derivatives(*s);
        }
}

TEST_CASE("materials: a cantilever sags by q L^4 / (8 E I) + q L^2 / (2 k G A)") {
    // In the plane, E' = E/(1 - nu^2); with mu = 3 and lambda = 4. A rectangle's shear factor is
    // k = 5/6 at nu = 0 (Cowper 1966 differs by little at other ratios: L/height is 10).
    const double E = mu * (3 * lambda + 2 * mu) / (lambda + mu), nu = lambda / (2 * (lambda + mu)),
                 L = 1, height = 0.1, g = 1e-5, q = 24 * g * height,
                 inertia = height * height * height / 12, plane = E / (1 - nu * nu);
    const double expected =
        q * L * L * L * L / (8 * plane * inertia) + q * L * L / (2 * 5.0 / 6 * mu * height);
    for (const Law& law : laws) {
        CAPTURE(law.name);
        const auto sag = [&](int across) {
            const std::string cells = std::to_string(10 * across) + ", " + std::to_string(across);
            const auto s = simulate(
                R"("dimension": 2, "time": {"step": 1, "steps": 1, "integrator": "quasi_static"},
                "gravity": [0, -1e-5], "bodies": [{"type": "solid", "name": "beam", "density": 24,
                "mu": 3, "lambda": 4, "material": ")" +
                std::string(law.name) + "\"" + law.more +
                R"(, "fixed": {"box": {"min": [-1, -1], "max": [0, 1]}},
                "mesh": {"box": {"min": [0, 0], "max": [1, 0.1], "cells": [)" +
                cells + "]}}}]");
            s->run(false);
            return -position(*s, s->model().point_count() - 1 - across / 2, 1) +
                   0.1 * (across - across / 2) / across;
        };
        const double coarse = sag(4), fine = sag(8);
        // Linear triangles: an error of second order.
        CHECK((4 * fine - coarse) / 3 == doctest::Approx(expected).epsilon(0.02));
        CHECK(std::abs(fine - expected) < 0.4 * std::abs(coarse - expected));
    }
}
