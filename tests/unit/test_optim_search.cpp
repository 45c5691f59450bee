// The searches of NLopt, run on a paused thread: Rosenbrock's valley with and without bounds, what
// counts as an iteration, restarts, and clean ends.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlopt.hpp>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/base/log.hpp"
#include "engine/optim/paused_search.hpp"
#include "engine/optim/update_rule.hpp"

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

Settings settings_of(RuleType type) {
    Settings s;
    s.type = type;
    s.iterations = 1000;
    return s;
}

// Rosenbrock 1960: minimum 0 at (1, 1).
Evaluation rosenbrock(std::span<const double> x) {
    const double a = 1 - x[0], b = x[1] - x[0] * x[0];
    return {Vector(x.begin(), x.end()), a * a + 100 * b * b, {-2 * a - 400 * x[0] * b, 200 * b}};
}

// Runs a rule to its end and keeps what it did.
struct Run {
    std::vector<Evaluation> rows;                // the start, and each accepted point
    std::vector<std::vector<Evaluation>> tried;  // the evaluations made for rows[k + 1]
    std::string ending;

    Run(UpdateRule& rule, Evaluation here, Evaluation (*f)(std::span<const double>), int most) {
        rows.push_back(here);
        for (int k = 0; k < most; ++k) {
            tried.emplace_back();
            const UpdateRule::Step step =
                rule.step(rows.back(), [&](std::span<const double> x, bool) {
                    tried.back().push_back(f(x));
                    return tried.back().back();
                });
            if (!step.moved) {
                ending = step.reason;
                break;
            }
            rows.push_back(f(step.values));
        }
    }
    std::size_t evaluations() const {
        std::size_t n = 0;
        for (const auto& list : tried) n += list.size();
        return n;
    }
};

// Collects log messages while it lives.
struct LogWatch {
    std::string text;
    LogLevel before = log_level();
    LogWatch() {
        set_log_level(LogLevel::info);
        set_log_listener(
            [this](LogLevel, std::string_view line) { text += std::string(line) + "\n"; });
    }
    ~LogWatch() {
        set_log_listener(nullptr);
        set_log_level(before);
    }
};

}  // namespace

TEST_CASE("L-BFGS finds the minimum of Rosenbrock's valley") {
    const auto rule = make_rule(settings_of(RuleType::lbfgs), unbounded(2), interpreter());
    const Run run(*rule, rosenbrock(Vector{-1.2, 1}), rosenbrock, 100);
    CHECK(run.rows.size() < 60);
    CHECK(run.evaluations() < 80);
    CHECK(run.rows.back().values[0] == doctest::Approx(1).epsilon(1e-6));
    CHECK(run.rows.back().values[1] == doctest::Approx(1).epsilon(1e-6));
    CHECK(run.rows.back().loss < 1e-12);
    CHECK(run.ending != "");
    for (std::size_t k = 1; k < run.rows.size(); ++k)
        CHECK(run.rows[k].loss <= run.rows[k - 1].loss);
}

TEST_CASE(
    "an iteration of L-BFGS is one line search: its points lie on one line, the next do not") {
    const auto rule = make_rule(settings_of(RuleType::lbfgs), unbounded(2), interpreter());
    const Run run(*rule, rosenbrock(Vector{-1.2, 1}), rosenbrock, 25);
    const auto angle = [](const Vector& from, const Vector& a, const Vector& b) {
        const double ax = a[0] - from[0], ay = a[1] - from[1];
        const double bx = b[0] - from[0], by = b[1] - from[1];
        return std::fabs(ax * by - ay * bx) / (std::hypot(ax, ay) * std::hypot(bx, by));
    };
    std::size_t longer = 0;
    for (std::size_t k = 0; k + 1 < run.rows.size(); ++k) {
        const auto& line = run.tried[k];
        REQUIRE(!line.empty());
        CHECK(line.back().values == run.rows[k + 1].values);
        for (const Evaluation& e : line)
            CHECK(angle(run.rows[k].values, line[0].values, e.values) < 1e-9);
        longer += line.size() > 1;
        if (k + 2 < run.rows.size())
            CHECK(angle(run.rows[k].values, run.rows[k + 1].values, run.tried[k + 1][0].values) >
                  1e-9);
    }
    CHECK(longer > 3);  // there were line searches of several points
}

