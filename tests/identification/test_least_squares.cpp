// Least squares and its statistics: problems whose solutions and covariances have closed forms.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "engine/optim/fit_statistics.hpp"
#include "engine/optim/least_squares.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using namespace hindcast::optim;
using namespace hindcast::test;

namespace {

Variables unbounded(std::size_t n) {
    Variables v;
    v.low.assign(n, -unlimited);
    v.high.assign(n, unlimited);
    v.rate.assign(n, 1);
    v.logarithmic.assign(n, false);
    return v;
}

// The line a + b t through points.
struct Line {
    std::vector<double> t, y;

    LeastSquares problem(RobustLoss loss = {}) const {
        LeastSquares p;
        p.variables = unbounded(2);
        p.groups = {{t.size(), 1, loss}};
        p.residuals = [this](std::span<const double> x) {
            std::vector<double> r;
            for (std::size_t i = 0; i < t.size(); ++i) r.push_back(x[0] + x[1] * t[i] - y[i]);
            return r;
        };
        p.jacobian = [this](std::span<const double>) {
            DenseMatrix j(t.size(), 2);
            for (std::size_t i = 0; i < t.size(); ++i) {
                j(i, 0) = 1;
                j(i, 1) = t[i];
            }
            return j;
        };
        return p;
    }
};

const Line points{{0, 1, 2, 3, 4, 5}, {1.1, 2.9, 5.2, 6.8, 9.1, 11.2}};

// Rosenbrock's valley as residuals: 10 (y - x^2), 1 - x.
LeastSquares valley() {
    LeastSquares p;
    p.variables = unbounded(2);
    p.groups = {{2}};
    p.residuals = [](std::span<const double> x) {
        return std::vector<double>{10 * (x[1] - x[0] * x[0]), 1 - x[0]};
    };
    p.jacobian = [](std::span<const double> x) {
        DenseMatrix j(2, 2);
        j(0, 0) = -20 * x[0];
        j(0, 1) = 10;
        j(1, 0) = -1;
        return j;
    };
    return p;
}

const std::vector<bool> none{false, false};

}  // namespace

TEST_CASE("least squares: a line, with the covariance of the normal equations") {
    const LeastSquares problem = points.problem();
    const LeastSquaresResult result = minimize(problem, std::vector<double>{-3.0, 7.0});
    // Sums: n = 6, t = 15, t^2 = 55, y = 36.3, t y = 126.1; determinant 6 * 55 - 15^2 = 105.
    const double a = (55 * 36.3 - 15 * 126.1) / 105, b = (6 * 126.1 - 15 * 36.3) / 105;
    CHECK(result.values[0] == doctest::Approx(a).epsilon(1e-9));
    CHECK(result.values[1] == doctest::Approx(b).epsilon(1e-9));
    CHECK(result.end == LeastSquaresResult::End::converged);
    double squares = 0;
    for (std::size_t i = 0; i < 6; ++i) squares += std::pow(a + b * points.t[i] - points.y[i], 2);
    CHECK(result.cost == doctest::Approx(0.5 * squares));

    const FitStatistics s = fit_statistics(result.jacobian, result.residuals, problem.groups, none);
    const double variance = squares / 4;
    CHECK(s.degrees_of_freedom == 4);
    CHECK(s.scale == doctest::Approx(std::sqrt(variance)));
    CHECK(s.covariance(0, 0) == doctest::Approx(variance * 55 / 105));
    CHECK(s.covariance(1, 1) == doctest::Approx(variance * 6 / 105));
    CHECK(s.covariance(0, 1) == doctest::Approx(-variance * 15 / 105));
    CHECK(s.standard_errors[1] == doctest::Approx(std::sqrt(variance * 6 / 105)));
    CHECK(s.correlation(0, 1) == doctest::Approx(-15 / std::sqrt(330)));
    // Held at a bound: the other alone, in a line of fixed slope.
    const FitStatistics one =
        fit_statistics(result.jacobian, result.residuals, problem.groups, {false, true});
    CHECK(one.covariance(0, 0) == doctest::Approx(squares / 5 / 6));
    CHECK(one.standard_errors[1] == 0);
}

