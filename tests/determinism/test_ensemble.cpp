// Every member of an ensemble has the bits of a run of the simulation alone: losses, gradients and
// final states, whatever the lanes, widths and threads.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <filesystem>

#include "engine/backend/jit/llvm.hpp"
#include "engine/sim/ensembles/ensemble.hpp"
#include "engine/sim/gradients/gradient_check.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/kernels/kernel_harness.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/skip.hpp"

namespace hindcast {

namespace {

#define HINDCAST_NEEDS_LLVM() \
    if (!backend::llvm_info().available) HINDCAST_SKIP(backend::llvm_info().problem)

using Point = std::vector<double>;

std::string number(double value) {
    return " " + std::to_string(std::bit_cast<std::uint64_t>(value));
}

std::unique_ptr<Simulation> make(const Scene& scene, ir::Precision precision,
                                 DeviceOptions device = {.threads = 1}, std::int64_t steps = -1) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(device);
    options.precision = precision;
    options.steps = steps;
    return std::make_unique<Simulation>(scene, test::all_modules(), options);
}

Scene load(const std::string& name) {
    return Scene::load(std::filesystem::path(hindcast::test::source_dir) / "scenes" /
                       (name + ".json"));
}

std::vector<Point> points_around(const Point& start, std::size_t count) {
    std::vector<Point> points(count, start);
    for (std::size_t m = 0; m < count; ++m)
        for (std::size_t k = 0; k < start.size(); ++k)
            points[m][k] += 1e-3 * static_cast<double>(m) *
                            (1 + 0.1 * static_cast<double>((k + m) % 7)) *
                            (start[k] != 0 ? start[k] : 1);
    return points;
}

struct Outcome {
    double loss = 0;
    Point gradient;
    std::vector<double> terms;
    Hash128 state;
};

std::vector<Outcome> alone(Simulation& s, const std::vector<Point>& points) {
    std::vector<Outcome> list;
    for (const Point& p : points) {
        s.parameters().set_values(p);
        Outcome o;
        o.loss = s.run(true);
        o.state = s.state_hash().digest();
        for (const auto& term : s.terms()) o.terms.push_back(term.value);
        if (std::isfinite(o.loss)) o.gradient = s.gradient();
        list.push_back(o);
    }
    return list;
}

// "" or the first difference from runs alone.
std::string difference(Simulation& s, EnsembleOptions options, const std::vector<Point>& points,
                       const std::vector<Outcome>& expected, bool gradient) {
    Ensemble ensemble(s, options);
    const Point before = s.parameters().values();
    std::vector<Hash128> states;
    const auto results = ensemble.evaluate(points, gradient, [&](std::size_t m) {
        if (s.parameters().values() != points[m]) states.emplace_back();
        states.push_back(s.state_hash().digest());
    });
    if (results.size() != points.size() || states.size() != points.size()) return "count";
    for (std::size_t m = 0; m < points.size(); ++m) {
        const std::string where = " of member " + std::to_string(m);
        if (!test::same_bits(results[m].loss, expected[m].loss)) return "loss" + where;
        for (std::size_t k = 0; k < results[m].terms.size(); ++k)
            if (!test::same_bits(results[m].terms[k].value, expected[m].terms[k]))
                return "term" + where;
        if (gradient && !test::same_bits(results[m].gradient, expected[m].gradient))
            return "gradient" + where;
        if (!(states[m] == expected[m].state)) return "state" + where;
    }
    return s.parameters().values() == before ? "" : "parameters are not restored";
}

}  // namespace

TEST_CASE("ensemble: losses, gradients and states are those of runs alone") {
    HINDCAST_NEEDS_LLVM();
    for (const char* name : {"spring_cage", "mass_spring_simple", "two_body_spring", "free_flight",
                             "thrown_ball", "accumulated_sensitivity"}) {
        CAPTURE(name);
        const Scene scene = load(name);
        for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64}) {
            CAPTURE((precision == ir::Precision::f64));
            const auto s =
                make(scene, precision, {.threads = 1, .whole_program = WholeProgramUse::never});
            const std::vector<Point> points = points_around(s->parameters().values(), 21);
            const std::vector<Outcome> expected = alone(*s, points);
            for (const int width : {0, 1, 16}) {
                if (width != 0 && std::string(name) != "spring_cage") continue;
                CAPTURE(width);
                const auto wide = make(scene, precision, {.threads = 3, .width = width});
                for (const bool gradient : {false, true})
                    CHECK(difference(*wide, {.members = 40, .use = EnsembleUse::lanes}, points,
                                     expected, gradient) == "");
            }
        }
    }
}

