// Sizes that are dragged: where the handles are, and what a drag of so many meters makes of the scene.
#include <doctest/doctest.h>

#include <cmath>

#include "app/session/making/sizes.hpp"
#include "engine/sim/simulation.hpp"
#include "tests/session/support.hpp"
#include "tests/support/error_message.hpp"

using namespace hindcast;
using namespace session;
using document::Document;

namespace {

const Registry& modules() { return test::all_modules(); }

Document scene_of(const std::string& objects, const char* more = "") {
    return Document::parse(
        R"({"format": 1, "time": {"step": "1/60", "steps": 4, "integrator": "implicit_euler"}, )" +
            objects + more + "}",
        "scene");
}

Document in_plane(const std::string& objects) { return scene_of(objects, R"(, "dimension": 2)"); }

std::string at(const Document& document, const std::string& pointer) {
    const document::Node* const node = document.find(pointer);
    return node != nullptr ? document::to_line(*node) : "";
}

// The handle whose way is this one; the first of several.
std::size_t handle_along(const Document& scene, const std::string& pointer,
                         const model::Place& along, const std::string& name) {
    const std::vector<SizeHandle> all = size_handles(scene, modules(), pointer);
    for (std::size_t k = 0; k < all.size(); ++k) {
        double square = 0;
        for (std::size_t c = 0; c < 3; ++c) square += std::pow(all[k].along[c] - along[c], 2);
        if (square < 1e-18 && all[k].name == name) return k;
    }
    FAIL("no handle '", name, "' along ", along[0], ", ", along[1], ", ", along[2]);
    return 0;
}

struct Drag {
    model::Place along;
    std::string name;
    double by;
    bool repeats = false;
};

// The scene after a drag.
Document dragged(Document scene, const std::string& pointer, const Drag& drag,
                 const std::string& text = "") {
    const std::size_t handle = handle_along(scene, pointer, drag.along, drag.name);
    Resized result = resized(scene, modules(), pointer, handle, drag.by, drag.repeats);
    if (!text.empty()) CHECK(result.text == text);
    for (Resized::Change& change : result.changes)
        scene.set(change.pointer, std::move(change.value));
    return scene;
}

model::Place place_of(const Document& scene, const std::string& pointer, const model::Place& along,
                      const std::string& name) {
    return size_handles(scene, modules(), pointer)[handle_along(scene, pointer, along, name)].at;
}

void close(const model::Place& a, const model::Place& b) {
    for (std::size_t c = 0; c < 3; ++c) CHECK(a[c] == doctest::Approx(b[c]).epsilon(1e-12));
}

const std::string ball = R"("colliders": [{"type": "sphere", "name": "ball", "center": [1, 2, 3],
    "radius": 0.5, "response": "barrier", "stiffness": 1}])";

}  // namespace

TEST_CASE("sizes: a ball's radius, no smaller than a thousandth of it") {
    const Document scene = scene_of(ball);
    CHECK(size_handles(scene, modules(), "/colliders/0").size() == 3);
    close(place_of(scene, "/colliders/0", {0, 1, 0}, "radius"), {1, 2.5, 3});
    const Document larger =
        dragged(scene, "/colliders/0", {{0, 1, 0}, "radius", 0.25}, "radius 0.75 m");
    CHECK(at(larger, "/colliders/0/radius") == "0.75");
    CHECK(at(larger, "/colliders/0/center") == "[1, 2, 3]");
    CHECK(at(dragged(scene, "/colliders/0", {{1, 0, 0}, "radius", -7}), "/colliders/0/radius") ==
          "5e-04");
}

TEST_CASE("sizes: a turned box keeps the face that is opposite") {
    // A quarter turn about z: the box's first axis is the scene's second.
    const Document scene = scene_of(R"("colliders": [{"type": "box", "name": "b",
        "center": [1, 0, 0], "half_extents": [0.5, 0.2, 0.1], "orientation": [1, 0, 0, 1],
        "response": "barrier", "stiffness": 1}])");
    close(place_of(scene, "/colliders/0", {0, 1, 0}, "x"), {1, 0.5, 0});
    const Document longer =
        dragged(scene, "/colliders/0", {{0, 1, 0}, "x", 0.4}, "1.4 x 0.4 x 0.2 m");
    CHECK(at(longer, "/colliders/0/half_extents") == "[0.7, 0.2, 0.1]");
    close(place_of(longer, "/colliders/0", {0, 1, 0}, "x"), {1, 0.9, 0});
    close(place_of(longer, "/colliders/0", {0, -1, 0}, "x"), {1, -0.5, 0});
    // In the plane, by an angle.
    const Document flat = in_plane(R"("colliders": [{"type": "box", "name": "b",
        "center": [0, 0], "half_extents": [2, 1], "orientation": 1.5707963267948966,
        "response": "barrier", "stiffness": 1}])");
    const Document taller = dragged(flat, "/colliders/0", {{0, 1, 0}, "x", 1}, "5 x 2 m");
    CHECK(at(taller, "/colliders/0/center") == "[0, 0.5]");
}

