// Points and elements that were chosen in the picture: pinned, connected, aimed, optimized; objects
// mirrored, scaled, repeated; templates that run.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "app/session/making/arrange.hpp"
#include "app/session/making/parts.hpp"
#include "app/session/making/templates.hpp"
#include "engine/sim/optimization/optimization.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/session/support.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using namespace session;
using document::Document;
using document::Node;

namespace {

Document parse(const std::string& text) { return Document::parse(text, "scene"); }

std::string at(const Document& document, const std::string& pointer) {
    const Node* const node = document.find(pointer);
    return node != nullptr ? document::to_line(*node) : "";
}

std::unique_ptr<Simulation> built(const Document& document) {
    SimulationOptions options;
    options.device = test::session_device();
    return std::make_unique<Simulation>(Scene::of(document, {}), test::all_modules(), options);
}

Document two_bodies() {
    return parse(R"({"format": 1, "time": {"step": "1/60", "steps": 4}, "bodies": [
        {"type": "particles", "name": "a", "positions": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
        {"type": "particles", "name": "b", "positions": [[0, 0, 1], [2, 0, 1]], "fixed": [1]}]})");
}

Parts points(std::initializer_list<std::pair<const char*, std::vector<std::int64_t>>> chosen) {
    Parts parts;
    for (const auto& [name, numbers] : chosen) parts.add(name, numbers);
    return parts;
}

// As the scene above says.
std::array<double, 3> where(const std::string& body, std::int64_t point) {
    if (body == "a") return {static_cast<double>(point), 0, 0};
    return {2.0 * static_cast<double>(point), 0, 1};
}

const Registry& modules() { return test::all_modules(); }

}  // namespace

TEST_CASE("parts: a set of numbers by object") {
    Parts parts = points({{"a", {2, 0, 2}}, {"b", {1}}});
    CHECK(parts.count() == 3);
    CHECK(*parts.find("a") == std::vector<std::int64_t>{0, 2});
    CHECK(parts.text() == "3 points of a, b");
    parts.toggle("a", 2);
    parts.toggle("a", 1);
    CHECK(*parts.find("a") == std::vector<std::int64_t>{0, 1});
    parts.remove("b", {1});
    CHECK(parts.find("b") == nullptr);
    CHECK(parts.text() == "2 points of a");
    CHECK(Parts().text().empty());
}

TEST_CASE("parts: pinned and unpinned, whatever says which are fixed") {
    const Document scene = two_bodies();
    const Document both = pinned(scene, {}, modules(), points({{"a", {2, 0}}, {"b", {0}}}));
    CHECK(at(both, "/bodies/0/fixed") == "[0, 2]");
    CHECK(at(both, "/bodies/1/fixed") == "[0, 1]");
    CHECK_NOTHROW(built(both));
    const Document less = unpinned(both, {}, modules(), points({{"a", {0, 1, 2}}, {"b", {1}}}));
    CHECK(at(less, "/bodies/0/fixed").empty());
    CHECK(at(less, "/bodies/1/fixed") == "[0]");

    // All, and those in a box: the first two of a.
    Document all = scene;
    all.set("/bodies/0/fixed", Node(true));
    CHECK(at(unpinned(all, {}, modules(), points({{"a", {1}}})), "/bodies/0/fixed") == "[0, 2]");
    all.set("/bodies/0/fixed",
            parse(R"({"box": {"min": [-0.5, -1, -1], "max": [1, 1, 1]}})").root());
    CHECK(at(pinned(all, {}, modules(), points({{"a", {2}}})), "/bodies/0/fixed") == "[0, 1, 2]");

    CHECK(can_be_pinned(scene, modules(), "a"));
    CHECK_FALSE(can_be_pinned(scene, modules(), "nothing"));
    Parts elements = points({{"a", {0}}});
    elements.kind = Parts::Kind::elements;
    CHECK_THROWS_AS(pinned(scene, {}, modules(), elements), Error);
    CHECK_THROWS_AS(pinned(scene, {}, modules(), {}), Error);
    CHECK_THROWS_AS(pinned(scene, {}, modules(), points({{"gone", {0}}})), Error);
}

TEST_CASE("parts: springs between the points of one body, and to the nearest of another") {
    const Document scene = two_bodies();
    const Document row = connected(scene, modules(), points({{"a", {0, 1, 2}}}), "links", where);
    CHECK(at(row, "/forces/0/connect") == R"([["a", 0, "a", 1], ["a", 1, "a", 2]])");
    // Point 0 of b is over point 0 of a, point 1 over point 2.
    const Document across =
        connected(scene, modules(), points({{"a", {0, 1, 2}}, {"b", {0, 1}}}), "links", where);
    CHECK(at(across, "/forces/0/connect") == R"([["b", 0, "a", 0], ["b", 1, "a", 2]])");
    CHECK_NOTHROW(built(across));
    CHECK_THROWS_AS(connected(scene, modules(), points({{"a", {0}}}), "links", where), Error);
}