TEST_CASE("ensemble: minimizations in lanes find what they find alone") {
    HINDCAST_NEEDS_LLVM();
    for (const char* name : {"springs/coverage_implicit", "colliders/coverage_barrier",
                             "particles/coverage_quasi_static"}) {
        CAPTURE(name);
        document::Document document =
            Scene::load(std::filesystem::path(hindcast::test::source_dir) / "kernels" /
                        (std::string(name) + ".json"))
                .document();
        document.set("/time/minimization", document::Node::object({{"solver", "dense"}}));
        const Scene scene = Scene::of(std::move(document), {});
        for (const ir::Precision precision : {ir::Precision::f64, ir::Precision::f32}) {
            if (precision == ir::Precision::f32 && std::string(name) != "springs/coverage_implicit")
                continue;
            CAPTURE((precision == ir::Precision::f64));
            const auto s = make(scene, precision);
            // Members that need different numbers of iterations.
            const std::vector<Point> points = points_around(s->parameters().values(), 11);
            const std::vector<Outcome> expected = alone(*s, points);
            const auto wide = make(scene, precision, {.threads = 2});
            for (const bool gradient : {false, true})
                CHECK(difference(*wide, {.members = 16, .use = EnsembleUse::lanes}, points,
                                 expected, gradient) == "");
        }
    }
}

TEST_CASE("ensemble: members on a thread each have the bits of runs alone") {
    HINDCAST_NEEDS_LLVM();
    const auto check = [](const Scene& scene, std::int64_t steps, std::int64_t memory) {
        CAPTURE(memory);
        SimulationOptions options;
        options.precision = ir::Precision::f32;
        options.steps = steps;
        if (memory > 0) options.gradient_memory = memory;
        options.device = std::make_shared<Device>(DeviceOptions{.threads = 1});
        Simulation one(scene, test::all_modules(), options);
        const std::vector<Point> points = points_around(one.parameters().values(), 7);
        const std::vector<Outcome> expected = alone(one, points);
        options.device = std::make_shared<Device>(DeviceOptions{.threads = 3});
        Simulation several(scene, test::all_modules(), options);
        for (const bool gradient : {false, true}) {
            CHECK(difference(several, {.use = EnsembleUse::threads}, points, expected, gradient) ==
                  "");
            Ensemble ensemble(several, {.use = EnsembleUse::threads});
            for (const std::size_t count : {7, 1, 2}) {
                const auto results = ensemble.evaluate(std::span(points).first(count), gradient);
                REQUIRE(results.size() == count);
                for (std::size_t m = 0; m < count; ++m) {
                    CHECK(test::same_bits(results[m].loss, expected[m].loss));
                    if (gradient) CHECK(test::same_bits(results[m].gradient, expected[m].gradient));
                }
            }
            CHECK(ensemble.report() == "on 3 threads");
        }
    };
    check(load("mpm_launch"), 12, 0);  // sums in fixed point
    check(load("spring_cage"), -1, 0);
    check(load("wave_image"), 6, 0);
    check(load("spring_cage"), 400, 30000);  // steps made again
}

TEST_CASE("ensemble: copies of a scene have the values that it has now") {
    HINDCAST_NEEDS_LLVM();
    const auto s = make(load("thrown_ball"), ir::Precision::f64, {.threads = 2});
    const std::vector<Point> points = points_around(s->parameters().values(), 4);
    Ensemble ensemble(*s, {.use = EnsembleUse::threads});
    std::vector<double> losses;
    for (const double down : {-9.81, -3.0}) {
        model::Quantity& gravity = *s->model().find_quantity("gravity");
        gravity.values.back() = down;
        gravity.upload();
        const std::vector<Outcome> expected = alone(*s, points);
        const auto results = ensemble.evaluate(points, true);
        for (std::size_t m = 0; m < points.size(); ++m) {
            CHECK(results[m].loss == expected[m].loss);
            CHECK(results[m].gradient == expected[m].gradient);
            losses.push_back(results[m].loss);
        }
    }
    CHECK(losses[0] != losses[4]);
    const auto single = make(load("thrown_ball"), ir::Precision::f64, {.threads = 1});
    Ensemble none(*single, {.use = EnsembleUse::threads});
    CHECK_THROWS_WITH_AS(none.evaluate(points, false), doctest::Contains("there is one thread"),
                         Error);
}

TEST_CASE("ensemble: runs that begin at a horizon are not spread") {
    HINDCAST_NEEDS_LLVM();
    Scene scene = load("spring_cage");
    const auto s = make(scene, ir::Precision::f64, {.threads = 2});
    s->rollout().set_horizon(10);
    std::vector<Point> points = points_around(s->parameters().values(), 3);
    s->run(true);
    s->rollout().start_at_horizon();
    const std::vector<Outcome> expected = alone(*s, points);
    CHECK(difference(*s, {}, points, expected, false) == "");
    for (const EnsembleUse use : {EnsembleUse::lanes, EnsembleUse::threads}) {
        Ensemble ensemble(*s, {.use = use});
        CHECK_THROWS_WITH_AS(ensemble.evaluate(points, false), doctest::Contains("at a horizon"),
                             Error);
    }
    s->rollout().set_horizon(10);  // from the first step on again, gradients over the last ones
    const std::vector<Outcome> whole = alone(*s, points);
    CHECK(difference(*s, {.use = EnsembleUse::threads}, points, whole, true) == "");
    CHECK(difference(*s, {.use = EnsembleUse::lanes}, points, whole, false) == "");
}

