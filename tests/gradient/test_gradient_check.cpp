// The gradient check itself: it passes what is right, and finds what is wrong. The wrong gradients
// are made on purpose, by an objective whose formula is right and whose derivative is not.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/ad/grad.hpp"
#include "engine/model/model.hpp"
#include "engine/sim/gradients/gradient_check.hpp"
#include "tests/support/devices.hpp"

using namespace hindcast;

namespace {

using namespace lang;

// value = sum over the body's x of x^3, with a derivative that is off by `factor`.
class Cubes final : public model::Instance {
public:
    Cubes(std::shared_ptr<model::Settings> settings) : settings_(std::move(settings)) {}

    void build(model::Model& model) override {
        const model::Range body = settings_->points(model, "of");
        model::Term term = settings_->term(model);
        const double factor = settings_->number("slope"), most = settings_->number("most");
        const KernelDef cubes =
            kernel("cubes", {"x", "value"}, [=](Int i, Read<Vec3> x, Reduce<Float> value) {
                raise_if(x[i].x() > most, "x is too large; make it less", i);
                const Float c = x[i].x() * x[i].x() * x[i].x();
                const Float wrong = ad::stop_gradient(c) + (c - ad::stop_gradient(c)) * factor;
                value += wrong;
            });
        Program program;
        program.add(model.launch(cubes, body.count,
                                 {{"x", model.array("position")}, {"value", term.value}}, "cubes"));
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
               "cubes",
               "Cubes",
               "sum of x^3",
               {model::body("of").doc("the body"), model::number("slope").doc("of the derivative"),
                model::number("most").fallback("1e9").doc("x beyond which it is refused")},
               [](std::shared_ptr<model::Settings> s) {
                   return std::make_unique<Cubes>(std::move(s));
               }});
        return r;
    }();
    return all;
}

Scene cubes(const std::string& slope, const std::string& parameters) {
    return Scene::parse(R"({"format": 1, "time": {"step": 0.1, "steps": 3}, "gravity": [0, 0, 0],
        "bodies": [{"type": "particles", "name": "b", "velocity": [[1, 0, 0], [0, 2, 0], [3, 0, 0]],
                    "positions": [[1, 0, 0], [2, 0, 0], [-0.5, 0, 0]]}],
        "objective": [{"type": "cubes", "of": "b", "slope": )" +
                        slope + R"(}], "parameters": [)" + parameters + "]}");
}

GradientReport check(const Scene& scene, GradientCheckOptions wanted = {},
                     ir::Precision precision = ir::Precision::f64) {
    SimulationOptions options;
    options.device = test::devices().back();
    options.precision = precision;
    return check_gradients(scene, registry(), options, wanted);
}

const char* positions = R"({"path": "b.positions"})";

}  // namespace

TEST_CASE("gradient check: a right gradient passes") {
    GradientCheckOptions wanted;
    wanted.hessian = true;
    const GradientReport report = check(cubes("1", positions), wanted, ir::Precision::f32);
    for (const std::string& failure : report.failures()) FAIL_CHECK(failure);
    CHECK(report.parameters == 9);
    CHECK(report.entries.size() == 9);
    CHECK(report.directions.size() == 8);
    CHECK(report.hessian.size() == 8);
    // x_n = x_0 + n h v_0, so that the derivative in x_0 is 3 x_n^2.
    CHECK(report.loss == doctest::Approx(1.3 * 1.3 * 1.3 + 8 + 0.4 * 0.4 * 0.4));
    CHECK(report.entries[0].adjoint == doctest::Approx(3 * 1.3 * 1.3));
    CHECK(report.entries[0].difference == doctest::Approx(3 * 1.3 * 1.3));
    CHECK(report.entries[6].adjoint == doctest::Approx(3 * 0.4 * 0.4));
    CHECK(report.entries[1].adjoint == 0);
    CHECK(report.entries[0].name == "b.positions[0].x");
    REQUIRE(report.f32);
    CHECK(report.f32->error < 1e-5);
    CHECK(report.f32->error > 0);
    for (const GradientReport::Entry& e : report.entries) {
        CHECK(e.step <= 1e-3);
        CHECK(e.step >= 1e-9);
    }
}

