// The derivative-free searches of NLopt, run on a paused thread: Rosenbrock's valley, what counts as
// an iteration, restarts, what is saved, and clean ends.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlopt.hpp>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/base/log.hpp"
#include "engine/document/document.hpp"
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

TEST_CASE("a search starts again when the point was changed, and says so") {
    const auto rule = make_rule(settings_of(RuleType::nelder_mead), unbounded(2), interpreter());
    LogWatch log;
    const Run first(*rule, rosenbrock(Vector{-1.2, 1}), rosenbrock, 5);
    CHECK(log.text == "");
    const Run again(*rule, rosenbrock(Vector{0, 0.5}), rosenbrock, 1000);
    CHECK(log.text.find("the point has changed; the search starts again") != std::string::npos);
    CHECK(again.rows.back().loss < 1e-8);
}

TEST_CASE("a restored search goes on as if there had been no break") {
    for (const RuleType type : {RuleType::nelder_mead, RuleType::subplex, RuleType::cobyla,
                                RuleType::bobyqa, RuleType::direct}) {
        CAPTURE(name_of(type));
        Variables variables = unbounded(2);
        variables.low = {-2, -2};
        variables.high = {2, 2};
        Settings s = settings_of(type);
        s.evaluations = 150;
        // Undefined where x + y < -1.5, which the first simplices and boxes reach.
        const auto f = [](std::span<const double> x) {
            Evaluation e = rosenbrock(x);
            if (x[0] + x[1] < -1.5) e.loss = std::numeric_limits<double>::quiet_NaN();
            return e;
        };
        const auto whole = make_rule(s, variables, interpreter());
        const Run all(*whole, f(Vector{-1.2, 1}), f, 1000);
        REQUIRE(all.rows.size() > 6);
        for (const int stop : {0, 1, 4, static_cast<int>(all.rows.size()) - 1}) {
            CAPTURE(stop);
            const auto part = make_rule(s, variables, interpreter());
            const Run before(*part, f(Vector{-1.2, 1}), f, stop);
            const auto rest = make_rule(s, variables, interpreter());
            rest->restore(
                document::Document::parse(document::Document(part->state()).to_text()).root());
            const Run after(*rest, before.rows.back(), f, 1000);
            REQUIRE(before.rows.size() + after.rows.size() == all.rows.size() + 1);
            for (std::size_t k = 0; k < after.rows.size(); ++k)
                CHECK(after.rows[k].values == all.rows[before.rows.size() - 1 + k].values);
            CHECK(after.ending == all.ending);
            CHECK(before.evaluations() + after.evaluations() == all.evaluations());
        }
    }
}

TEST_CASE("an exception in an evaluation passes through, and the search goes on afterward") {
    const auto rule = make_rule(settings_of(RuleType::cobyla), unbounded(2), interpreter());
    const auto other = make_rule(settings_of(RuleType::cobyla), unbounded(2), interpreter());
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