TEST_CASE("sizes: a capsule's ends and radius; a cylinder's ends are flat") {
    const auto rod = [](const char* type) {
        return scene_of(std::string(R"("colliders": [{"type": ")") + type +
                        R"(", "name": "rod", "start": [0, 0, 1], "end": [2, 0, 1], "radius": 0.25,
            "response": "barrier", "stiffness": 1}])");
    };
    const Document capsule = rod("capsule");
    close(place_of(capsule, "/colliders/0", {1, 0, 0}, "length"), {2.25, 0, 1});
    close(place_of(rod("cylinder"), "/colliders/0", {-1, 0, 0}, "length"), {0, 0, 1});
    const Document longer =
        dragged(capsule, "/colliders/0", {{-1, 0, 0}, "length", 0.5}, "length 2.5 m");
    CHECK(at(longer, "/colliders/0/start") == "[-0.5, 0, 1]");
    CHECK(at(longer, "/colliders/0/end") == "[2, 0, 1]");
    close(place_of(capsule, "/colliders/0", {0, 1, 0}, "radius"), {1, 0.25, 1});
    CHECK(at(dragged(capsule, "/colliders/0", {{0, 1, 0}, "radius", 0.5}), "/colliders/0/radius") ==
          "0.75");
}

TEST_CASE("sizes: a grid of points is stretched, or has more of them; springs follow") {
    const Document scene = scene_of(R"("bodies": [{"type": "particles", "name": "net",
        "positions": {"grid": {"counts": [5, 3, 1], "spacing": 0.25}}}],
        "forces": [{"type": "springs", "name": "s", "stiffness": 1,
        "connect": {"grid": "net", "counts": [5, 3], "patterns": ["structural"]}}])");
    CHECK(size_handles(scene, modules(), "/bodies/0").size() == 4);  // it has no thickness
    close(place_of(scene, "/bodies/0", {1, 0, 0}, "x"), {1, 0.25, 0});
    const Document wider =
        dragged(scene, "/bodies/0", {{1, 0, 0}, "x", 1}, "2 x 0.5 x 0 m, 5 x 3 x 1 points");
    CHECK(at(wider, "/bodies/0/positions/grid/spacing") == "[0.5, 0.25, 0.25]");
    const Document more = dragged(scene, "/bodies/0", {{1, 0, 0}, "x", 0.6, true},
                                  "1.5 x 0.5 x 0 m, 7 x 3 x 1 points");
    CHECK(at(more, "/bodies/0/positions/grid/counts") == "[7, 3, 1]");
    CHECK(at(more, "/bodies/0/positions/grid/spacing") == "0.25");
    CHECK(at(more, "/forces/0/connect/counts") == "[7, 3]");
    // Downwards: the places begin lower. Never fewer than two.
    const Document lower = dragged(scene, "/bodies/0", {{0, -1, 0}, "y", 0.25, true});
    CHECK(at(lower, "/bodies/0/positions/grid/origin") == "[0, -0.25, 0]");
    CHECK(at(lower, "/forces/0/connect/counts") == "[5, 4]");
    CHECK(at(dragged(scene, "/bodies/0", {{0, 1, 0}, "y", -9, true}), "/forces/0/connect/counts") ==
          "[5, 2]");
    SimulationOptions options;
    options.device = test::session_device();
    CHECK(Simulation(Scene::of(more, {}), modules(), options).model().point_count() == 21);
}

TEST_CASE("sizes: a solid's box takes along where it is held, and keeps its cells or their size") {
    const Document scene = scene_of(R"("bodies": [{"type": "solid", "name": "beam", "density": 1,
        "young_modulus": 1, "poisson_ratio": 0.3,
        "mesh": {"box": {"min": [0, 0, 0], "max": [1, 0.2, 0.2], "cells": [10, 2, 2]}},
        "fixed": {"box": {"min": [0.95, 0, 0], "max": [1, 0.2, 0.2]}}}])");
    const Document longer =
        dragged(scene, "/bodies/0", {{1, 0, 0}, "x", 1}, "2 x 0.2 x 0.2 m, 10 x 2 x 2 cells");
    CHECK(at(longer, "/bodies/0/mesh/box/max") == "[2, 0.2, 0.2]");
    CHECK(at(longer, "/bodies/0/fixed/box/min") == "[1.9, 0, 0]");
    CHECK(at(longer, "/bodies/0/fixed/box/max") == "[2, 0.2, 0.2]");
    const Document other = dragged(scene, "/bodies/0", {{-1, 0, 0}, "x", 0.52, true});
    CHECK(at(other, "/bodies/0/mesh/box/min") == "[-0.5, 0, 0]");
    CHECK(at(other, "/bodies/0/mesh/box/cells") == "[15, 2, 2]");
    // Nothing is left of what is written otherwise.
    CHECK(at(other, "/bodies/0/mesh/box/max") == "[1, 0.2, 0.2]");
}