TEST_CASE("parts: a target where they are, a pull, and a parameter for each element") {
    const Document scene = two_bodies();
    const Document two = aimed(scene, modules(), points({{"a", {0, 2}}}), "target", where);
    CHECK(at(two, "/objective/0/target") == "[[0, 0, 0], [2, 0, 0]]");
    CHECK(at(two, "/objective/0/points") == "[0, 2]");
    // They are there: the loss of the start is 0, and that of the end by gravity alone is not.
    CHECK_NOTHROW(built(two));
    CHECK(at(aimed(scene, modules(), points({{"b", {1}}}), "target", where),
             "/objective/0/target") == "[2, 0, 1]");
    CHECK_THROWS_AS(aimed(scene, modules(), points({{"a", {0}}, {"b", {0}}}), "target", where),
                    Error);

    const Document held = pulled(scene, modules(), points({{"a", {1}}}), "pull", where);
    CHECK(held.at("/forces/0/places").size() == 4);
    CHECK_NOTHROW(built(held));

    Document cloth = parse(R"({"format": 1, "time": {"step": "1/60", "steps": 2,
        "integrator": "implicit_euler"}, "bodies": [{"type": "cloth", "name": "cloth",
        "mesh": {"grid": {"origin": [0, 0, 0], "warp": [1, 0, 0], "weft": [0, 1, 0],
        "cells": [2, 2]}}, "area_density": 0.3, "warp_stiffness": 60, "fixed": [0, 6]}],
        "objective": [{"type": "center_of_mass", "of": "cloth", "target": [0, 0, 0]}]})");
    const std::vector<std::string> keys = keys_per_element(cloth, modules(), "cloth");
    CHECK(std::ranges::find(keys, "warp_stiffness") != keys.end());
    CHECK(std::ranges::find(keys, "bending_stiffness") != keys.end());
    CHECK(std::ranges::find(keys, "rest_angle") == keys.end());  // of edges
    Parts elements = points({{"cloth", {1, 5, 6}}});
    elements.kind = Parts::Kind::elements;
    const Document some = optimized(cloth, modules(), elements, "warp_stiffness");
    CHECK(built(some)->parameters().size() == 3);
    CHECK_THROWS_AS(optimized(some, modules(), elements, "warp_stiffness"), Error);
    CHECK_THROWS_AS(optimized(cloth, modules(), elements, "mesh"), Error);
}

TEST_CASE("arrange: mirrored, scaled and put onto a grid, by hand") {
    const Document scene = parse(R"({"format": 1, "time": {"step": "1/60", "steps": 2},
        "bodies": [
            {"type": "particles", "name": "a", "positions": [[1, 0, 0], [3, 0, 2]], "velocity": [1, 2, 3]},
            {"type": "particles", "name": "g", "positions":
                {"grid": {"counts": [3, 1, 2], "spacing": 0.5, "origin": [1, 2, 3]}}}],
        "colliders": [
            {"type": "plane", "name": "p", "normal": [0.6, 0, 0.8], "offset": 1},
            {"type": "sphere", "name": "s", "center": [0.26, 0.2, -0.24], "radius": 0.5}]})");
    // About x = 2, the middle of 1 and 3.
    const Document other = mirrored(scene, modules(), "/bodies/0", 0);
    CHECK(at(other, "/bodies/0/positions") == "[[3, 0, 0], [1, 0, 2]]");
    CHECK(at(other, "/bodies/0/velocity") == "[-1, 2, 3]");
    // A grid from (1, 2, 3) to (2, 2, 3.5), twice as large about (1.5, 2, 3.25).
    const Document larger = scaled(scene, modules(), "/bodies/1", 2);
    CHECK(at(larger, "/bodies/1/positions/grid/origin") == "[0.5, 2, 2.75]");
    CHECK(at(larger, "/bodies/1/positions/grid/spacing") == "1");
    // One that is written by its center keeps that.
    Document centered = scene;
    centered.root().find("bodies")->item(1).find("positions")->find("grid")->erase("origin");
    centered.set("/bodies/1/positions/grid/center", parse("[1, 2, 3]").root());
    CHECK(at(scaled(centered, modules(), "/bodies/1", 2), "/bodies/1/positions/grid/center") ==
          "[1, 2, 3]");
    // Half the size about the foot of the plane: it stays.
    CHECK(at(scaled(scene, modules(), "/colliders/0", 0.5), "/colliders/0/offset") == "1");
    const Document ball = scaled(scene, modules(), "/colliders/1", 3);
    CHECK(at(ball, "/colliders/1/radius") == "1.5");
    CHECK(at(ball, "/colliders/1/center") == "[0.26, 0.2, -0.24]");
    CHECK(at(snapped(scene, modules(), "/colliders/1", 0.5), "/colliders/1/center") ==
          "[0.5, 0, 0]");
    // The plane 0.6 x + 0.8 z = 1 mirrored at x = 0: -0.6 x + 0.8 z = 1.
    AxisMap map;
    map.factor[0] = -1;
    const Document turned = mapped(scene, modules(), "/colliders/0", map);
    CHECK(at(turned, "/colliders/0/normal") == "[-0.6, 0, 0.8]");
    CHECK(at(turned, "/colliders/0/offset") == "1");
    CHECK_THROWS_AS(mapped(scene, modules(), "/bodies/7", map), Error);
    CHECK_THROWS_AS(scaled(scene, modules(), "/bodies/0", 0), Error);
}

