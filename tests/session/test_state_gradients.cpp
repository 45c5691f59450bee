// What is shown of derivatives by the state against differences: arrows of dLoss/dforce, of runs in
// which a force acts during one step; colors of dLoss/ddeformation, of runs from a changed state.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/session/support.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;
using document::Document;
using document::Node;

namespace {

// Three points of different mass on springs with damping and drag, and a fixed one; the loss looks
// at two moments.
Document scene_text() {
    return Document::parse(R"({
        "format": 1, "name": "chain", "time": {"step": "1/20", "substeps": 3, "steps": 8},
        "gravity": [0.1, 0, -2],
        "bodies": [
            {"type": "particles", "name": "chain", "positions": [[0, 0, 0], [1, 0, 0.1], [2, 0.2, 0]],
             "mass": [0.4, 1, 2.5], "velocity": [[0, 1, 0], [0, 0, 1], [0.5, 0, 0]]},
            {"type": "particles", "name": "hook", "positions": [[-1, 0, 0]], "fixed": true}
        ],
        "forces": [
            {"type": "springs", "name": "links", "connect": [["hook", 0, "chain", 0],
                ["chain", 0, "chain", 1], ["chain", 1, "chain", 2]], "stiffness": 30, "damping": 0.7,
             "rest_length": 0.9},
            {"type": "drag", "name": "air", "linear": 0.3, "quadratic": 0.2}
        ],
        "objective": [
            {"type": "point_target", "name": "end", "of": "chain", "target": [1, 1, 1]},
            {"type": "point_target", "name": "middle", "of": "chain", "points": [1], "at": "1/5",
             "target": [1, 0, 1], "weight": 3}
        ],
        "parameters": [{"path": "links.stiffness"}],
        "optimizer": {"type": "gradient_descent", "rate": 0.01, "iterations": 1}
    })");
}

SessionOptions in_f64() {
    SessionOptions o = OpenScene::options(std::int64_t{64} << 20);
    o.simulation.precision = ir::Precision::f64;
    return o;
}

// The loss when a force acts on a point of the chain along an axis during one whole step. It is
// that of a spring of next to no stiffness to a place that is very far.
double loss_with(std::int64_t step, std::int64_t point, int axis, double newtons) {
    constexpr double stiffness = 1e-7;
    Document document = scene_text();
    Node place = Node::array();
    for (int c = 0; c < 3; ++c) place.push_back(Node(c == axis ? newtons / stiffness : 0.0));
    document.set("/forces/-", Node::object({{"type", "pull"},
                                            {"name", "probe"},
                                            {"of", "chain"},
                                            {"point", point},
                                            {"start_step", step},
                                            {"stiffness", stiffness},
                                            {"places", Node::array({place})}}));
    Simulation simulation(Scene::of(document, {}), test::all_modules(), in_f64().simulation);
    return simulation.run();
}

}  // namespace

TEST_CASE("session: arrows of the loss by forces agree with differences") {
    test::TemporaryFolder folder;
    const auto file = folder.path() / "chain.json";
    scene_text().save(file);
    OpenScene scene(file, in_f64());
    scene.wait_complete();
    const auto shown = scene.session.snapshot();
    const auto found =
        std::ranges::find(shown->view.arrows, std::string("force gradient"), &ShownField::name);
    REQUIRE(found != shown->view.arrows.end());
    CHECK(found->unit == "1/N");
    CHECK(found->gradient);
    // Others first: adjoints are there then, but not these.
    scene.session.send(FrameContents{"", "velocity gradient"});
    const auto arrows_at = [&](std::int64_t step) {
        scene.session.send(Seek{step});
        std::vector<double> arrows;
        scene.wait([&](const Snapshot& s) {
            const auto frame = scene.exchange->acquire();
            if (!frame || frame->step != step || s.run.step != step ||
                s.reports.activity != Activity::idle)
                return false;
            arrows = scene.exchange->read(*frame, "arrows");
            return true;
        });
        return arrows;
    };
    const auto any = [](const std::vector<double>& v) {
        return std::ranges::any_of(v, [](double x) { return x != 0; });
    };
    scene.wait([&](const Snapshot&) { return any(arrows_at(3)); });
    const std::vector<double> by_velocity = arrows_at(3);
    scene.session.send(FrameContents{"", "force gradient"});
    scene.wait([&](const Snapshot&) {
        const std::vector<double> arrows = arrows_at(3);
        return any(arrows) && arrows != by_velocity;
    });
    for (const std::int64_t step : {0, 3, 5, 7}) {
        const std::vector<double> arrows = arrows_at(step);
        REQUIRE(arrows.size() == 12);
        for (std::int64_t point = 0; point < 3; ++point)
            for (int axis = 0; axis < 3; ++axis) {
                constexpr double newtons = 1e-4;
                const double difference = (loss_with(step, point, axis, newtons) -
                                           loss_with(step, point, axis, -newtons)) /
                                          (2 * newtons);
                CAPTURE(step);
                CAPTURE(point);
                CAPTURE(axis);
                CHECK(arrows[static_cast<std::size_t>(3 * point + axis)] ==
                      doctest::Approx(difference).epsilon(1e-5));
            }
        for (std::size_t k = 9; k < 12; ++k) CHECK(arrows[k] == 0);  // nothing moves the hook
    }
    CHECK_FALSE(any(arrows_at(8)));  // no step follows
}

