// Acceptance of the optimization loop on the spring cage: the loss curve of an independent
// implementation, in f64 and f32, and runs that are cut and continued.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "engine/base/log.hpp"
#include "engine/document/document.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "tests/support/all_modules.hpp"
#include "tests/support/paths.hpp"

using namespace hindcast;

namespace {

std::unique_ptr<Simulation> cage(ir::Precision precision, const std::string& optimizer = "",
                                 const std::string& steps = "") {
    Scene scene = Scene::load(std::string(hindcast::test::source_dir) + "/scenes/spring_cage.json");
    if (!optimizer.empty())
        scene.document().set("/optimizer", document::Document::parse(optimizer).root());
    if (!steps.empty()) scene.set("time.steps", steps);
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = precision;
    return std::make_unique<Simulation>(scene, test::all_modules(), options);
}

using Rows = std::vector<Optimization::Row>;

Rows rows_of(Optimization& optimization, std::int64_t last = 1'000'000) {
    Rows rows;
    optimization.run([&](const Optimization::Row& row) {
        rows.push_back(row);
        return row.iteration < last;
    });
    return rows;
}

bool same_bits(const Optimization::Row& a, const Optimization::Row& b) {
    const auto bits = [](const std::vector<double>& values) {
        std::vector<std::uint64_t> list;
        for (const double x : values) list.push_back(std::bit_cast<std::uint64_t>(x));
        return list;
    };
    return a.iteration == b.iteration && a.loss == b.loss && a.gradient_norm == b.gradient_norm &&
           bits(a.parameters) == bits(b.parameters) && bits(a.gradient) == bits(b.gradient) &&
           a.evaluations == b.evaluations;
}

}  // namespace

TEST_CASE("spring cage by gradient descent: the reference loss curve") {
    const double reference[] = {.239205878825, .10851029489, .0517399717941, .0253519201081,
                                .0126435085176};
    const double gradient[] = {.186417187,  .282563454,  -.205838504, .259649725,
                               -.189670722, -.163316279, -.140992566, .105748975};
    for (const ir::Precision precision : {ir::Precision::f64, ir::Precision::f32}) {
        const double tolerance = precision == ir::Precision::f64 ? 1e-6 : 1e-3;
        const auto simulation = cage(precision);
        Optimization optimization(*simulation, 4);
        CHECK(optimization.describe() == "gradient_descent, rate 0.5");
        CHECK(optimization.iterations() == 4);
        Rows rows;
        const auto outcome = optimization.run([&](const Optimization::Row& row) {
            rows.push_back(row);
            return true;
        });
        REQUIRE(rows.size() == 5);
        double norm2 = 0;
        for (std::size_t k = 0; k < 5; ++k) {
            CHECK(rows[k].iteration == static_cast<std::int64_t>(k));
            CHECK(rows[k].evaluations == static_cast<std::int64_t>(k) + 1);
            CHECK(std::fabs(rows[k].loss / reference[k] - 1) < tolerance);
        }
        for (std::size_t k = 0; k < 8; ++k) {
            CHECK(std::fabs(rows[0].gradient[k] / gradient[k] - 1) < tolerance);
            norm2 += gradient[k] * gradient[k];
        }
        CHECK(std::fabs(rows[0].gradient_norm / std::sqrt(norm2) - 1) < tolerance);
        REQUIRE(rows[0].terms.size() == 1);
        CHECK(rows[0].terms[0].name == "target");
        CHECK(rows[0].terms[0].value == rows[0].loss);
        CHECK(outcome.stop == Optimization::Stop::iterations);
        CHECK(same_bits(outcome.last, rows[4]));
        CHECK(same_bits(outcome.best, rows[4]));
        CHECK(simulation->parameters().values() == rows[4].parameters);
    }
}