TEST_CASE("L-BFGS with bounds ends on the bound") {
    Variables variables = unbounded(2);
    variables.low = {-2, -2};
    variables.high = {0.5, 2};
    const auto rule = make_rule(settings_of(RuleType::lbfgs), variables, interpreter());
    const Run run(*rule, rosenbrock(Vector{-1.2, 1}), rosenbrock, 100);
    // On x = 0.5 the minimum is y = 0.25, with the loss 0.25.
    CHECK(run.rows.size() < 60);
    CHECK(run.rows.back().values[0] == 0.5);
    CHECK(run.rows.back().values[1] == doctest::Approx(0.25).epsilon(1e-6));
    CHECK(run.rows.back().loss == doctest::Approx(0.25).epsilon(1e-10));
    for (const auto& list : run.tried)
        for (const Evaluation& e : list) CHECK(e.values[0] <= 0.5);
}

TEST_CASE("L-BFGS on a log scale, with parameters of very different size") {
    Variables variables = unbounded(2);
    variables.logarithmic = {true, true};
    variables.low = {std::numeric_limits<double>::min(), 1e-9};
    variables.high = {inf, 2e-6};
    const auto f = [](std::span<const double> x) {
        const double u = std::log(x[0] / 1e6), v = std::log(x[1] / 1e-6);
        return Evaluation{Vector(x.begin(), x.end()),
                          u * u + 3 * v * v + u * v,
                          {(2 * u + v) / x[0], (6 * v + u) / x[1]}};
    };
    const auto rule = make_rule(settings_of(RuleType::lbfgs), variables, interpreter());
    const Run run(*rule, f(Vector{1e4, 1e-8}), f, 50);
    CHECK(run.rows.size() < 20);
    CHECK(run.rows.back().values[0] == doctest::Approx(1e6).epsilon(1e-6));
    CHECK(run.rows.back().values[1] == doctest::Approx(1e-6).epsilon(1e-6));
}

TEST_CASE("L-BFGS steps back from points where the loss is not finite") {
    const auto f = [](std::span<const double> x) {
        // -log(x) + x: defined for x > 0, minimum at 1
        return Evaluation{Vector(x.begin(), x.end()), x[0] - std::log(x[0]), {1 - 1 / x[0]}};
    };
    Settings s = settings_of(RuleType::lbfgs);
    s.rate = 100;
    const auto rule = make_rule(s, unbounded(1), interpreter());
    const Run run(*rule, f(Vector{20}), f, 50);  // first tried: 20 - 95
    CHECK(std::isnan(run.tried[0][0].loss));
    CHECK(run.rows.back().values[0] == doctest::Approx(1).epsilon(1e-6));
}

TEST_CASE("derivative-free searches find it too; an iteration is an improvement") {
    for (const RuleType type : {RuleType::nelder_mead, RuleType::subplex, RuleType::cobyla,
                                RuleType::bobyqa, RuleType::direct}) {
        CAPTURE(name_of(type));
        Variables variables = unbounded(2);
        variables.low = {-2, -2};
        variables.high = {2, 2};
        Settings s = settings_of(type);
        s.evaluations = 3000;
        const auto rule = make_rule(s, variables, interpreter());
        const Run run(*rule, rosenbrock(Vector{-1.2, 1}), rosenbrock, 3000);
        CHECK(run.rows.back().loss < 1e-2);
        CHECK(run.evaluations() <= 3000);
        CHECK(run.ending != "");
        for (std::size_t k = 1; k < run.rows.size(); ++k)
            CHECK(run.rows[k].loss < run.rows[k - 1].loss);
    }
}