TEST_CASE("least squares: weights of groups are those of repeated data") {
    Line twice = points;
    twice.t.insert(twice.t.end(), {3, 4, 5});
    twice.y.insert(twice.y.end(), {6.8, 9.1, 11.2});
    LeastSquares weighted = points.problem();
    weighted.groups = {{3, 1}, {3, 2}};
    const std::vector<double> start{0, 0};
    const LeastSquares repeated = twice.problem();
    const LeastSquaresResult a = minimize(weighted, start), b = minimize(repeated, start);
    for (std::size_t k = 0; k < 2; ++k)
        CHECK(a.values[k] == doctest::Approx(b.values[k]).epsilon(1e-10));
    CHECK(a.cost == doctest::Approx(b.cost));
}

TEST_CASE("least squares: a curved valley, from several starts") {
    for (const auto& start : {std::vector<double>{-1.2, 1}, {3, -4}, {0, 0}, {-20, 100}}) {
        const LeastSquaresResult result = minimize(valley(), start);
        CHECK(result.values[0] == doctest::Approx(1).epsilon(1e-8));
        CHECK(result.values[1] == doctest::Approx(1).epsilon(1e-8));
        CHECK(result.iterations < 60);
    }
}

TEST_CASE("least squares: bounds hold, and the others make the best of it") {
    LeastSquares problem = valley();
    problem.variables.high[0] = 0.5;  // the least is at (0.5, 0.25), at the bound
    for (const auto& start : {std::vector<double>{-1.2, 1}, {0.5, 3}, {7, 7}}) {
        const LeastSquaresResult result = minimize(problem, start);
        CHECK(result.values[0] == 0.5);
        CHECK(result.values[1] == doctest::Approx(0.25).epsilon(1e-9));
        CHECK(result.at_bound == std::vector<int>{1, 0});
    }
    LeastSquares line = points.problem();
    line.variables.low[1] = 2.5;  // then a is the mean of y - 2.5 t
    const LeastSquaresResult result = minimize(line, std::vector<double>{100, 300});
    CHECK(result.values[1] == 2.5);
    CHECK(result.values[0] == doctest::Approx((36.3 - 2.5 * 15) / 6));
    CHECK(result.at_bound == std::vector<int>{0, -1});
}

TEST_CASE("least squares: on a log scale") {
    // y = k exp(t): one residual for each of three points, k = 0.02.
    LeastSquares p;
    p.variables = unbounded(1);
    p.variables.logarithmic = {true};
    p.groups = {{3}};
    p.residuals = [](std::span<const double> x) {
        std::vector<double> r;
        for (int i = 0; i < 3; ++i) r.push_back((std::log(x[0]) - std::log(0.02)) * (i + 1));
        return r;
    };
    p.jacobian = [](std::span<const double> x) {
        DenseMatrix j(3, 1);
        for (std::size_t i = 0; i < 3; ++i) j(i, 0) = static_cast<double>(i + 1) / x[0];
        return j;
    };
    const LeastSquaresResult result = minimize(p, std::vector<double>{1e6});
    CHECK(result.values[0] == doctest::Approx(0.02).epsilon(1e-10));
    CHECK(result.iterations < 20);  // linear in the logarithm, but for the damping
}

TEST_CASE("least squares: an outlier counts less in a robust loss") {
    Line far = points;
    far.y[2] = 60;
    for (const Loss loss : {Loss::huber, Loss::cauchy}) {
        const RobustLoss robust{loss, 0.5};
        const LeastSquares problem = far.problem(robust);
        const LeastSquaresResult result =
            minimize(problem, std::vector<double>{0, 2}, {.iterations = 1000});
        // The gradient of the robust loss itself is 0.
        double by_a = 0, by_b = 0;
        for (std::size_t i = 0; i < 6; ++i) {
            const double psi = robust.weight(result.residuals[i]) * result.residuals[i];
            by_a += psi;
            by_b += psi * far.t[i];
        }
        CHECK(std::fabs(by_a) < 1e-5);
        CHECK(std::fabs(by_b) < 1e-4);
        CHECK(result.values[1] == doctest::Approx(2).epsilon(0.05));
    }
    CHECK(std::fabs(minimize(far.problem(), std::vector<double>{0, 2}).values[0] - 1) > 5);
}

