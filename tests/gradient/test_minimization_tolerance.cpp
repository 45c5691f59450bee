// Errors of gradients by the tolerance of a minimization: how fast they fall with it, against
// formulas and against converged runs, and that the reported error is the true one.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "engine/runtime/minimization/minimization.hpp"
#include "engine/sim/gradients/gradient_check.hpp"
#include "tests/support/arrays.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;
using namespace hindcast::lang;
using Values = std::vector<double>;

namespace {

constexpr std::array<double, 5> tolerances{1e-4, 1e-6, 1e-8, 1e-10, 1e-12};

// One point with the energy (x - p)^2/2 + x^4/4 + y^2/2. With p = 2 its minimum is at (1, 0), where the
// energy is 3/4 and its Hessian 1 + 3 x^2 = 4; there dx/dp = 1/(1 + 3 x^2).
const EnergyKernels quartic =
    energy<2, 1>("quartic", {"p"}, [](Int i, const Points<2, 1>& x, Read<Float> p) -> Float {
        const Float a = x[0].x(), b = x[0].y(), d = a - p[i];
        return 0.5 * d * d + 0.25 * a * a * a * a + 0.5 * b * b;
    });

struct Well {
    Array x = Array(ir::Type::f64, {1, 2}), p = test::array({2});
    Minimization solve;

    explicit Well(double tolerance)
        : solve(test::devices().back(), x, {0}, terms(), {.tolerance = tolerance}) {}

    std::vector<EnergyTerm> terms() {
        Array number(ir::Type::i32, {1});
        number.assign_integers(std::vector<std::int64_t>{0});
        return {{"well", quartic, 1, number, {{"p", p}}}};
    }
    void place(double at) { x.assign(Values{at, 0}); }
    // dx/dp where the point is.
    double gradient() {
        p.gradient().clear();
        x.gradient().assign(Values{1, 0});
        solve.launch().adjoint().run();
        return p.gradient().value(0);
    }
};

// The slope of log(error) over log(tolerance), from one end of the table to the other.
double slope(const Values& errors) {
    return std::log(errors.back() / errors.front()) /
           std::log(tolerances.back() / tolerances.front());
}

// A square of cloth that swings from one side while it stretches, released out of its plane.
Scene cloth(double tolerance) {
    return Scene::parse(fmt::format(R"({{"format": 1,
        "time": {{"step": 0.02, "steps": 8, "integrator": "implicit_euler",
                  "minimization": {{"tolerance": {:g}}}}},
        "bodies": [{{"type": "cloth", "name": "sheet", "area_density": 0.2, "warp_stiffness": 60,
                     "mesh": {{"grid": {{"origin": [0, 0, 0], "warp": [1, 0, 0], "weft": [0, 1, 0],
                                         "cells": [4, 4]}}}},
                     "velocity": {{"formula": ["0.5*y", "0", "-2*x"]}},
                     "bending_stiffness": 1e-3, "fixed": [0, 1, 2, 3, 4]}}],
        "objective": [{{"type": "point_target", "of": "sheet", "target": [0.5, 0.2, -0.4]}}],
        "parameters": [{{"path": "sheet.area_density"}}, {{"path": "sheet.warp_stiffness"}},
                       {{"path": "sheet.bending_stiffness"}}, {{"path": "sheet.velocity"}}]}})",
                                    tolerance));
}

SimulationOptions f64() {
    SimulationOptions options;
    options.device = test::devices().back();
    options.precision = ir::Precision::f64;
    return options;
}

const Registry& registry() {
    static const Registry all = [] {
        Registry r;
        register_all_modules(r);
        return r;
    }();
    return all;
}

Values gradient_at(double tolerance) {
    Simulation simulation(cloth(tolerance), registry(), f64());
    simulation.run(true);
    return simulation.gradient();
}

double norm(const Values& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
}

}  // namespace

// At the distance d from the minimum Newton's decrement promises 1/2 4 d^2, which is what the tolerance
// allows at the most: d = sqrt(2 tolerance 3/4 / 4). A gradient from there is wrong by
// |d(1/(1 + 3 x^2))/dx| d = 3/8 d, hence as the root of the tolerance. One more step leaves
// E'''/(2 E'') d^2 = 3/4 d^2 of the distance, and an error in proportion to the tolerance.
TEST_CASE("minimization: the error of a gradient falls in proportion to the tolerance") {
    Values after, before;
    for (const double tolerance : tolerances) {
        CAPTURE(tolerance);
        Well well(tolerance);
        const double d = 0.98 * std::sqrt(2 * tolerance * 0.75 / 4);
        well.place(1 + d);
        before.push_back(std::abs(well.gradient() - 0.25));
        well.solve.launch().forward().run();
        REQUIRE(well.solve.outcome().iterations == 1);
        after.push_back(std::abs(well.gradient() - 0.25));
        CHECK(well.solve.outcome().step == doctest::Approx(d).epsilon(2 * d + 1e-9));
        CHECK(before.back() == doctest::Approx(0.375 * d).epsilon(2 * d + 1e-8));
        CHECK(after.back() == doctest::Approx(0.375 * 0.75 * d * d).epsilon(3 * d + 2e-3));

        // How far the minimum is, and what follows from it.
        well.solve.remove_residuals(true);
        well.p.tangent().clear();
        well.x.tangent().clear();
        well.place(1 + d);
        well.solve.launch().replay(Direction::tangent).run();
        const double way = well.x.tangent().value(0);
        CHECK(well.x.value(0) + way == doctest::Approx(1).epsilon(1e-15 + d * d * d * d));
        CHECK(well.solve.removed_residuals().solves == 1);
        CHECK(well.solve.removed_residuals().distance == std::abs(way));
        well.solve.remove_residuals(false);
    }
    CHECK(slope(after) == doctest::Approx(1).epsilon(0.002));
    CHECK(slope(before) == doctest::Approx(0.5).epsilon(0.002));
}

TEST_CASE("minimization: a check reports what the tolerance does to the gradient") {
    const Values exact = gradient_at(1e-18);  // further steps are rounding
    std::string table;
    double most = 0;
    for (const double tolerance : tolerances) {
        CAPTURE(tolerance);
        GradientCheckOptions wanted;
        wanted.entries = 0;
        wanted.directions = 0;
        const GradientReport report = check_gradients(cloth(tolerance), registry(), f64(), wanted);
        REQUIRE(report.minima);
        CHECK(report.minima->solves == 8);
        Values error = gradient_at(tolerance), left = error;
        for (std::size_t k = 0; k < error.size(); ++k) {
            error[k] -= exact[k];
            left[k] = error[k] + report.minima->gradient[k];
        }
        const double size = norm(error) / norm(exact);
        table +=
            fmt::format("\n{:8.0e}  {:9.2e}  {:9.2e}  {:9.2e}  {:9.2e}", tolerance, size,
                        report.minima->error, norm(left) / norm(exact), report.minima->distance);
        // The report is right to first order.
        CHECK(norm(left) <= 0.02 * norm(error) + 1e-13 * norm(exact));
        CHECK(report.minima->passed == (report.minima->error <= 1e-6));
        if (tolerance == tolerances.front()) CHECK(size > 1e-8);  // there is an error to report
        most = std::max(most, (size - 1e-13) / tolerance);
    }
    MESSAGE("tolerance, error, reported, difference, distance in m" << table);
    // In proportion, but in stairs: Newton's method squares the distance in each iteration. Errors like
    // the root of the tolerance would be a million times it at the end.
    CHECK(most <= 10);
}
