// newton_cg: quadratics in one step, Rosenbrock's valley, negative curvature, bounds, log scales,
// and that a continued search goes on as if there had been no break.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/optim/update_rule.hpp"

using namespace hindcast;
using namespace hindcast::optim;

namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

constexpr double inf = std::numeric_limits<double>::infinity();

std::shared_ptr<Device> interpreter() {
    return std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
}

Variables unbounded(std::size_t n) {
    return {Vector(n, -inf), Vector(n, inf), Vector(n, 1.0), std::vector<bool>(n, false)};
}

Settings newton() {
    Settings s;
    s.type = RuleType::newton_cg;
    return s;
}

// A function with its gradient and Hessian.
struct Function {
    std::function<Evaluation(std::span<const double>)> value;
    std::function<Matrix(std::span<const double>)> hessian;
    int products = 0;

    HessianProduct product() {
        return [this](std::span<const double> x, std::span<const double> v) {
            ++products;
            const Matrix h = hessian(x);
            Vector result(v.size(), 0.0);
            for (std::size_t i = 0; i < v.size(); ++i)
                for (std::size_t j = 0; j < v.size(); ++j) result[i] += h[i][j] * v[j];
            return result;
        };
    }
};

Function rosenbrock() {
    return {
        [](std::span<const double> x) {
            const double a = 1 - x[0], b = x[1] - x[0] * x[0];
            return Evaluation{Vector(x.begin(), x.end()),
                              a * a + 100 * b * b,
                              {-2 * a - 400 * x[0] * b, 200 * b}};
        },
        [](std::span<const double> x) {
            return Matrix{{2 - 400 * (x[1] - 3 * x[0] * x[0]), -400 * x[0]}, {-400 * x[0], 200}};
        }};
}

// The points that a rule accepts.
std::vector<Evaluation> follow(UpdateRule& rule, const Function& f, const Vector& start, int most,
                               std::string* ending = nullptr) {
    std::vector<Evaluation> rows{f.value(start)};
    for (int k = 0; k < most; ++k) {
        const UpdateRule::Step step =
            rule.step(rows.back(), [&](std::span<const double> x, bool) { return f.value(x); });
        if (!step.moved) {
            if (ending != nullptr) *ending = step.reason;
            break;
        }
        rows.push_back(f.value(step.values));
    }
    return rows;
}

}  // namespace

TEST_CASE("newton_cg: a quadratic is done in one step") {
    // f = (x - c).A(x - c) / 2 with A = B B^T + 1: minimum at c.
    Matrix a{{6, 2, 1, 0}, {2, 5, -1, 1}, {1, -1, 4, 2}, {0, 1, 2, 7}};
    const Vector c{1, -2, 30, 0.5};
    Function f{[&](std::span<const double> x) {
                   Evaluation e{Vector(x.begin(), x.end()), 0, Vector(4, 0.0)};
                   for (std::size_t i = 0; i < 4; ++i)
                       for (std::size_t j = 0; j < 4; ++j) e.gradient[i] += a[i][j] * (x[j] - c[j]);
                   for (std::size_t i = 0; i < 4; ++i)
                       e.loss += 0.5 * e.gradient[i] * (x[i] - c[i]);
                   return e;
               },
               [&](std::span<const double>) { return a; }};
    Settings exact = newton();
    exact.cg_tolerance = 1e-12;
    const auto rule = make_rule(exact, unbounded(4), interpreter(), f.product());
    const auto rows = follow(*rule, f, {0, 0, 0, 0}, 1);
    REQUIRE(rows.size() == 2);
    for (std::size_t k = 0; k < 4; ++k) CHECK(rows[1].values[k] == doctest::Approx(c[k]));
    CHECK(f.products <= 5);  // conjugate gradients end after as many steps as there are unknowns
}

TEST_CASE("newton_cg: Rosenbrock's valley, downhill all the way") {
    Function f = rosenbrock();
    const auto rule = make_rule(newton(), unbounded(2), interpreter(), f.product());
    std::string ending;
    const auto rows = follow(*rule, f, {-1.2, 1}, 100, &ending);
    CHECK(rows.size() < 40);
    CHECK(ending != "");
    CHECK(rows.back().values[0] == doctest::Approx(1).epsilon(1e-7));
    CHECK(rows.back().values[1] == doctest::Approx(1).epsilon(1e-7));
    for (std::size_t k = 1; k < rows.size(); ++k) CHECK(rows[k].loss < rows[k - 1].loss);
}