TEST_CASE("gradient check: a wrong gradient is found") {
    for (const char* slope : {"0", "-1", "2", "1.00001"}) {
        CAPTURE(slope);
        const GradientReport report = check(cubes(slope, positions));
        CHECK_FALSE(report.passed());
        CHECK_FALSE(report.entries[0].passed());
        CHECK(report.entries[1].passed());  // the loss does not depend on y
        for (const GradientReport::Direction& u : report.directions) {
            INFO(u.adjoint, " ", u.difference, " ", u.error, " ", u.terms);
            CHECK(u.verdict == SlopeVerdict::wrong);
            CHECK(u.forward_passed);  // both modes believe the same wrong rule
        }
        CHECK(report.failures()[0].find("b.positions[0].x: the adjoint is wrong") !=
              std::string::npos);
        CHECK(to_text(report).find("WRONG") != std::string::npos);
    }
    GradientCheckOptions lax;
    lax.tolerance = 1e-4;
    CHECK(check(cubes("1.00001", positions), lax).passed());
}

TEST_CASE("gradient check: at an optimum what cancels is the measure, not what is left of it") {
    // Both fall by 0.55 of gravity: x = 0.01 (1 + ... + 10). One is wanted one meter further than it
    // comes with a gravity of 1, the other one meter nearer: the loss is 2 there, its slope is 0.
    // A hair beside it the slope is 4 * 0.55^2 of a hair.
    for (const char* gravity : {"1", "1.00000001", "1.0000000000001"}) {
        CAPTURE(gravity);
        const Scene scene =
            Scene::parse(R"({"format": 1, "time": {"step": 0.1, "steps": 10}, "gravity": [)" +
                         std::string(gravity) + R"(, 0, 0],
        "bodies": [{"type": "particles", "name": "a", "positions": [[0, 0, 0]]},
                   {"type": "particles", "name": "b", "positions": [[0, 0, 0]]}],
        "objective": [{"type": "point_target", "of": "a", "target": [1.55, 0, 0]},
                      {"type": "point_target", "of": "b", "target": [-0.45, 0, 0]}],
        "parameters": [{"path": "gravity", "components": ["x"]}]})");
        GradientCheckOptions wanted;
        wanted.hessian = true;
        const GradientReport report = check(scene, wanted, ir::Precision::f32);
        CHECK(report.loss == doctest::Approx(2));
        CHECK(std::fabs(report.entries[0].adjoint) < 1e-7);
        for (const std::string& failure : report.failures()) FAIL_CHECK(failure);
        CHECK(report.worst() == SlopeVerdict::ok);
    }
}

TEST_CASE(
    "gradient check: a rope that starts taut is at a kink, and its derivative is one of two") {
    // It pulls where it is longer than its rest length, which it just is not at the start.
    const Scene scene = Scene::parse(R"({"format": 1, "time": {"step": 0.01, "steps": 20},
        "gravity": [0, 0, 0],
        "bodies": [{"type": "particles", "name": "a", "positions": [[0, 0, 0], [1, 0, 0]],
                    "fixed": [0]}],
        "forces": [{"type": "springs", "name": "rope", "connect": {"chain": "a"}, "stiffness": 20,
                    "rest_length": 1, "acts": "pull"}],
        "objective": [{"type": "point_target", "of": "a", "points": [1], "target": [0, 0, 0]}],
        "parameters": [{"path": "rope.rest_length"}]})");
    const GradientReport report = check(scene);
    CHECK(report.worst() == SlopeVerdict::kink);
    CHECK(report.passed());
    // A longer rope stays slack, a shorter one pulls.
    const GradientReport::Entry& e = report.entries.at(0);
    CHECK(std::fabs(e.right) < 1e-9);
    CHECK(e.left > 0.5);
    CHECK(report.notes().at(0).find("rope.rest_length: a kink: derivative") == 0);
}

TEST_CASE("gradient check: entries are spread evenly") {
    GradientCheckOptions wanted;
    wanted.entries = 3;
    wanted.directions = 0;
    const GradientReport report = check(cubes("1", positions), wanted);
    REQUIRE(report.entries.size() == 3);
    CHECK(report.entries[0].index == 0);
    CHECK(report.entries[1].index == 3);
    CHECK(report.entries[2].index == 6);
    CHECK(to_text(report).find("3 of 9 entries") != std::string::npos);
}

