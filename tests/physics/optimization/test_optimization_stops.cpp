// How an optimization ends: stopping rules, requests, and values that are not finite, with the
// place where they arose. Also: scales, bounds and groups of the scene reach the update.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "engine/document/document.hpp"
#include "engine/sim/optimization/optimization.hpp"

using namespace hindcast;

namespace {

// |x|^(1/2) of the first point's x: finite at 0, but its derivative is not.
class Root final : public model::Instance {
public:
    explicit Root(std::shared_ptr<model::Settings> settings) : settings_(std::move(settings)) {}
    void build(model::Model& model) override {
        using namespace lang;
        model::Term term = settings_->term(model);
        Program program;
        program.add(model.launch(
            kernel("root", {"x", "value"},
                   [](Int i, Read<Vec3> x, Reduce<Float> value) { value += sqrt(x[i].x()); }),
            1, {{"x", model.array("position")}, {"value", term.value}}, "root of x"));
        model.add_term(std::move(term), program);
    }

private:
    std::shared_ptr<model::Settings> settings_;
};

const Registry& registry() {
    static const Registry all = [] {
        Registry r;
        register_all_modules(r);
        r.add({model::Section::objective,
               "root",
               "Root",
               "the root of x",
               {},
               [](std::shared_ptr<model::Settings> s) {
                   return std::make_unique<Root>(std::move(s));
               }});
        return r;
    }();
    return all;
}

std::unique_ptr<Simulation> simulate(const std::string& text) {
    SimulationOptions options;
    options.device = std::make_shared<Device>(DeviceOptions{DeviceKind::interpreter});
    options.precision = ir::Precision::f64;
    return std::make_unique<Simulation>(Scene::parse(text), registry(), options);
}

// A point in free flight, one step of 1 s: x = v. Loss |v - (1, 2, 3)|^2.
std::string flight(const std::string& optimizer, const std::string& parameter = "",
                   const std::string& velocity = "[4, 4, 4]") {
    return R"({"format": 1, "time": {"step": 1, "steps": 1}, "gravity": [0, 0, 0],
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0]],
                    "velocity": )" +
           velocity + R"(}],
        "objective": [{"type": "point_target", "of": "ball", "target": [1, 2, 3]}],
        "parameters": [)" +
           (parameter.empty() ? R"({"path": "ball.velocity"})" : parameter) +
           R"(], "optimizer": )" + optimizer + "}";
}

Optimization::Outcome outcome_of(const std::string& scene) {
    const auto simulation = simulate(scene);
    return Optimization(*simulation).run();
}

