// Cloth: stresses of a triangle derived by hand, rolled and bent sheets, a hanging strip, errors.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "engine/document/text.hpp"
#include "tests/physics/module_scene.hpp"

using namespace hindcast;
using namespace hindcast::test;

namespace {

std::string grid(const std::string& warp, const std::string& weft, int n, int m,
                 const char* pattern) {
    return R"("mesh": {"grid": {"origin": [0, 0, 0], "warp": )" + warp + R"(, "weft": )" + weft +
           R"(, "cells": [)" + std::to_string(n) + ", " + std::to_string(m) + R"(], "pattern": ")" +
           pattern + "\"}}";
}
std::string cloth(const std::string& keys,
                  const std::string& time = R"({"step": "1/1000", "steps": 1})") {
    return R"("time": )" + time + R"(, "gravity": [0, 0, 0],
        "bodies": [{"type": "cloth", "name": "sheet", "area_density": 24, )" +
           keys + "}]";
}
double total(const std::map<std::string, double>& energies, const char* name) {
    return energies.at(std::string(name) + " energy of sheet");
}

}  // namespace

TEST_CASE("cloth: the forces on a triangle are those of stresses derived by hand") {
    // Corners at rest (0, 0), (a, 0), (0, b) in warp and weft; F has the columns f_u, f_v.
    const double a = 0.5, b = 0.4, area = a * b / 2, mass = 24 * area / 3, h = 1e-3;
    const double fu[3] = {1.1, 0.2, -0.1}, fv[3] = {0.15, 0.9, 0.3};
    double uu = -1, vv = -1, uv = 0;
    for (int i = 0; i < 3; ++i) uu += fu[i] * fu[i], vv += fv[i] * fv[i], uv += fu[i] * fv[i];
    const double Euu = uu / 2, Evv = vv / 2, Euv = uv / 2;
    const auto text = [](double x) { return document::shortest(x); };
    // The rest shape may lie anywhere: the warp says what its axes are.
    for (const bool turned : {false, true})
        for (const bool orthotropic : {false, true}) {
            const double ku = 50, nu = 0.25, kv = orthotropic ? 30 : ku,
                         g = orthotropic ? 7 : ku / (2 * (1 + nu)), c = 1 - nu * nu * kv / ku;
            const double Suu = (ku * Euu + nu * kv * Evv) / c, Svv = kv * (Evv + nu * Euu) / c,
                         Suv = 2 * g * Euv;
            std::string positions = "[[0, 0, 0]";
            for (const auto& [f, side] : {std::pair{fu, a}, std::pair{fv, b}}) {
                positions += ", [";
                for (int i = 0; i < 3; ++i) positions += (i ? ", " : "") + text(f[i] * side);
                positions += "]";
            }
            const auto s = simulate(cloth(
                std::string(R"("mesh": {"points": )") +
                (turned ? R"([[0, 0, 0], [0, 0.5, 0], [0, 0, 0.4]], "warp": [3, 2, 0])"
                        : R"([[0, 0, 0], [0.5, 0, 0], [0, 0.4, 0]])") +
                R"(, "triangles": [[0, 1, 2]]}, "warp_stiffness": 50, "poisson_ratio": 0.25)" +
                (orthotropic ? R"(, "weft_stiffness": 30, "shear_stiffness": 7)" : "") +
                R"(, "positions": )" + positions + "]"));
            s->run(false);
            for (int i = 0; i < 3; ++i) {
                const double Pu = fu[i] * Suu + fv[i] * Suv, Pv = fu[i] * Suv + fv[i] * Svv;
                CHECK(std::abs(velocity(*s, 1, i) * mass / h + area * Pu / a) < 1e-12);
                CHECK(std::abs(velocity(*s, 2, i) * mass / h + area * Pv / b) < 1e-12);
            }
        }
}