TEST_CASE("gradient check: parameters of different magnitudes and units") {
    const Scene scene = Scene::parse(R"({"format": 1, "time": {"step": 0.01, "steps": 20},
        "bodies": [{"type": "particles", "name": "b", "positions": [[0, 0, 0], [1, 0, 0]]}],
        "forces": [{"type": "springs", "name": "s", "connect": [["b", 0, "b", 1]],
                    "stiffness": 2e3, "damping": 1e-3, "rest_length": 0.8}],
        "objective": [{"type": "point_target", "of": "b", "target": [0, 1, 0]}],
        "parameters": [{"path": "s.stiffness"}, {"path": "s.damping"}, {"path": "s.rest_length"},
                       {"path": "gravity"}]})");
    GradientCheckOptions wanted;
    wanted.hessian = true;
    const GradientReport report = check(scene, wanted);
    for (const std::string& failure : report.failures()) FAIL_CHECK(failure);
}

TEST_CASE("gradient check: at other values than the scene's") {
    GradientCheckOptions wanted;
    wanted.at = {2, 0, 0, 0, 0, 0, 0, 0, 0};
    wanted.directions = 1;
    const GradientReport report = check(cubes("1", positions), wanted);
    CHECK(report.passed());
    CHECK(report.entries[0].adjoint == doctest::Approx(3 * 2.3 * 2.3));
}

TEST_CASE("gradient check: a module that refuses values nearby is no loss there") {
    // x is 2 at one of the points: of the steps those below 2.5e-4 stay in what is accepted.
    const GradientReport report = check(cubes(R"(1, "most": 2.0005)", positions));
    for (const std::string& failure : report.failures()) FAIL_CHECK(failure);
    CHECK(report.entries[3].difference == doctest::Approx(12));
    CHECK(report.entries[3].step < 2.5e-4);
}

TEST_CASE("gradient check: it can be stopped") {
    GradientCheckOptions wanted;
    int asked = 0;
    wanted.go_on = [&asked](std::int64_t done, std::int64_t total) {
        CHECK(done == asked);
        CHECK(total > done);
        return ++asked < 30;
    };
    const GradientReport report = check(cubes("1", positions), wanted);
    CHECK(report.stopped);
    CHECK(asked == 30);
    CHECK(report.entries.size() == 3);
}

TEST_CASE("gradient check: nothing to check") {
    CHECK_THROWS_WITH_AS(check(cubes("1", "")), doctest::Contains("no parameters"), Error);
}

// The secant of x^3 from x - w to x + w is 3 x^2 + w^2: within 5 % of the derivative up to
// w = sqrt(0.15) x. Here x ends at x_0 + 0.3; y is in the same list and does nothing.
TEST_CASE(
    "gradient check: steps are of the largest entry's size, or of an entry's own if that is far "
    "less") {
    struct Case {
        double x, y, scale;
    };
    for (const Case& c : {Case{20, 1e4, 1e4}, Case{9, 1e4, 9}, Case{1, 1e4, 1}, Case{-2, 1e-1, 2},
                          Case{0, 1e2, 1e2}, Case{1e-4, 1e4, 1e-2}}) {
        CAPTURE(c.x);
        const Scene scene = Scene::parse(
            R"({"format": 1, "time": {"step": 0.1, "steps": 3}, "gravity": [0, 0, 0],
            "bodies": [{"type": "particles", "name": "b", "velocity": [1, 0, 0], "positions": [[)" +
            std::to_string(c.x) + ", " + std::to_string(c.y) +
            R"(, 0]]}], "objective": [{"type": "cubes", "of": "b", "slope": 1}],
            "parameters": [{"path": "b.positions"}]})");
        const GradientReport report = check(scene);
        double widest = 0.1;
        while (widest * c.scale > std::sqrt(0.15) * std::fabs(c.x + 0.3)) widest /= 2;
        CHECK(report.entries[0].adjoint == doctest::Approx(3 * (c.x + 0.3) * (c.x + 0.3)));
        CHECK(report.entries[0].usable == doctest::Approx(widest));
    }
}
