// The rules that step along the gradient, against the same formulas written out by hand in plain
// C++ on quadratics L = sum a_k (x_k - c_k)^2 / 2, whose gradient is a_k (x_k - c_k).
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "engine/document/document.hpp"
#include "engine/optim/gradient_rule.hpp"

using namespace hindcast;
using namespace hindcast::optim;

namespace {

using Vector = std::vector<double>;

constexpr double inf = std::numeric_limits<double>::infinity();

std::shared_ptr<Device> interpreter() {
    return std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
}

Variables unbounded(std::size_t n) {
    return {Vector(n, -inf), Vector(n, inf), Vector(n, 1.0), std::vector<bool>(n, false)};
}

const Vector curvature = {2, 0.5, 8}, center = {1, -3, 0.25}, start = {4, 2, -1};

Evaluation quadratic(const Vector& x) {
    Evaluation e{x, 0, Vector(x.size())};
    for (std::size_t k = 0; k < x.size(); ++k) {
        const double d = x[k] - center[k];
        e.gradient[k] = curvature[k] * d;
        e.loss += 0.5 * curvature[k] * d * d;
    }
    return e;
}

// The points that a rule visits, the start included.
std::vector<Vector> path(UpdateRule& rule, Vector x, int steps,
                         const std::function<Evaluation(const Vector&)>& f = quadratic) {
    std::vector<Vector> points{x};
    for (int k = 0; k < steps; ++k) {
        const UpdateRule::Step step = rule.step(f(x), {});
        REQUIRE(step.moved);
        points.push_back(x = step.values);
    }
    return points;
}

Settings settings_of(RuleType type, double rate) {
    Settings s;
    s.type = type;
    s.rate = rate;
    return s;
}

void check_near(const Vector& a, const Vector& b, double tolerance = 1e-14) {
    REQUIRE(a.size() == b.size());
    for (std::size_t k = 0; k < a.size(); ++k)
        CHECK(a[k] == doctest::Approx(b[k]).epsilon(tolerance));
}

double length_of(const Vector& v) {
    return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

}  // namespace

TEST_CASE("gradient descent on a quadratic: x_k = c + (1 - rate a)^k (x_0 - c)") {
    const auto rule =
        make_rule(settings_of(RuleType::gradient_descent, 0.1), unbounded(3), interpreter());
    const auto points = path(*rule, start, 6);
    for (int k = 0; k <= 6; ++k) {
        Vector expected;
        for (std::size_t i = 0; i < 3; ++i)
            expected.push_back(center[i] +
                               std::pow(1 - 0.1 * curvature[i], k) * (start[i] - center[i]));
        check_near(points[static_cast<std::size_t>(k)], expected);
    }
}

TEST_CASE("normalized gradient descent makes steps of the rate's length, at any scale") {
    for (const double scale : {1.0, 1e-200, 1e+200, 1e-310}) {
        const auto f = [&](const Vector& x) {
            Evaluation e = quadratic(x);
            for (double& g : e.gradient) g *= scale;
            return e;
        };
        const auto rule = make_rule(settings_of(RuleType::normalized_gradient_descent, 0.25),
                                    unbounded(3), interpreter());
        const auto points = path(*rule, start, 3, f);
        const Vector g = quadratic(start).gradient;
        Vector expected = start;
        for (std::size_t i = 0; i < 3; ++i) expected[i] -= 0.25 * g[i] / length_of(g);
        check_near(points[1], expected, scale < 1e-300 ? 1e-12 : 1e-14);
        for (std::size_t k = 1; k < points.size(); ++k) {
            Vector d;
            for (std::size_t i = 0; i < 3; ++i) d.push_back(points[k][i] - points[k - 1][i]);
            CHECK(length_of(d) == doctest::Approx(0.25).epsilon(1e-12));
        }
    }
    const auto rule = make_rule(settings_of(RuleType::normalized_gradient_descent, 0.25),
                                unbounded(3), interpreter());
    CHECK(rule->step({start, 1, {0, 0, 0}}, {}).values == start);  // nowhere to go: stay
}

TEST_CASE("momentum and Nesterov's momentum") {
    for (const bool nesterov : {false, true}) {
        Settings s = settings_of(RuleType::momentum, 0.05);
        s.momentum = 0.8;
        s.nesterov = nesterov;
        const auto rule = make_rule(s, unbounded(3), interpreter());
        const auto points = path(*rule, start, 5);
        Vector x = start, m(3, 0.0);
        for (std::size_t k = 1; k <= 5; ++k) {
            const Vector g = quadratic(x).gradient;
            for (std::size_t i = 0; i < 3; ++i) {
                m[i] = 0.8 * m[i] + g[i];
                x[i] -= 0.05 * (nesterov ? g[i] + 0.8 * m[i] : m[i]);
            }
            check_near(points[k], x);
        }
    }
}

TEST_CASE("Adam with bias correction; its first step is the rate along the gradient's sign") {
    Settings s = settings_of(RuleType::adam, 0.1);
    s.beta1 = 0.8;
    s.beta2 = 0.95;
    s.epsilon = 1e-6;
    const auto rule = make_rule(s, unbounded(3), interpreter());
    const auto points = path(*rule, start, 5);
    Vector x = start, m(3, 0.0), v(3, 0.0);
    for (int k = 1; k <= 5; ++k) {
        const Vector g = quadratic(x).gradient;
        for (std::size_t i = 0; i < 3; ++i) {
            m[i] = 0.8 * m[i] + (1 - 0.8) * g[i];
            v[i] = 0.95 * v[i] + (1 - 0.95) * g[i] * g[i];
            x[i] -= 0.1 * (m[i] / (1 - std::pow(0.8, k))) /
                    (std::sqrt(v[i] / (1 - std::pow(0.95, k))) + 1e-6);
        }
        check_near(points[static_cast<std::size_t>(k)], x, 1e-13);
    }
    const Vector g = quadratic(start).gradient;
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(points[1][i] ==
              doctest::Approx(start[i] - 0.1 * g[i] / (std::fabs(g[i]) + 1e-6)).epsilon(1e-14));
}

TEST_CASE("rates of groups and parameters act by entry, bounds by projection after the update") {
    Variables variables = unbounded(3);
    variables.rate = {1, 0.5, 3};
    variables.low = {3.5, -inf, -inf};
    variables.high = {inf, inf, -0.5};
    const auto rule =
        make_rule(settings_of(RuleType::gradient_descent, 0.1), variables, interpreter());
    const Vector next = rule->step(quadratic(start), {}).values;
    // g = (6, 2.5, -10)
    CHECK(next[0] == 3.5);  // 3.4 without the bound
    CHECK(next[1] == doctest::Approx(2 - 0.1 * 0.5 * 2.5).epsilon(1e-15));
    CHECK(next[2] == -0.5);  // 2 without the bound
}

TEST_CASE("clipping by norm and by entry") {
    const Vector g = quadratic(start).gradient;  // (6, 2.5, -10): norm 11.9269...
    SUBCASE("a longer gradient is shortened to the norm") {
        Settings s = settings_of(RuleType::gradient_descent, 0.1);
        s.clip_norm = 2;
        const Vector next =
            make_rule(s, unbounded(3), interpreter())->step(quadratic(start), {}).values;
        for (std::size_t i = 0; i < 3; ++i)
            CHECK(next[i] ==
                  doctest::Approx(start[i] - 0.1 * g[i] * 2 / length_of(g)).epsilon(1e-14));
    }
    SUBCASE("a shorter one stays as it is") {
        Settings s = settings_of(RuleType::gradient_descent, 0.1), plain = s;
        s.clip_norm = 12;
        CHECK(make_rule(s, unbounded(3), interpreter())->step(quadratic(start), {}).values ==
              make_rule(plain, unbounded(3), interpreter())->step(quadratic(start), {}).values);
    }
    SUBCASE("norms beyond the squares' range") {
        Settings s = settings_of(RuleType::gradient_descent, 0.1);
        s.clip_norm = 1;
        const auto rule = make_rule(s, unbounded(2), interpreter());
        check_near(rule->step({{0, 0}, 1, {3e250, -4e250}}, {}).values, {-0.06, 0.08});
        check_near(rule->step({{0, 0}, 1, {3e-250, -4e-250}}, {}).values, {-3e-251, 4e-251});
    }
    SUBCASE("by entry") {
        Settings s = settings_of(RuleType::momentum, 0.1);
        s.clip_value = 4;
        const Vector next =
            make_rule(s, unbounded(3), interpreter())->step(quadratic(start), {}).values;
        check_near(next, {4 - 0.4, 2 - 0.25, -1 + 0.4});
    }
}

TEST_CASE("a log scale is descent in u = log x with the gradient x dL/dx") {
    Variables variables = unbounded(2);
    variables.logarithmic = {true, false};
    variables.low = {1e-3, -inf};
    const auto rule =
        make_rule(settings_of(RuleType::gradient_descent, 0.2), variables, interpreter());
    // L = (log x - log 3)^2 / 2 + y^2 / 2: u_k = log 3 + 0.8^k (u_0 - log 3)
    const auto f = [](const Vector& x) {
        return Evaluation{x, 0, {std::log(x[0] / 3) / x[0], x[1]}};
    };
    const auto points = path(*rule, {20, 1}, 10, f);
    for (int k = 0; k <= 10; ++k)
        check_near(points[static_cast<std::size_t>(k)],
                   {3 * std::pow(20.0 / 3, std::pow(0.8, k)), std::pow(0.8, k)}, 1e-13);
    // Clipping acts in u: x dL/dx = 100 is clipped to 1.
    Settings s = settings_of(RuleType::gradient_descent, 0.2);
    s.clip_value = 1;
    check_near(make_rule(s, variables, interpreter())->step({{10, 0}, 0, {10, 0}}, {}).values,
               {10 * std::exp(-0.2), 0});
    // A zero gradient moves nothing, not even by rounding; bounds hold for x.
    CHECK(rule->step({{0.1, 0}, 0, {0, 0}}, {}).values == Vector{0.1, 0});
    CHECK(rule->step({{0.1, 0}, 0, {1e4, 0}}, {}).values == Vector{1e-3, 0});
}

TEST_CASE("updates have the same bits on every device, width and number of threads") {
    const std::size_t n = 5000;
    Vector x(n), g(n);
    Variables variables = unbounded(n);
    for (std::size_t k = 0; k < n; ++k) {
        const double t = static_cast<double>(k);
        x[k] = 1.5 + std::sin(t);
        g[k] = std::cos(3 * t) * std::exp(std::sin(t));
        variables.logarithmic[k] = k % 3 == 0;
        variables.rate[k] = 1 + t / n;
        variables.low[k] = k % 5 == 0 ? 1.0 : 0.1;
    }
    for (const RuleType type :
         {RuleType::normalized_gradient_descent, RuleType::momentum, RuleType::adam}) {
        CAPTURE(name_of(type));
        Settings s = settings_of(type, 0.05);
        s.clip_norm = 20;
        const auto f = [&](const Vector& at) { return Evaluation{at, 0, g}; };
        const auto reference = path(*make_rule(s, variables, interpreter()), x, 3, f);
        for (const int width : {1, 4, 8, 16}) {
            DeviceOptions options;
            options.width = width;
            options.threads = width == 8 ? 3 : 1;
            const auto device = std::make_shared<Device>(options);
            CHECK(path(*make_rule(s, variables, device), x, 3, f) == reference);
        }
    }
}

TEST_CASE("a rule that is saved and restored goes on with the same bits") {
    for (const RuleType type : {RuleType::gradient_descent, RuleType::normalized_gradient_descent,
                                RuleType::momentum, RuleType::adam}) {
        CAPTURE(name_of(type));
        Settings s = settings_of(type, 0.07);
        s.clip_norm = 5;
        const auto whole = make_rule(s, unbounded(3), interpreter());
        const auto points = path(*whole, start, 9);
        const auto first = make_rule(s, unbounded(3), interpreter());
        const auto half = path(*first, start, 4);
        // Through text, as a file would keep it.
        const auto saved = document::Document::parse(document::to_text(first->state()));
        const auto second = make_rule(s, unbounded(3), interpreter());
        second->restore(saved.root());
        const auto rest = path(*second, half.back(), 5);
        for (std::size_t k = 0; k <= 5; ++k) CHECK(rest[k] == points[k + 4]);
    }
    const auto rule = make_rule(settings_of(RuleType::adam, 0.1), unbounded(3), interpreter());
    CHECK_THROWS_AS(rule->restore(document::Document::parse("{}").root()), Error);
}

TEST_CASE("numbers in a state keep every bit, also many, and those that are not finite") {
    const double subnormal = std::numeric_limits<double>::denorm_min();
    Vector few{0.1, -0.0, 1.0 / 3, subnormal, std::numeric_limits<double>::max(), -7};
    Vector many(1500), odd{inf, -inf, std::nan(""), 1};
    for (std::size_t k = 0; k < many.size(); ++k) many[k] = std::sin(static_cast<double>(k));
    for (const Vector& values : {few, many, odd}) {
        const std::string text =
            document::to_text(document::Node::object({{"values", exact_numbers(values)}}));
        const auto read = document::Document::parse(text);
        const Vector back = exact_numbers_of(*read.root().find("values"), values.size());
        CHECK(std::equal(values.begin(), values.end(), back.begin(), [](double a, double b) {
            return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
        }));
        CHECK_THROWS_AS(exact_numbers_of(*read.root().find("values"), values.size() + 1), Error);
    }
    CHECK(exact_numbers(few).is_array());
    CHECK(exact_numbers(many).is_string());
}

TEST_CASE("norms neither overflow nor vanish on the way") {
    CHECK(norm(Vector{3, -4}) == 5);
    CHECK(norm(Vector{3e300, 4e300}) == doctest::Approx(5e300).epsilon(1e-15));
    CHECK(norm(Vector{3e-310, 4e-310}) == doctest::Approx(5e-310).epsilon(1e-12));
    CHECK(norm(Vector{}) == 0);
    CHECK(std::isnan(norm(Vector{1, std::nan("")})));
    CHECK(norm(Vector{1, -inf}) == inf);
}

TEST_CASE("the norm of a gradient: that of its sums on the device, to the last bit") {
    const auto device = interpreter();
    for (const std::size_t n : {1u, 3u, 17u, 1024u, 2500u}) {
        for (const double scale : {1.0, 1e-300, 1e300}) {
            Vector g(n);
            for (std::size_t k = 0; k < n; ++k)
                g[k] = scale * std::sin(1.3 * static_cast<double>(k) + 0.4);
            long double sum = 0;  // of what is near 1
            for (const double x : g) {
                const long double y = static_cast<long double>(x) / scale;
                sum += y * y;
            }
            const double norm = norm_as_reduced(g);
            CHECK(norm / scale ==
                  doctest::Approx(static_cast<double>(std::sqrt(sum))).epsilon(1e-14));
            GradientRule rule(settings_of(RuleType::gradient_descent, 1), unbounded(n), device);
            rule.step({Vector(n, 1.0), 1, g}, {});
            const Vector all = rule.squares().to_doubles();
            CHECK(norm_of({all[3], all[4], all[5]}) == norm);
        }
    }
    CHECK(norm_as_reduced(Vector{0, -0.0}) == 0);
    CHECK(norm_as_reduced(Vector{1, inf}) == inf);
    CHECK(std::isnan(norm_as_reduced(Vector{1, std::nan("")})));
}