TEST_CASE("a run that is cut and continued from its saved state has the same bits") {
    for (const std::string optimizer :
         {R"({"type": "gradient_descent", "rate": 0.5, "iterations": 6})",
          R"({"type": "normalized_gradient_descent", "rate": 0.05, "iterations": 6})",
          R"({"type": "momentum", "rate": 0.3, "nesterov": true, "iterations": 6})",
          R"({"type": "adam", "rate": 0.05, "clip": {"norm": 0.3}, "iterations": 6,
              "stop": {"relative_change": 0.001, "patience": 4}})"}) {
        CAPTURE(optimizer);
        const auto first = cage(ir::Precision::f32, optimizer, "10");
        Optimization whole(*first);
        std::string saved;  // as a run that is killed leaves it: written by the watch
        Rows rows;
        const auto outcome = whole.run([&](const Optimization::Row& row) {
            if (row.iteration == 2) saved = document::to_text(whole.state());
            rows.push_back(row);
            return true;
        });
        REQUIRE(rows.size() == 7);

        const auto second = cage(ir::Precision::f32, optimizer, "10");
        Optimization continued(*second);
        continued.restore(document::Document::parse(saved).root());
        Rows rest;
        const auto end = continued.run([&](const Optimization::Row& row) {
            rest.push_back(row);
            return true;
        });
        REQUIRE(rest.size() == 4);  // rows 3 .. 6
        // The row where it was cut is computed once more, but does not count again.
        for (std::size_t k = 0; k < 4; ++k) CHECK(same_bits(rest[k], rows[k + 3]));
        CHECK(end.best.iteration == outcome.best.iteration);
        CHECK(end.best.loss == outcome.best.loss);
        CHECK(end.best.parameters == outcome.best.parameters);
        CHECK(end.stop == outcome.stop);
    }
}

TEST_CASE("run() can be called again and goes on with the next row") {
    const auto a = cage(ir::Precision::f64, "", "10"), b = cage(ir::Precision::f64, "", "10");
    Optimization once(*a, 5), twice(*b, 5);
    const Rows all = rows_of(once);
    Rows parts = rows_of(twice, 2);
    CHECK(parts.size() == 3);
    const Rows rest = rows_of(twice);
    parts.insert(parts.end(), rest.begin(), rest.end());
    REQUIRE(parts.size() == all.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
        CHECK(parts[k].iteration == all[k].iteration);
        CHECK(parts[k].loss == all[k].loss);
        CHECK(parts[k].parameters == all[k].parameters);
    }
    CHECK(rows_of(twice).empty());  // all is done
    const auto done = twice.run();
    CHECK(done.stop == Optimization::Stop::iterations);
    CHECK(done.last.loss == all.back().loss);
}

TEST_CASE("L-BFGS on the cage: far fewer iterations; a restored run continues bit for bit") {
    const std::string optimizer = R"({"type": "lbfgs", "iterations": 30})";
    const auto simulation = cage(ir::Precision::f64, optimizer);
    Optimization optimization(*simulation);
    std::vector<document::Node> saved;
    Rows rows;
    const auto outcome = optimization.run([&](const Optimization::Row& row) {
        saved.push_back(optimization.state());
        rows.push_back(row);
        return true;
    });
    CHECK(outcome.best.loss < 1e-20);
    CHECK(outcome.last.iteration < 20);
    CHECK(outcome.stop == Optimization::Stop::converged);
    CHECK(outcome.reason.starts_with("converged: "));
    CHECK(simulation->parameters().values() == outcome.last.parameters);

    for (const std::size_t cut :
         {std::size_t{0}, std::size_t{1}, std::size_t{4}, rows.size() - 1}) {
        CAPTURE(cut);
        const auto second = cage(ir::Precision::f64, optimizer);
        Optimization continued(*second);
        continued.restore(saved[cut]);
        CHECK(second->parameters().values() == rows[cut].parameters);
        const Rows rest = rows_of(continued);
        REQUIRE(rest.size() == rows.size() - cut - 1);
        for (std::size_t k = 0; k < rest.size(); ++k) {
            CHECK(rest[k].loss == rows[cut + 1 + k].loss);
            CHECK(rest[k].parameters == rows[cut + 1 + k].parameters);
            CHECK(rest[k].evaluations == rows[cut + 1 + k].evaluations);
        }
        CHECK(continued.state() == optimization.state());
    }
}
