// Optimization from many starts: every one comes to what it comes to alone, whatever the update
// rule and however the roll-outs run.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "engine/backend/jit/llvm.hpp"
#include "engine/sim/optimization/multi_start.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/kernels/kernel_harness.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/skip.hpp"

namespace hindcast {

namespace {

using Point = MultiStart::Point;

std::unique_ptr<Simulation> make(const std::string& optimizer, WholeProgramUse use) {
    Scene scene = Scene::load(std::filesystem::path(hindcast::test::source_dir) / "scenes" /
                              "spring_cage.json");
    scene.document().set("/optimizer", document::Document::parse(optimizer).root());
    scene.document().set("/parameters", document::Document::parse(R"([
        {"path": "cage.rest_length", "bounds": [0.5, 1.5]},
        {"path": "cage.stiffness", "bounds": [10, 1000], "scale": "log"}])")
                                            .root());
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{.threads = 2, .whole_program = use});
    return std::make_unique<Simulation>(scene, test::all_modules(), options);
}

void same(const Optimization::Row& a, const Optimization::Row& b) {
    CHECK(a.iteration == b.iteration);
    CHECK(test::same_bits(a.loss, b.loss));
    CHECK(a.parameters == b.parameters);
    CHECK(a.gradient == b.gradient);
    CHECK(a.evaluations == b.evaluations);
    REQUIRE(a.terms.size() == b.terms.size());
    for (std::size_t k = 0; k < a.terms.size(); ++k)
        CHECK(test::same_bits(a.terms[k].value, b.terms[k].value));
}

}  // namespace

TEST_CASE("multi-start: every start comes to what it comes to alone") {
    if (!backend::llvm_info().available) HINDCAST_SKIP(backend::llvm_info().problem);
    for (const char* optimizer :
         {R"({"type": "adam", "rate": 0.02, "iterations": 6})",
          R"({"type": "lbfgs", "iterations": 4})",
          R"({"type": "gradient_descent", "rate": 0.1, "iterations": 5, "stop": {"patience": 2}})",
          R"({"type": "newton_cg", "iterations": 2})"}) {
        CAPTURE(std::string(optimizer));
        // `always`: members in lanes from the first evaluation on.
        for (const WholeProgramUse use : {WholeProgramUse::always, WholeProgramUse::never}) {
            const auto together = make(optimizer, use);
            const std::vector<Point> starts = MultiStart::starts(*together, 5, 7);
            MultiStart search(*together, starts);
            const Point before = together->parameters().values();
            std::int64_t rows = 0;
            const auto found = search.run([&](std::int64_t n) {
                CHECK(n == ++rows);
                return true;
            });
            CHECK(together->parameters().values() == before);
            REQUIRE(found.size() == starts.size());
            const auto alone = make(optimizer, WholeProgramUse::automatic);
            for (std::size_t k = 0; k < starts.size(); ++k) {
                CAPTURE(k);
                alone->parameters().set_values(starts[k]);
                Optimization one(*alone);
                const Optimization::Outcome expected = one.run();
                CHECK(found[k].failure == "");
                CHECK(found[k].start == starts[k]);
                CHECK(found[k].outcome.stop == expected.stop);
                if (expected.stop == Optimization::Stop::not_finite)  // which is explained alone
                    CHECK(found[k].outcome.reason.find("not finite") != std::string::npos);
                else
                    CHECK(found[k].outcome.reason == expected.reason);
                same(found[k].outcome.best, expected.best);
                same(found[k].outcome.last, expected.last);
                CHECK_FALSE(found[k].outcome.best.loss <
                            found[MultiStart::best(found)].outcome.best.loss);
            }
            if (use == WholeProgramUse::always)
                CHECK(search.report().find("lanes") != std::string::npos);
        }
    }
}

TEST_CASE("multi-start: starts lie within the bounds and depend on the seed alone") {
    const auto s = make(R"({"type": "adam", "iterations": 1})", WholeProgramUse::automatic);
    const std::vector<Point> starts = MultiStart::starts(*s, 200, 1);
    CHECK(starts[0] == s->parameters().values());
    CHECK(MultiStart::starts(*s, 200, 1) == starts);
    CHECK(MultiStart::starts(*s, 3, 2)[1] != starts[1]);
    double sum = 0, logarithms = 0;
    for (std::size_t k = 1; k < starts.size(); ++k) {
        for (std::size_t e = 0; e < 8; ++e) CHECK((starts[k][e] >= 0.5 && starts[k][e] <= 1.5));
        CHECK((starts[k][8] >= 10 && starts[k][8] <= 1000));
        sum += starts[k][0];
        logarithms += std::log10(starts[k][8]);
    }
    CHECK(sum / 199 == doctest::Approx(1).epsilon(0.1));
    CHECK(logarithms / 199 == doctest::Approx(2).epsilon(0.1));
}

TEST_CASE("multi-start: stopped on request, and what is wrong is said") {
    if (!backend::llvm_info().available) HINDCAST_SKIP(backend::llvm_info().problem);
    const auto s = make(R"({"type": "adam", "iterations": 1000})", WholeProgramUse::automatic);
    {
        MultiStart search(*s, MultiStart::starts(*s, 4, 1));
        const auto found = search.run([](std::int64_t rows) { return rows < 6; });
        for (const auto& result : found) {
            CHECK(result.failure == "");
            CHECK((result.outcome.stop == Optimization::Stop::stopped ||
                   result.outcome.stop == Optimization::Stop::not_finite));
            CHECK(result.outcome.last.iteration <= 2);
        }
    }
    {
        int left = 7;
        MultiStart search(*s, std::vector<Point>(4, s->parameters().values()), -1,
                          [&] { return left-- <= 0; });
        const auto found = search.run();
        std::int64_t evaluations = 0;
        for (const auto& result : found) {
            CHECK(result.outcome.stop == Optimization::Stop::stopped);
            evaluations += result.outcome.last.evaluations;
        }
        CHECK(evaluations == 7);
    }
    { const MultiStart never_run(*s, MultiStart::starts(*s, 4, 1)); }
    CHECK_THROWS_WITH_AS(MultiStart(*s, {}), doctest::Contains("0 starts"), Error);
    CHECK_THROWS_WITH_AS(MultiStart::best({}), doctest::Contains("no start"), Error);
    Scene scene = Scene::load(std::filesystem::path(hindcast::test::source_dir) / "scenes" /
                              "free_flight.json");
    Simulation free(scene, test::all_modules(), s->options());
    CHECK_THROWS_WITH_AS(MultiStart::starts(free, 2, 1),
                         doctest::Contains("'ball.velocity' has no bounds"), Error);
    CHECK(MultiStart::starts(free, 1, 1).size() == 1);
}

}  // namespace hindcast