TEST_CASE("cloth: a sheet that is rolled up along its lines has D/2 curvature^2 per area") {
    // Curvature: the change of the facets' direction, as a vector, per length.
    const double R = 0.8, D = 0.3;
    const int n = 6, m = 4;  // 1.2 along the warp, 0.5 along the weft
    for (const char* pattern : {"diagonal", "alternating"})
        for (const bool along : {false, true}) {
            CAPTURE(pattern);
            // Facets between lines of angles k delta on a circle, with the chord as long as the cell.
            const double cell = along ? 1.2 / n : 0.5 / m;
            const double delta = cell / R;
            const double curvature = 2 * std::sin(delta / 2) / cell;
            const std::string radius = document::shortest(cell / 2 / std::sin(delta / 2)),
                              angle = std::string("(") + (along ? "x" : "y") + "/" +
                                      document::shortest(R) + ")";
            const std::string round = "\"" + radius + "*sin" + angle + "\"",
                              up = "\"" + radius + "*(1-cos" + angle + ")\"";
            const std::string rolled = "{\"formula\": [" +
                                       (along ? round + ", \"y\", " : "\"x\", " + round + ", ") +
                                       up + "]}";
            const auto s = simulate(cloth(
                grid("[1.2, 0, 0]", "[0, 0.5, 0]", n, m, pattern) +
                    R"(, "warp_stiffness": 10, "bending_stiffness": 0.3, "positions": )" + rolled,
                R"({"step": 1, "steps": 0})"));
            s->run(false);
            const auto energies = energies_of(*s);
            CHECK(total(energies, "bending") ==
                  doctest::Approx(1.2 * 0.5 * 0.5 * D * curvature * curvature).epsilon(1e-8));
            CHECK(std::abs(total(energies, "elastic")) < 1e-25);
        }
}

TEST_CASE("cloth: equilateral triangles bend alike about every axis") {
    // A hexagon with three edges a side.
    std::string points, triangles;
    std::map<std::pair<int, int>, int> number;
    const int N = 3;
    const double side = 0.1, height = side * std::sqrt(3) / 2;
    const auto inside = [](int q, int r) {
        return std::max({std::abs(q), std::abs(r), std::abs(q + r)}) <= N;
    };
    for (int q = -N; q <= N; ++q)
        for (int r = -N; r <= N; ++r) {
            if (!inside(q, r)) continue;
            const int k = static_cast<int>(number.size());
            number[{q, r}] = k;
            points += (points.empty() ? "[" : ", [") + document::shortest(side * (q + 0.5 * r)) +
                      ", " + document::shortest(height * r) + ", 0]";
        }
    int count = 0;
    const auto add = [&](std::pair<int, int> a, std::pair<int, int> b, std::pair<int, int> c) {
        for (const auto& p : {a, b, c})
            if (!number.contains(p)) return;
        triangles += (triangles.empty() ? "[" : ", [") + std::to_string(number[a]) + ", " +
                     std::to_string(number[b]) + ", " + std::to_string(number[c]) + "]";
        ++count;
    };
    for (int q = -N; q <= N; ++q)
        for (int r = -N; r <= N; ++r) {
            add({q, r}, {q + 1, r}, {q, r + 1});
            add({q + 1, r}, {q + 1, r + 1}, {q, r + 1});
        }
    REQUIRE(count == 6 * N * N);
    for (const double axis : {0.0, 0.3, 0.7, 1.2}) {
        const std::string across = "(" + document::shortest(std::cos(axis)) + "*x+" +
                                   document::shortest(std::sin(axis)) + "*y)";
        const double curvature = 1e-3, D = 0.3;
        const auto s =
            simulate(cloth(R"("mesh": {"points": [)" + points + R"(], "triangles": [)" + triangles +
                               R"(]}, "warp_stiffness": 10, "bending_stiffness": 0.3, "positions":
                {"formula": ["x", "y", "0.0005*)" +
                               across + "*" + across + R"("]})",
                           R"({"step": 1, "steps": 0})"));
        s->run(false);
        const double area = count * side * height / 2;
        const double expected = 0.5 * D * curvature * curvature * area;
        CHECK(std::abs(total(energies_of(*s), "bending") / expected - 1) < 1e-6);
    }
}