TEST_CASE("what a search cannot do is said beforehand") {
    CHECK_THROWS_WITH_AS(make_rule(settings_of(RuleType::direct), unbounded(2), interpreter()),
                         doctest::Contains("give every parameter \"bounds\""), Error);
    CHECK_THROWS_WITH_AS(make_rule(settings_of(RuleType::bobyqa), unbounded(1), interpreter()),
                         doctest::Contains("two parameters"), Error);
}

TEST_CASE("a search starts again when the point was changed or restored, and says so") {
    const auto rule = make_rule(settings_of(RuleType::lbfgs), unbounded(2), interpreter());
    LogWatch log;
    const Run first(*rule, rosenbrock(Vector{-1.2, 1}), rosenbrock, 5);
    CHECK(log.text == "");
    const Run again(*rule, rosenbrock(Vector{0, 0.5}), rosenbrock, 100);
    CHECK(log.text.find("the point has changed; the search starts again") != std::string::npos);
    CHECK(again.rows.back().loss < 1e-12);

    log.text.clear();
    const auto second = make_rule(settings_of(RuleType::lbfgs), unbounded(2), interpreter());
    second->restore(rule->state());
    const Run restored(*second, rosenbrock(Vector{0, 0.5}), rosenbrock, 100);
    CHECK(log.text.find("cannot be saved; the search starts again") != std::string::npos);
    REQUIRE(restored.rows.size() == again.rows.size());
    for (std::size_t k = 0; k < again.rows.size(); ++k)
        CHECK(restored.rows[k].values == again.rows[k].values);
}

TEST_CASE("an exception in an evaluation passes through, and the search goes on afterwards") {
    const auto rule = make_rule(settings_of(RuleType::lbfgs), unbounded(2), interpreter());
    const auto other = make_rule(settings_of(RuleType::lbfgs), unbounded(2), interpreter());
    const Evaluation start = rosenbrock(Vector{-1.2, 1});
    CHECK_THROWS_WITH_AS(rule->step(start,
                                    [](std::span<const double>, bool) -> Evaluation {
                                        throw Error("out of paper");
                                    }),
                         doctest::Contains("out of paper"), Error);
    const Run run(*rule, start, rosenbrock, 5), plain(*other, start, rosenbrock, 5);
    CHECK(run.rows.back().values == plain.rows.back().values);
}

TEST_CASE("a paused search asks, is answered, ends, fails, or is abandoned") {
    const auto body = [](const PausedSearch::Objective& f) {
        double sum = 0;
        for (int k = 0; k < 3; ++k) {
            const double x[] = {static_cast<double>(k)};
            double g[] = {0};
            sum += f(x, g) + g[0];
        }
        return "the sum is " + std::to_string(static_cast<int>(sum));
    };
    SUBCASE("to the end") {
        PausedSearch search(body);
        double expected = 0;
        while (const Vector* x = search.next()) {
            CHECK((*x)[0] == expected);
            CHECK(search.next() == x);  // the same until it is answered
            const double gradient[] = {100 * expected};
            search.answer(10 * expected, gradient);
            ++expected;
        }
        CHECK(expected == 3);
        CHECK(search.ending() == "the sum is 330");
        CHECK(search.next() == nullptr);
    }
    SUBCASE("abandoned at any point, also while it ignores that") {
        for (int answers = 0; answers <= 3; ++answers) {
            bool unwound = false;
            {
                PausedSearch search([&](const PausedSearch::Objective& f) {
                    for (int k = 0; k < 10; ++k) {
                        try {
                            f(Vector{0}, {});
                        } catch (const nlopt::forced_stop&) {
                            unwound = true;
                        }
                    }
                    return std::string();
                });
                for (int k = 0; k < answers; ++k) {
                    REQUIRE(search.next() != nullptr);
                    search.answer(0, {});
                }
            }
            CHECK(unwound);
        }
    }
    SUBCASE("a failure of the search is thrown to the caller") {
        PausedSearch search(
            [](const PausedSearch::Objective&) -> std::string { throw Error("no such method"); });
        CHECK_THROWS_WITH_AS(search.next(), doctest::Contains("no such method"), Error);
    }
}