TEST_CASE("sizes: the edges of a cloth, a list of points") {
    const Document cloth = scene_of(R"("bodies": [{"type": "cloth", "name": "c", "area_density": 1,
        "warp_stiffness": 1, "mesh": {"grid": {"origin": [0, 0, 1], "warp": [2, 0, 0],
        "weft": [0, 1, 0], "cells": [4, 2]}}}])");
    close(place_of(cloth, "/bodies/0", {0, 1, 0}, "weft"), {1, 1, 1});
    const Document more =
        dragged(cloth, "/bodies/0", {{0, 1, 0}, "weft", 0.4, true}, "2 x 1.5 m, 4 x 3 cells");
    CHECK(at(more, "/bodies/0/mesh/grid/weft") == "[0, 1.5, 0]");
    const Document chain = scene_of(R"("bodies": [{"type": "particles", "name": "p",
        "positions": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "fixed": [0]}])");
    const Document longer = dragged(chain, "/bodies/0", {{1, 0, 0}, "x", 1}, "3 x 0 x 0 m");
    CHECK(at(longer, "/bodies/0/positions") == "[[0, 0, 0], [1.5, 0, 0], [3, 0, 0]]");
    // No handle where nothing is written in numbers, an error where there is none.
    CHECK(size_handles(scene_of(R"("bodies": [{"type": "particles", "name": "p",
        "positions": {"formula": ["i", 0, 0], "count": 3}}])"),
                       modules(), "/bodies/0")
              .empty());
    CHECK(test::message([&] { resized(chain, modules(), "/bodies/0", 9, 1); }) ==
          "p has no such size");
    CHECK(test::message([&] { resized(chain, modules(), "/bodies/7", 0, 1); }) ==
          "there is no object of the scene at /bodies/7");
}

TEST_CASE("sizes: rigid shapes, whose opposite sides stay, where they lie and as they are turned") {
    // A box turned by a quarter about z: its x points along y.
    const Document scene =
        scene_of(R"("bodies": [{"type": "articulated", "name": "rigid", "model": {
        "shapes": [
        {"type": "box", "size": [0.2, 0.4, 0.6], "position": [1, 0, 2], "orientation": [1, 0, 0, 1]},
        {"type": "sphere", "radius": 0.1, "position": [0, 0, 1], "fixed": true},
        {"type": "capsule", "radius": 0.1, "length": 0.4, "position": [3, 0, 1]}]}}])");
    const std::string body = "/bodies/0", shapes = "/bodies/0/model/shapes/";
    const Document wide = dragged(scene, body, {{0, 1, 0}, "x", 0.1}, "0.3 x 0.4 x 0.6 m");
    CHECK(at(wide, shapes + "0/size") == "[0.3, 0.4, 0.6]");
    CHECK(at(wide, shapes + "0/position") == "[1, 0.05, 2]");
    const Document back = dragged(scene, body, {{0, -1, 0}, "x", -0.1}, "0.1 x 0.4 x 0.6 m");
    CHECK(at(back, shapes + "0/position") == "[1, 0.05, 2]");
    const Document thick = dragged(scene, body, {{0, 0, 1}, "radius", 0.05}, "radius 0.15 m");
    CHECK(at(thick, shapes + "1/radius") == "0.15");
    CHECK(at(thick, shapes + "1/position") == "[0, 0, 1]");
    const Document tall = dragged(scene, body, {{0, 0, 1}, "length", 0.2}, "length 0.6 m");
    CHECK(at(tall, shapes + "2/length") == "0.6");
    CHECK(at(tall, shapes + "2/position") == "[3, 0, 1.1]");
    // It keeps a thousandth.
    CHECK(at(dragged(scene, body, {{0, 0, 1}, "length", -9}), shapes + "2/length") == "4e-04");

    // Where qpos says where free ones lie, it is what moves: those of the first and of the third.
    Document placed = scene;
    placed.set(body + "/qpos",
               Document::parse("[5, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0]", "list").root());
    const Document there = dragged(placed, body, {{1, 0, 0}, "x", 0.2});
    CHECK(at(there, shapes + "0/size") == "[0.4, 0.4, 0.6]");
    CHECK(at(there, shapes + "0/position") == "[1, 0, 2]");
    CHECK(at(there, body + "/qpos") == "[5.1, 0, 0, 1, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0]");
    // The capsule is turned by half a turn about x: its upper end points down.
    const Document lower = dragged(placed, body, {{0, 0, -1}, "length", 0.2});
    CHECK(at(lower, body + "/qpos") == "[5, 0, 0, 1, 0, 0, 0, 6, 0, -0.1, 0, 1, 0, 0]");
    // Six faces, three of the ball, two ends and a radius.
    CHECK(size_handles(scene, modules(), body).size() == 12);
    // A robot of a file has none.
    CHECK(size_handles(scene_of(R"("bodies": [{"type": "articulated", "name": "r",
        "model": "r.xml"}])"),
                       modules(), body)
              .empty());
}