void check_contains(const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("stopping rules end a run with a reason") {
    // Rate 1/4 halves the distance: loss (9 + 4 + 1) 4^-k, gradient norm 2 sqrt(14) 2^-k.
    const std::string head = R"({"type": "gradient_descent", "rate": 0.25, "iterations": 50)";
    SUBCASE("all iterations") {
        const auto outcome = outcome_of(flight(R"({"type": "gradient_descent", "rate": 0.25,
                                                   "iterations": 3})"));
        CHECK(outcome.stop == Optimization::Stop::iterations);
        CHECK(outcome.reason == "limit: all 3 iterations are done");
        CHECK(outcome.last.iteration == 3);
        CHECK(outcome.last.loss == 14.0 / 64);
    }
    SUBCASE("loss") {
        const auto outcome = outcome_of(flight(head + R"(, "stop": {"loss_below": 0.01}})"));
        CHECK(outcome.stop == Optimization::Stop::converged);
        CHECK(outcome.last.iteration == 6);  // 14 / 4096
        CHECK(outcome.reason == "converged: the loss is below 0.01");
    }
    SUBCASE("gradient") {
        const auto outcome = outcome_of(flight(head + R"(, "stop": {"gradient_below": 0.25}})"));
        CHECK(outcome.last.iteration == 5);  // 7.48 / 32
        check_contains(outcome.reason, "converged: the norm of the gradient is below 0.25");
    }
    SUBCASE("no progress") {
        // Rate 1 jumps from one side to the other: the loss stays as it is.
        const auto outcome = outcome_of(
            flight(R"({"type": "gradient_descent", "rate": 1, "stop": {"patience": 7}})"));
        CHECK(outcome.last.iteration == 7);
        CHECK(outcome.best.iteration == 0);
        CHECK(outcome.reason == "converged: no progress in 7 iterations");
    }
    SUBCASE("too little progress") {
        // 0.9^2 of the loss remains in each iteration: less than 30 % progress in one, but not in
        // two.
        const std::string slow = R"({"type": "gradient_descent", "rate": 0.05, "iterations": 40,
                                     "stop": {"relative_change": 0.3, "patience": )";
        CHECK(outcome_of(flight(slow + "1}}")).last.iteration == 1);
        CHECK(outcome_of(flight(slow + "2}}")).last.iteration == 40);
    }
    SUBCASE("the watch and the interrupt") {
        const auto simulation = simulate(flight(head + "}"));
        Optimization optimization(*simulation);
        int asked = 0;
        optimization.set_interrupt([&] { return ++asked > 3; });
        const auto outcome = optimization.run();
        CHECK(outcome.stop == Optimization::Stop::stopped);
        CHECK(outcome.last.iteration == 2);
        optimization.set_interrupt({});
        const auto next = optimization.run([](const auto& row) { return row.iteration < 5; });
        CHECK(next.stop == Optimization::Stop::stopped);
        CHECK(next.last.iteration == 5);
        CHECK(next.last.loss == 14.0 / 1024);
    }
}

TEST_CASE("best-so-far is kept when the loss grows") {
    const auto outcome =
        outcome_of(flight(R"({"type": "gradient_descent", "rate": 1.5, "iterations": 4})"));
    CHECK(outcome.best.iteration == 0);
    CHECK(outcome.best.parameters == std::vector<double>{4, 4, 4});
    CHECK(outcome.last.loss == 14.0 * 256);
}

TEST_CASE("scale, bounds, group and rate of the scene's parameters reach the update") {
    // Gradient (6, 4, 2).
    const auto step = [](const std::string& parameters, const std::string& rest) {
        return outcome_of(flight(R"({"type": "gradient_descent", "rate": 0.125, "iterations": 1)" +
                                     rest + "}",
                                 parameters))
            .last.parameters;
    };
    CHECK(step(R"({"path": "ball.velocity", "rate": 2})", "") == std::vector<double>{2.5, 3, 3.5});
    CHECK(step(R"({"path": "ball.velocity", "bounds": [3.5, 5]})", "") ==
          std::vector<double>{3.5, 3.5, 3.75});
    CHECK(step(R"({"path": "ball.velocity", "group": "launch"})",
               R"(, "groups": {"launch": {"rate": 0.5}})") ==
          std::vector<double>{3.625, 3.75, 3.875});
    const auto logarithmic = step(R"({"path": "ball.velocity", "scale": "log"})", "");
    CHECK(logarithmic[0] == doctest::Approx(4 * std::exp(-0.125 * 4 * 6)).epsilon(1e-14));
    CHECK(logarithmic[2] == doctest::Approx(4 * std::exp(-0.125 * 4 * 2)).epsilon(1e-14));
}

TEST_CASE("a loss that is not finite stops the run and names step, launch, element and operation") {
    const std::string scene = R"({"format": 1, "time": {"step": 1, "steps": 5},
        "gravity": [0, 0, 0],
        "bodies": [{"type": "particles", "name": "ball", "positions": [[0, 0, 0], [9, 0, 0], [10, 0, 0]]},
                   {"type": "particles", "name": "wall", "positions": [[1, 0, 0]], "fixed": true}],
        "forces": [{"type": "springs", "name": "net", "rest_length": 0.6, "stiffness": [1, STIFF],
                    "connect": [["ball", 0, "wall", 0], ["ball", 1, "ball", 2]]}],
        "objective": [{"type": "point_target", "of": "ball", "target": [0, 0, 0]}],
        "parameters": [{"path": "net.stiffness"}],
        "optimizer": {"type": "gradient_descent", "rate": 1, "iterations": 3}})";
    const auto with = [&](const std::string& stiffness) {
        std::string text = scene;
        return text.replace(text.find("STIFF"), 5, stiffness);
    };
    SUBCASE("in a later step") {
        const auto simulation = simulate(with("1e160"));
        Optimization optimization(*simulation);
        int rows = 0;
        const auto outcome = optimization.run([&](const auto&) { return ++rows > 0; });
        CHECK(rows == 0);
        CHECK(outcome.stop == Optimization::Stop::not_finite);
        // x grows by 1e160 in the first step, the force by 1e320 in the second.
        check_contains(outcome.reason, "at iteration 0 the loss is ");
        check_contains(outcome.reason, "in step 2 of 5, launch 'net: ");
        check_contains(outcome.reason, " into 'force', element 1.x; in item 1 ");
        check_contains(outcome.reason, "springs.cpp");
    }
    SUBCASE("by an update") {
        auto text = with("1");
        text.replace(text.find("\"rate\": 1"), 9, "\"rate\": 1e300");
        const auto simulation = simulate(text);
        Optimization optimization(*simulation);
        const auto outcome = optimization.run();
        CHECK(outcome.stop == Optimization::Stop::not_finite);
        CHECK(outcome.last.iteration == 0);
        CHECK(outcome.best.iteration == 0);
        CHECK(std::isfinite(outcome.last.loss));
        check_contains(outcome.reason, "at iteration 1 the loss is ");
        check_contains(outcome.reason, "launch 'net: ");
        // The state is that of the next row, which was not reported; it stops there again.
        const document::Node state = optimization.state();
        CHECK(state.find("iteration")->integer() == 1);
        const auto second = simulate(text);
        Optimization continued(*second);
        continued.restore(state);
        CHECK(continued.run().reason == outcome.reason);
    }
}