TEST_CASE("newton_cg: negative curvature leads away from a saddle") {
    // f = x^4/4 - x^2/2 + y^2/2: a saddle at 0, minima -1/4 at (+-1, 0).
    Function f{[](std::span<const double> x) {
                   return Evaluation{Vector(x.begin(), x.end()),
                                     std::pow(x[0], 4) / 4 - x[0] * x[0] / 2 + x[1] * x[1] / 2,
                                     {std::pow(x[0], 3) - x[0], x[1]}};
               },
               [](std::span<const double> x) {
                   return Matrix{{3 * x[0] * x[0] - 1, 0}, {0, 1}};
               }};
    const auto rule = make_rule(newton(), unbounded(2), interpreter(), f.product());
    const auto rows = follow(*rule, f, {0.01, 0.7}, 60);
    CHECK(std::fabs(rows.back().values[0]) == doctest::Approx(1).epsilon(1e-6));
    CHECK(rows.back().loss == doctest::Approx(-0.25));
}

TEST_CASE("newton_cg: bounds hold, and the rest is still minimized") {
    Function f = rosenbrock();
    Variables variables = unbounded(2);
    variables.low = {-2, -2};
    variables.high = {0.5, 2};
    const auto rule = make_rule(newton(), variables, interpreter(), f.product());
    const auto rows = follow(*rule, f, {-1.2, 1}, 100);
    // On x = 0.5 the minimum is y = 0.25, with the loss 0.25.
    CHECK(rows.back().values[0] == 0.5);
    CHECK(rows.back().values[1] == doctest::Approx(0.25).epsilon(1e-6));
    CHECK(rows.back().loss == doctest::Approx(0.25));
    for (const Evaluation& e : rows) CHECK(e.values[0] <= 0.5);
}

TEST_CASE("newton_cg: on a log scale the model is that of the logarithm") {
    // f = (log x - 2)^2 is a quadratic in log x: one step to e^2, though not in x.
    Function f{[](std::span<const double> x) {
                   const double d = std::log(x[0]) - 2;
                   return Evaluation{{x[0]}, d * d, {2 * d / x[0]}};
               },
               [](std::span<const double> x) {
                   const double d = std::log(x[0]) - 2;
                   return Matrix{{(2 - 2 * d) / (x[0] * x[0])}};
               }};
    Variables variables = unbounded(1);
    variables.low = {1e-300};
    variables.logarithmic = {true};
    variables.rate = {3.0};
    const auto rule = make_rule(newton(), variables, interpreter(), f.product());
    const auto rows = follow(*rule, f, {0.3}, 1);
    REQUIRE(rows.size() == 2);
    CHECK(rows[1].values[0] == doctest::Approx(std::exp(2.0)).epsilon(1e-12));
}

TEST_CASE("newton_cg: a loss that is not finite is a failed step") {
    // f = -log(1 - x^2) - x: not finite outside of (-1, 1), the first Newton step goes there.
    Function f{[](std::span<const double> x) {
                   return Evaluation{{x[0]},
                                     -std::log(1 - x[0] * x[0]) - x[0],
                                     {2 * x[0] / (1 - x[0] * x[0]) - 1}};
               },
               [](std::span<const double> x) {
                   const double d = 1 - x[0] * x[0];
                   return Matrix{{(2 * d + 4 * x[0] * x[0]) / (d * d)}};
               }};
    Settings wide = newton();
    const auto rule = make_rule(wide, unbounded(1), interpreter(), f.product());
    const auto rows = follow(*rule, f, {-0.99999}, 50);
    // 2x = 1 - x^2
    CHECK(rows.back().values[0] == doctest::Approx(std::sqrt(2.0) - 1).epsilon(1e-6));
}

TEST_CASE("newton_cg: continued, it goes on as if there had been no break") {
    Function f = rosenbrock();
    const auto rule = make_rule(newton(), unbounded(2), interpreter(), f.product());
    const auto whole = follow(*rule, f, {-1.2, 1}, 12);
    const auto first = make_rule(newton(), unbounded(2), interpreter(), f.product());
    const auto begun = follow(*first, f, {-1.2, 1}, 5);
    const auto second = make_rule(newton(), unbounded(2), interpreter(), f.product());
    second->restore(first->state());
    const auto rest = follow(*second, f, begun.back().values, 7);
    REQUIRE(begun.size() + rest.size() - 1 == whole.size());
    for (std::size_t k = 0; k < rest.size(); ++k)
        CHECK(rest[k].values == whole[begun.size() - 1 + k].values);
    CHECK_THROWS_AS(make_rule(newton(), unbounded(2), interpreter()), Error);
}