TEST_CASE("ensemble: more points than places, one after the other, and left to choose") {
    HINDCAST_NEEDS_LLVM();
    const auto s = make(load("spring_cage"), ir::Precision::f32, {.threads = 2});
    const std::vector<Point> points = points_around(s->parameters().values(), 70);
    const std::vector<Outcome> expected = alone(*s, points);
    CHECK(difference(*s, {.members = 16, .use = EnsembleUse::lanes}, points, expected, true) == "");
    CHECK(difference(*s, {.use = EnsembleUse::one_by_one}, points, expected, true) == "");
    CHECK(difference(*s, {.use = EnsembleUse::automatic}, points, expected, true) == "");
    // An ensemble that has run runs again, with more or fewer members.
    Ensemble ensemble(*s, {.members = 64, .use = EnsembleUse::lanes});
    CHECK(ensemble.report() == "");
    for (const std::size_t count : {3, 70, 1, 17}) {
        const auto results = ensemble.evaluate(std::span(points).subspan(0, count), true);
        REQUIRE(results.size() == count);
        for (std::size_t m = 0; m < count; ++m) {
            CHECK(results[m].loss == expected[m].loss);
            CHECK(results[m].gradient == expected[m].gradient);
        }
    }
    CHECK(ensemble.report().find("lanes") != std::string::npos);
}

TEST_CASE("ensemble: a member that diverges stops where it stops alone") {
    HINDCAST_NEEDS_LLVM();
    for (const ir::Precision precision : {ir::Precision::f32, ir::Precision::f64}) {
        const auto s = make(load("two_body_spring"), precision, {.threads = 2});
        std::vector<Point> points = points_around(s->parameters().values(), 40);
        for (double& x : points[5]) x = 1e300;
        const std::vector<Outcome> expected = alone(*s, points);
        REQUIRE(std::isnan(expected[5].loss));
        for (const EnsembleUse use : {EnsembleUse::lanes, EnsembleUse::threads})
            CHECK(difference(*s, {.use = use}, points, expected, true) == "");
    }
}

TEST_CASE("ensemble: ended early, the results up to there are returned") {
    HINDCAST_NEEDS_LLVM();
    const auto s = make(load("spring_cage"), ir::Precision::f32, {.threads = 2});
    const std::vector<Point> points = points_around(s->parameters().values(), 50);
    const std::vector<Outcome> expected = alone(*s, points);
    for (const EnsembleUse use :
         {EnsembleUse::one_by_one, EnsembleUse::lanes, EnsembleUse::threads}) {
        int left = 2;
        Ensemble ensemble(*s, {.members = 16, .use = use, .go_on = [&] { return left-- > 0; }});
        const auto results = ensemble.evaluate(points, true);
        CHECK(results.size() == (use == EnsembleUse::lanes ? 32 : 2));
        for (std::size_t m = 0; m < results.size(); ++m) CHECK(results[m].loss == expected[m].loss);
    }
}

TEST_CASE("ensemble: a gradient check has the same table whether its runs are in lanes or not") {
    HINDCAST_NEEDS_LLVM();
    const Scene scene = load("spring_cage");
    std::vector<std::string> tables;
    for (const WholeProgramUse use : {WholeProgramUse::never, WholeProgramUse::always}) {
        const auto s = make(scene, ir::Precision::f64, {.threads = 2, .whole_program = use});
        GradientCheckOptions wanted;
        wanted.hessian = true;
        wanted.directions = 3;
        std::int64_t asked = 0;
        wanted.go_on = [&](std::int64_t done, std::int64_t total) {
            CHECK(done == asked++);
            CHECK(done < total);
            return true;
        };
        const GradientReport report =
            check_gradients(scene, test::all_modules(), s->options(), wanted);
        CHECK(report.passed());
        CHECK(asked == 2 + 8 * 9 + 3 * (9 * 2 + 1) - 1);
        std::string numbers = to_text(report);
        for (const auto& entry : report.entries) numbers += number(entry.difference);
        for (const auto& u : report.directions) numbers += number(u.difference);
        for (const auto& h : report.hessian) numbers += number(h.error);
        tables.push_back(numbers);
    }
    CHECK(tables[0] == tables[1]);
}

TEST_CASE("ensemble: what cannot run in lanes says so, and runs one after the other") {
    HINDCAST_NEEDS_LLVM();
    const auto s = make(load("mpm_launch"), ir::Precision::f32, {.threads = 2}, 2);
    const std::vector<Point> points = points_around(s->parameters().values(), 2);
    Ensemble lanes(*s, {.use = EnsembleUse::lanes});
    CHECK_THROWS_WITH_AS(lanes.evaluate(points, false), doctest::Contains("cannot run in lanes"),
                         Error);
    Ensemble free(*s, {});
    const auto results = free.evaluate(points, false);
    s->parameters().set_values(points[1]);
    CHECK(results[1].loss == s->run(false));
    CHECK(free.report().find("one after the other: ") == 0);
    const std::vector<Point> wrong{{1, 2, 3, 4, 5, 6, 7}};
    CHECK_THROWS_WITH_AS(free.evaluate(wrong, false), doctest::Contains("7 values are given"),
                         Error);
}

}  // namespace hindcast