TEST_CASE("cloth: a clamped strip sinks by q L^4 / (8 D)") {
    const int n = 24;
    const double D = 2, q = 24 * 0.01, cell = 1.0 / n, L = 1 - cell;
    const auto s = simulate(
        R"("time": {"step": 1, "steps": 1, "integrator": "quasi_static"}, "gravity": [0, 0, -0.01],
        "bodies": [{"type": "cloth", "name": "sheet", "area_density": 24, "warp_stiffness": 1e5,
            "poisson_ratio": 0, "bending_stiffness": 2,
            "fixed": {"box": {"min": [-1, -1, -1], "max": [0.05, 1, 1]}}, )" +
        grid("[1, 0, 0]", "[0, 0.25, 0]", n, 6, "alternating") + "}]");
    s->run(false);
    // Facets joined at x = cell, 2 cell, ...: the angle of each is its moment over D / cell, and
    // half of that at the clamp.
    double hinged = 0;
    for (int j = 1; j < n; ++j) {
        double moment = 0;
        for (int i = j + 1; i <= n; ++i) moment += q * cell * (i < n ? 1 : 0.5) * (i - j) * cell;
        hinged += (j == 1 ? 0.5 : 1.0) * moment * cell / D * (n - j) * cell;
    }
    double sunk = 0;
    for (int j = 0; j <= 6; ++j) sunk -= position(*s, n * 7 + j, 2) / 7;
    CHECK(std::abs(sunk / hinged - 1) < 5e-3);
    CHECK(std::abs(sunk / (q * std::pow(L, 4) / (8 * D)) - 1) < 0.01);
}

TEST_CASE("cloth: folded at rest it stays; forces of bending balance") {
    const std::string folded =
        R"("mesh": {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0.4], [1, -1, 0.3]],
            "triangles": [[0, 1, 2], [1, 0, 3]]}, "warp_stiffness": 10, "bending_stiffness": 0.3)";
    const auto rest = simulate(cloth(folded));
    rest->run(false);
    for (int p = 0; p < 4; ++p)
        for (int i = 0; i < 3; ++i) CHECK(std::abs(velocity(*rest, p, i)) < 1e-15);
    const auto s = simulate(cloth(folded + R"(, "rest_angle": 0.2)"));
    s->run(false);
    const std::vector<double> mass = s->model().array("mass").to_doubles();
    double most = 0;
    for (int i = 0; i < 3; ++i) {
        double momentum = 0, angular = 0;
        for (int p = 0; p < 4; ++p) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            momentum += mass[static_cast<std::size_t>(p)] * velocity(*s, p, i);
            angular +=
                mass[static_cast<std::size_t>(p)] *
                (position(*s, p, j) * velocity(*s, p, k) - position(*s, p, k) * velocity(*s, p, j));
            most = std::max(most, std::abs(velocity(*s, p, i)));
        }
        CHECK(std::abs(momentum) < 1e-15);
        CHECK(std::abs(angular) < 1e-15);
    }
    CHECK(most > 1e-5);
}