TEST_CASE("least squares: runs that diverge are steps that are too long") {
    LeastSquares p;
    p.variables = unbounded(1);
    p.groups = {{1}};
    // atan has Newton steps that overshoot; beyond 3 nothing is defined.
    p.residuals = [](std::span<const double> x) {
        return std::fabs(x[0]) > 3 ? std::vector<double>{} : std::vector<double>{std::atan(x[0])};
    };
    p.jacobian = [](std::span<const double> x) {
        DenseMatrix j(1, 1);
        j(0, 0) = 1 / (1 + x[0] * x[0]);
        return j;
    };
    const LeastSquaresResult result = minimize(p, std::vector<double>{2.9});
    CHECK(std::fabs(result.values[0]) < 1e-8);
    CHECK(message([&] { minimize(p, std::vector<double>{4}); }).find("not finite at the start") !=
          std::string::npos);
    p.groups.clear();
    CHECK(message([&] { minimize(p, std::vector<double>{1}); }).find("no residuals") !=
          std::string::npos);
}

TEST_CASE("identifiability: angles between columns") {
    // Two columns with an angle of 6 degrees, a third one at a right angle to both, one of zeros.
    const double angle = 6 * std::numbers::pi / 180;
    DenseMatrix j(3, 4);
    j(0, 0) = 5;
    j(0, 1) = 2 * std::cos(angle);
    j(1, 1) = 2 * std::sin(angle);
    j(2, 2) = -7;
    const std::vector<ResidualGroup> groups{{3}};
    const Identifiability found = identifiability(j, groups, {false, false, false, false});
    const double lengths[] = {5, 2, 7, 0};
    for (std::size_t k = 0; k < 4; ++k) CHECK(found.lengths[k] == doctest::Approx(lengths[k]));
    CHECK(found.own_part[0] == doctest::Approx(std::sin(angle)));
    CHECK(found.own_part[1] == doctest::Approx(std::sin(angle)));
    CHECK(found.own_part[2] == doctest::Approx(1));
    CHECK(found.own_part[3] == 0);
    CHECK(found.correlation(0, 1) == doctest::Approx(-std::cos(angle)));
    CHECK(found.correlation(0, 2) == doctest::Approx(0));
    // Of two unit columns: sqrt(1 +- cos).
    CHECK(found.singular_values[0] == doctest::Approx(std::sqrt(1 + std::cos(angle))));
    CHECK(found.singular_values[1] == doctest::Approx(1));
    CHECK(found.singular_values[2] == doctest::Approx(std::sqrt(1 - std::cos(angle))));
    CHECK(found.singular_values[3] == doctest::Approx(0));
    CHECK(found.directions(0, 2) == doctest::Approx(-found.directions(1, 2)));

    // Where the second one is auxiliary, the first one's own column is what it does not share with it.
    const Identifiability own = identifiability(j, groups, {false, true, false, true});
    CHECK(own.own_lengths[0] == doctest::Approx(5 * std::sin(angle)));
    CHECK(own.own_lengths[1] == 0);
    REQUIRE(own.singular_values.size() == 2);
    CHECK(own.singular_values[1] == doctest::Approx(1));
    CHECK(own.own_part[0] == doctest::Approx(std::sin(angle)));
}

TEST_CASE("fit statistics: what cannot be told apart has infinite errors") {
    DenseMatrix j(4, 3);
    const double t[] = {1, 2, 3, 4};
    for (std::size_t i = 0; i < 4; ++i) {
        j(i, 0) = t[i];
        j(i, 1) = -2 * t[i];  // the same effect
        j(i, 2) = i % 2 == 0 ? 1 : -1;
    }
    const std::vector<double> r{0.1, -0.2, 0.1, 0.05};
    const FitStatistics s =
        fit_statistics(j, r, std::vector<ResidualGroup>{{4}}, {false, false, false});
    CHECK(s.is_singular);
    CHECK(std::isinf(s.standard_errors[0]));
    CHECK(std::isinf(s.standard_errors[1]));
    CHECK(std::isfinite(s.standard_errors[2]));
    CHECK(message([&] {
              fit_statistics(DenseMatrix(1, 2), std::vector<double>{1},
                             std::vector<ResidualGroup>{{1}}, {false, false});
          }).find("cannot say how well") != std::string::npos);
}