TEST_CASE("a gradient that is not finite is traced to the parameter and the operation") {
    std::string text = flight(R"({"type": "gradient_descent", "rate": 1})", "", "[0, 0, 1]");
    const std::string target = R"({"type": "point_target", "of": "ball", "target": [1, 2, 3]})";
    text.replace(text.find(target), target.size(), R"({"type": "root", "name": "root"})");
    const auto outcome = outcome_of(text);
    CHECK(outcome.stop == Optimization::Stop::not_finite);
    check_contains(outcome.reason, "for ball.velocity.x");
    check_contains(outcome.reason, "the loss is finite (0.0)");
    check_contains(outcome.reason, "in step 1 of 1, launch 'root of x' stores inf");
}

TEST_CASE("scenes and states that do not fit are refused") {
    const std::string descent = R"({"type": "gradient_descent", "rate": 1})";
    std::string bare = flight(descent);
    bare.replace(bare.find(R"({"path": "ball.velocity"})"), 25, "");
    const auto no_parameters = simulate(bare);
    CHECK_THROWS_WITH_AS(Optimization{*no_parameters}, doctest::Contains("no parameters"), Error);
    std::string aimless = flight(descent);
    const std::size_t begin = aimless.find(R"({"type": "point_target")");
    aimless.erase(begin, aimless.find(']', aimless.find("3]}")) - begin);
    const auto no_objective = simulate(flight(descent));
    const auto a = simulate(flight(descent));
    const auto b = simulate(flight(R"({"type": "adam"})"));
    const auto c = simulate(flight(descent, R"({"path": "ball.velocity", "components": ["x"]})"));
    const document::Node state = Optimization(*a).state();
    Optimization adam(*b), other(*c), same(*no_objective);
    CHECK_THROWS_WITH_AS(adam.restore(state), doctest::Contains("gradient_descent"), Error);
    CHECK_THROWS_WITH_AS(other.restore(state), doctest::Contains("other parameters"), Error);
    document::Node broken = state;
    broken.erase("rule");
    CHECK_THROWS_WITH_AS(same.restore(broken), doctest::Contains("rule"), Error);
    same.restore(state);
    CHECK(same.run().last.iteration == 100);
}