TEST_CASE("arrange: meshes, their fixed boxes, and what is written as a formula") {
    Document scene = parse(R"({"format": 1, "time": {"step": "1/60", "steps": 2}, "bodies": [
        {"type": "cloth", "name": "c", "mesh": {"grid": {"origin": [0, 0, 1], "warp": [1, 0, 0],
         "weft": [0, 2, 0], "cells": [2, 2]}}, "area_density": 1, "warp_stiffness": 10},
        {"type": "solid", "name": "s", "mesh": {"box": {"min": [0, 0, 0], "max": [2, 1, 1],
         "cells": [2, 1, 1]}}, "young_modulus": 1e4, "poisson_ratio": 0.3,
         "fixed": {"box": {"min": [0, 0, 0], "max": [0, 1, 1]}}}]})");
    // About x = 0.5.
    const Document cloth = mirrored(scene, modules(), "/bodies/0", 0);
    CHECK(at(cloth, "/bodies/0/mesh/grid/origin") == "[1, 0, 1]");
    CHECK(at(cloth, "/bodies/0/mesh/grid/warp") == "[-1, 0, 0]");
    // The clamped end of the other one goes from x = 0 to x = 2.
    const Document solid = mirrored(scene, modules(), "/bodies/1", 0);
    CHECK(at(solid, "/bodies/1/mesh/box/min") == "[0, 0, 0]");
    CHECK(at(solid, "/bodies/1/fixed/box/min") == "[2, 0, 0]");
    CHECK(at(solid, "/bodies/1/fixed/box/max") == "[2, 1, 1]");
    CHECK_NOTHROW(built(solid));
    scene.set("/bodies/0/positions", parse(R"({"formula": ["x", "y", "z"]})").root());
    CHECK(test::message([&] { scaled(scene, modules(), "/bodies/0", 2); }).find("formula") !=
          std::string::npos);
}

TEST_CASE("arrange: copies with what acts on them alone") {
    Document scene = two_bodies();
    scene = connected(scene, modules(), points({{"a", {0, 1, 2}}}), "links", where);
    scene = connected(scene, modules(), points({{"a", {0}}, {"b", {0}}}), "rope", where);
    const Document three = arrayed(scene, modules(), "/bodies/0", 3, {0, 0.5, 0});
    REQUIRE(three.at("/bodies").size() == 4);
    CHECK(at(three, "/bodies/2/name") == R"("a_2")");
    CHECK(at(three, "/bodies/3/positions/0") == "[0, 1, 0]");
    // The links of a are repeated, the rope to b is not.
    REQUIRE(three.at("/forces").size() == 4);
    CHECK(at(three, "/forces/2/connect/0") == R"(["a_2", 0, "a_2", 1])");
    CHECK(at(three, "/forces/3/name") == R"("links_3")");
    CHECK_NOTHROW(built(three));
    CHECK_THROWS_AS(arrayed(scene, modules(), "/bodies/0", 0, {}), Error);
}

TEST_CASE("templates: each runs, and what it proposes finds what is wanted") {
    CHECK(scene_templates(modules()).size() == 5);
    for (const SceneTemplate& one : scene_templates(modules())) {
        CAPTURE(one.id);
        const Document scene = scene_of_template(modules(), one.id);
        const auto simulation = built(scene);
        const double before = simulation->run();
        CHECK(std::isfinite(before));
        if (one.id == "empty") continue;
        CHECK(before > 0);
        const auto tried = built(scene);
        const Optimization::Outcome outcome = Optimization(*tried, 12).run();
        CHECK(outcome.best.loss < 0.01 * before);
    }
    CHECK_THROWS_AS(scene_of_template(modules(), "nothing"), Error);
    Registry none;
    CHECK(scene_templates(none).empty());
}