TEST_CASE("cloth: what cannot be simulated is refused") {
    const std::string square = grid("[1, 0, 0]", "[0, 1, 0]", 1, 1, "diagonal"),
                      k = R"(, "warp_stiffness": 10)";
    const auto triangles = [](const char* list) {
        return std::string(R"("mesh": {"points": [[0,0,0],[1,0,0],[0,1,0],[1,1,0],[2,0,0]],
            "triangles": )") +
               list + "}";
    };
    check_refused(cloth(triangles("[[0,1,4]]") + k), "triangle 0 has no area");
    check_refused(cloth(triangles("[[0,1,2],[1,2,3]]") + k), "runs the same way in two triangles");
    check_refused(cloth(triangles("[[0,1,2],[2,1,3],[2,1,4]]") + k), "runs the same way");
    check_refused(cloth(triangles("[[0,1,7]]") + k), "4");
    check_refused(cloth(triangles("[[0,1,2],[1,3,2]]") + k),
                  "at /bodies/0/mesh/points/4: point 4 belongs to no triangle, so it has no mass");
    check_refused(cloth(grid("[0, 0, 0]", "[0, 1, 0]", 1, 1, "diagonal") + k), "no area");
    check_refused(
        cloth(R"("mesh": {"points": [[0,0,0],[0,1,0],[0,0,1]], "triangles": [[0,1,2]]})" + k),
        "the warp is perpendicular");
    check_refused(cloth(square + k + R"(, "weft_stiffness": 20)"), "shear stiffness of this cloth");
    check_refused(cloth(square + k +
                        R"(, "weft_stiffness": 200, "shear_stiffness": 1, "poisson_ratio": 0.3)"),
                  "poisson_ratio that such stiffnesses do not allow");
    check_refused(cloth(square + k + R"(, "rest_angle": 1)"), "does not resist bending");
    check_refused(cloth(square + k + R"(, "mass_damping": 1)"), "explicit steps have no Rayleigh");
    check_refused(R"("dimension": 2, "time": {"step": 1, "steps": 1}, "bodies": [{"type": "cloth",
        "area_density": 1, )" +
                      square + k + "}]",
                  "dimension 3");
}

TEST_CASE("cloth, solids: a shape at rest that is a number of the scene is like that of a mesh") {
    const auto same = [](const std::string& a, const std::string& b) {
        const auto s = simulate(a), t = simulate(b);
        s->run(false);
        t->run(false);
        double moved = 0;
        for (std::int64_t p = 0; p < s->model().point_count(); ++p)
            for (int i = 0; i < s->model().dimension(); ++i) {
                CHECK(std::abs(position(*s, p, i) - position(*t, p, i)) < 1e-12);
                moved = std::max(moved, std::abs(velocity(*s, p, i)));
            }
        CHECK(moved > 0.01);
    };
    const std::string time =
        R"("time": {"step": "1/100", "steps": 5, "integrator": "implicit_euler"}, "bodies": [{)";
    const std::string cloth = time + R"("type": "cloth", "area_density": 0.2, "fixed": [0],
        "warp_stiffness": 20, "weft_stiffness": 15, "shear_stiffness": 3, "bending_stiffness": 0.1,
        "mesh": {"triangles": [[0, 1, 2], [0, 2, 3], [0, 3, 4]], "warp": [1, 0.3, 0], "points": )";
    const std::string flat = "[[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [-1, 1, 0]]",
                      bent = "[[0, 0, 0], [1, 0.1, 0], [1, 1, 0.3], [0, 1.2, 0], [-1, 1, 0.2]]";
    same(cloth + bent + R"(}, "positions": )" + flat + "}]",
         cloth + flat + R"(}, "rest_positions": )" + bent + "}]");
    for (const bool space : {true, false}) {
        const std::string solid = (space ? "" : R"("dimension": 2, "gravity": [0, -9.81], )") +
                                  time + R"("type": "solid", "density": 100, "fixed": [0],
            "mu": 2000, "lambda": 3000, "mesh": {"points": )",
                          square = space ? "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]"
                                         : "[[0, 0], [1, 0], [0, 1]]",
                          skew = space ? "[[0, 0, 0], [1, 0.1, 0], [0, 1.1, 0], [0, 0.2, 0.9]]"
                                       : "[[0, 0], [1, 0.1], [0, 1.1]]",
                          elements = space ? R"(, "tetrahedra": [[0, 1, 2, 3]]})"
                                           : R"(, "triangles": [[0, 1, 2]]}, "thickness": 0.3)";
        same(solid + skew + elements + R"(, "positions": )" + square + "}]",
             solid + square + elements + R"(, "rest_positions": )" + skew + "}]");
    }
}