TEST_CASE("session: where a collider changes velocities there are no arrows by forces") {
    test::TemporaryFolder folder;
    const auto file = folder.path() / "floor.json";
    Document document = scene_text();
    document.set("/colliders",
                 Node::array({Node::object({{"type", "plane"},
                                            {"name", "floor"},
                                            {"normal", Node::array({Node(0), Node(0), Node(1)})},
                                            {"offset", -1.0}})}));
    document.save(file);
    OpenScene scene(file);
    const auto shown = scene.wait_complete();
    for (const ShownField& field : shown->view.arrows) CHECK(field.name != "force gradient");
}

TEST_CASE("session: colors of the loss by the deformation agree with differences") {
    const Document document = Document::parse(R"({
        "format": 1, "name": "block", "dimension": 2, "time": {"step": "1/200", "steps": 6},
        "gravity": [0, -1],
        "bodies": [{"type": "material_points", "name": "block", "mass": 0.5, "volume": 0.01,
            "mu": 300, "lambda": 200, "positions": [[0.4, 0.4], [0.47, 0.42], [0.43, 0.5]],
            "velocity": [[1, 0], [0, 0.5], [-1, 0]]}],
        "forces": [{"type": "mpm_grid", "name": "grid", "nodes": [9, 9], "spacing": 0.125}],
        "objective": [{"type": "point_target", "name": "end", "of": "block", "points": [0],
                       "target": [1, 1]}],
        "parameters": [{"path": "block.velocity"}]
    })");
    constexpr std::int64_t step = 2;
    // |dLoss/dF| of each point.
    std::vector<double> expected;
    Simulation simulation(Scene::of(document, {}), test::all_modules(), in_f64().simulation);
    Rollout::State state;
    simulation.run(false, [&](std::int64_t done) {
        if (done == step) state = simulation.rollout().copy_state(done);
        return true;
    });
    const Array F = simulation.model().array("deformation_gradient");
    const auto copy = std::ranges::find_if(
        state.arrays, [&](const auto& pair) { return pair.first.same_memory(F); });
    REQUIRE(copy != state.arrays.end());
    const auto loss_at = [&](std::int64_t point, int component, double value) {
        copy->second.set_value(point, component, value);
        simulation.rollout().forward_from(state, [](std::int64_t) { return true; });
        return simulation.terms().front().value;
    };
    for (std::int64_t point = 0; point < 3; ++point) {
        double square = 0;
        for (int c = 0; c < 4; ++c) {
            constexpr double h = 1e-6;
            const double before = copy->second.value(point, c);
            const double slope =
                (loss_at(point, c, before + h) - loss_at(point, c, before - h)) / (2 * h);
            copy->second.set_value(point, c, before);
            square += slope * slope;
        }
        expected.push_back(std::sqrt(square));
    }
    CHECK(expected[1] > 1e-6);

    test::TemporaryFolder folder;
    const auto file = folder.path() / "block.json";
    document.save(file);
    OpenScene scene(file, in_f64());
    const auto shown = scene.wait_complete();
    const std::string name = "deformation_gradient gradient";
    const auto found = std::ranges::find(shown->view.colors, name, &ShownField::name);
    REQUIRE(found != shown->view.colors.end());
    CHECK(found->gradient);
    // Another one first: adjoints are there then, but not these.
    scene.session.send(Seek{step});
    const auto colors = [&](const Snapshot& s) {
        const auto frame = scene.exchange->acquire();
        if (!frame || frame->step != step || s.run.step != step ||
            s.reports.activity != Activity::idle)
            return std::vector<double>();
        return scene.exchange->read(*frame, "point color");
    };
    const auto shows_others_than = [&](const std::vector<double>& old) {
        std::vector<double> now;
        scene.wait([&](const Snapshot& s) {
            now = colors(s);
            return now.size() == 3 && std::isfinite(now[0]) && now[1] > 0 && now != old;
        });
        return now;
    };
    scene.session.send(FrameContents{"velocity gradient", ""});
    const std::vector<double> by_velocity = shows_others_than({});
    scene.session.send(FrameContents{name, ""});
    const std::vector<double> by_deformation = shows_others_than(by_velocity);
    for (std::size_t point = 0; point < 3; ++point)
        CHECK(by_deformation[point] == doctest::Approx(expected[point]).epsilon(1e-6));
}
