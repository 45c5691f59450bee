// What can be taken hold of and how it moves; what a click stands for. No window.
#include <doctest/doctest.h>

#include <cmath>

#include "app/gui/draw/widgets.hpp"
#include "app/gui/input/picking.hpp"
#include "app/gui/places/handles.hpp"
#include "tests/support/all_modules.hpp"

using namespace hindcast;
using namespace hindcast::gui;
using document::Document;
using render::ElementKind;

namespace {

Document scene(const std::string& sections) {
    return Document::parse("{\"format\": 1, " + sections + "}");
}

Handles of(const Document& d, const std::string& object, const render::Element& part = {},
           int dimension = 3) {
    return handles_of(d, test::all_modules(), object, part, dimension);
}

// Applies it, and gives the scene.
Document after(Document d, const Handle& handle, const Matrix& by, int dimension = 3) {
    for (Change& change : moved(d, handle, by, dimension))
        d.set(change.pointer, std::move(change.value));
    return d;
}

void check_vector(const Document& d, const std::string& pointer,
                  const std::vector<double>& wanted) {
    CAPTURE(pointer);
    const document::Node* node = d.find(pointer);
    REQUIRE(node != nullptr);
    REQUIRE(node->size() == wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k)
        CHECK(plain_number(node->item(k)).value() == doctest::Approx(wanted[k]));
}

// A quarter turn about the axis through `center` that is parallel to z: x goes to y.
Matrix quarter_turn(const render::Vec3& center) {
    return {0,
            1,
            0,
            0,
            -1,
            0,
            0,
            0,
            0,
            0,
            1,
            0,
            static_cast<float>(center[0] + center[1]),
            static_cast<float>(center[1] - center[0]),
            0,
            1};
}

}  // namespace

TEST_CASE("handles: a list of positions, one of them or all") {
    const Document d = scene(R"("bodies": [{"type": "particles", "name": "two",
        "positions": [[1, 0, 0], [3, "1/2", 4]]}])");
    const Handles all = of(d, "/bodies/0");
    REQUIRE(all.all.size() == 1);
    CHECK(all.all[0].kind == Handle::Kind::places);
    CHECK(all.all[0].center == render::Vec3{2, 0.25, 2});
    CHECK(all.not_turned.empty());
    Document other = after(d, all.all[0], translation({0, 0, 1}));
    check_vector(other, "/bodies/0/positions/0", {1, 0, 1});
    check_vector(other, "/bodies/0/positions/1", {3, 0.5, 5});
    // (-1, -1/4) from the center goes to (1/4, -1), and the other way round.
    other = after(d, all.all[0], quarter_turn({2, 0.25, 2}));
    check_vector(other, "/bodies/0/positions/0", {2.25, -0.75, 0});
    check_vector(other, "/bodies/0/positions/1", {1.75, 1.25, 4});

    const Handles one = of(d, "/bodies/0", {ElementKind::point, 1});
    REQUIRE(one.all.size() == 1);
    CHECK(one.all[0].pointer == "/bodies/0/positions/1");
    CHECK(one.not_moved.empty());
    CHECK_FALSE(one.not_turned.empty());
    other = after(d, one.all[0], translation({1, 0, 0}));
    check_vector(other, "/bodies/0/positions/1", {4, 0.5, 4});
    CHECK(*other.find("/bodies/0/positions/0") == *d.find("/bodies/0/positions/0"));

    // The number of a triangle or a line is not that of a point.
    for (const ElementKind kind : {ElementKind::cell, ElementKind::segment, ElementKind::marker})
        CHECK(of(d, "/bodies/0", {kind, 1}).all.at(0).kind == Handle::Kind::places);
}

TEST_CASE("handles: the box in which points are fixed moves with its body") {
    const std::string fixed = R"("fixed": {"box": {"min": [0, 0, 0], "max": [0, 1, 1]}})";
    const Document d = scene(R"("bodies": [
        {"type": "particles", "positions": [[0, 0, 0], [1, 0, 0]], )" +
                             fixed + R"(},
        {"type": "solid", "mesh": {"box": {"min": [0, 0, 0], "max": [1, 1, 1], "cells": [1, 1, 1]}}, )" +
                             fixed + R"(},
        {"type": "particles", "positions": [[0, 0, 0], [1, 0, 0]], "fixed": [0]}])");
    for (const char* body : {"/bodies/0", "/bodies/1"}) {
        const Handles all = of(d, body);
        const Document other = after(d, all.all.at(0), translation({0.5, 0, -1}));
        check_vector(other, std::string(body) + "/fixed/box/min", {0.5, 0, -1});
        check_vector(other, std::string(body) + "/fixed/box/max", {0.5, 1, 0});
        CHECK_FALSE(all.all[0].turns);
        CHECK(all.not_turned.find("along the axes") != std::string::npos);
    }
    check_vector(after(d, of(d, "/bodies/1").all.at(0), translation({0.5, 0, -1})),
                 "/bodies/1/mesh/box/min", {0.5, 0, -1});
    // One point alone leaves it where it is.
    const Handles one = of(d, "/bodies/0", {ElementKind::point, 0});
    check_vector(after(d, one.all.at(0), translation({0, 0, 1})), "/bodies/0/fixed/box/min",
                 {0, 0, 0});
    // Numbers of points stay.
    CHECK(of(d, "/bodies/2").all.at(0).turns);
    const Document other = after(d, of(d, "/bodies/2").all.at(0), translation({0, 0, 1}));
    CHECK(*other.find("/bodies/2/fixed") == *d.find("/bodies/2/fixed"));
}

TEST_CASE("handles: grids and boxes are moved, not turned") {
    const Document d = scene(R"("bodies": [
        {"type": "particles", "positions": {"grid": {"counts": [2, 2, 1], "spacing": 1}}},
        {"type": "particles", "positions": {"grid": {"counts": [2, 2, 1], "spacing": 1, "center": [1, 2, 3]}}},
        {"type": "particles", "positions": {"box": {"min": 0, "max": [2, 2, 4], "counts": [2, 2, 2]}}},
        {"type": "solid", "mesh": {"box": {"min": [0, 0, 0], "max": [1, 1, 1], "cells": [1, 1, 1]}}},
        {"type": "cloth", "mesh": {"grid": {"origin": [1, 2, 3], "warp": [1, 0, 0], "weft": [0, 1, 0], "cells": [2, 2]}}}])");
    const Matrix by = translation({0.5, 0, -1});
    check_vector(after(d, of(d, "/bodies/0").all.at(0), by), "/bodies/0/positions/grid/origin",
                 {0.5, 0, -1});
    check_vector(after(d, of(d, "/bodies/1").all.at(0), by), "/bodies/1/positions/grid/center",
                 {1.5, 2, 2});
    CHECK(of(d, "/bodies/2").all.at(0).center == render::Vec3{1, 1, 2});
    Document other = after(d, of(d, "/bodies/2").all.at(0), by);
    check_vector(other, "/bodies/2/positions/box/min", {0.5, 0, -1});
    check_vector(other, "/bodies/2/positions/box/max", {2.5, 2, 3});
    // A solid that starts at rest is moved with its mesh, whatever of it was clicked on.
    const Handles solid = of(d, "/bodies/3", {ElementKind::cell, 5});
    other = after(d, solid.all.at(0), by);
    check_vector(other, "/bodies/3/mesh/box/min", {0.5, 0, -1});
    check_vector(other, "/bodies/3/mesh/box/max", {1.5, 1, 0});
    check_vector(after(d, of(d, "/bodies/4").all.at(0), by), "/bodies/4/mesh/grid/origin",
                 {1.5, 2, 2});
    for (const char* body : {"/bodies/0", "/bodies/1", "/bodies/2", "/bodies/3", "/bodies/4"}) {
        CHECK(of(d, body).not_moved.empty());
        CHECK(of(d, body).not_turned.find("along the axes") != std::string::npos);
    }
}

TEST_CASE("handles: what is not written in numbers says so") {
    const Document d = scene(R"("bodies": [
        {"type": "particles", "positions": {"formula": ["i", "0", "0"]}},
        {"type": "particles", "positions": {"file": "x.npy"}},
        {"type": "particles", "positions": {"random": {"seed": 1, "uniform": [0, 1]}}},
        {"type": "solid", "mesh": {"points": [[0, 0, 0], [1, 0, 0]], "tetrahedra": []}}],
        "forces": [{"type": "springs", "connect": []}], "gravity": [0, 0, 0])");
    const auto why = [&](const char* object) { return of(d, object).not_moved; };
    CHECK(why("/bodies/0").find("positions are written as a formula") != std::string::npos);
    CHECK(why("/bodies/0").find("\"Write as numbers\"") != std::string::npos);
    CHECK(why("/bodies/1").find("positions are written as a file") != std::string::npos);
    CHECK(why("/bodies/2").find("positions are written as random numbers") != std::string::npos);
    CHECK(why("/forces/0").find("no place of its own") != std::string::npos);
    CHECK(of(d, "/bodies/0").not_turned == why("/bodies/0"));
    CHECK(why("/gravity").empty());  // no object
    CHECK(of(d, "/gravity").all.empty());
    // The points of a mesh can be turned as well.
    const Handles mesh = of(d, "/bodies/3");
    CHECK(mesh.not_turned.empty());
    check_vector(after(d, mesh.all.at(0), quarter_turn({0.5, 0, 0})), "/bodies/3/mesh/points/1",
                 {0.5, 0.5, 0});
}

TEST_CASE("handles: obstacles: a plane is turned and moved along its normal, a ball is moved") {
    const Document d = scene(R"("colliders": [
        {"type": "plane", "normal": [1, 0, 0], "offset": 2},
        {"type": "sphere", "center": [1, 2, 3], "radius": 0.5}])");
    const Handles plane = of(d, "/colliders/0");
    REQUIRE(plane.all.at(0).kind == Handle::Kind::plane);
    CHECK(plane.all[0].center == render::Vec3{2, 0, 0});
    CHECK(plane.not_turned.empty());
    // Along itself a plane does not move.
    Document other = after(d, plane.all[0], translation({3, 7, -5}));
    check_vector(other, "/colliders/0/normal", {1, 0, 0});
    CHECK(other.find("/colliders/0/offset")->real() == doctest::Approx(5));
    // About the origin: its nearest place (2, 0, 0) goes to (0, 2, 0).
    other = after(d, plane.all[0], quarter_turn({0, 0, 0}));
    check_vector(other, "/colliders/0/normal", {0, 1, 0});
    CHECK(other.find("/colliders/0/offset")->real() == doctest::Approx(2));
    // About its own place: it goes through that place still.
    other = after(d, plane.all[0], quarter_turn({2, 0, 0}));
    check_vector(other, "/colliders/0/normal", {0, 1, 0});
    CHECK(std::abs(other.find("/colliders/0/offset")->real()) < 1e-6);

    const Handles ball = of(d, "/colliders/1");
    check_vector(after(d, ball.all.at(0), translation({0, -2, 0})), "/colliders/1/center",
                 {1, 0, 3});
    CHECK(ball.not_moved.empty());
    CHECK_FALSE(ball.not_turned.empty());
}

TEST_CASE("handles: in the plane, and places that something is wanted at") {
    const Document d = scene(R"("bodies": [{"type": "particles", "name": "b",
        "positions": [[1, 0], [0, 0]]}],
        "colliders": [{"type": "plane", "normal": [0, 1], "offset": -1}],
        "objective": [{"type": "trajectory", "of": "b", "at": [1],
                       "targets": [[1, 1], [2, 2]]}])");
    check_vector(after(d, of(d, "/bodies/0", {}, 2).all.at(0), quarter_turn({0.5, 0, 0}), 2),
                 "/bodies/0/positions/0", {0.5, 0.5});
    const Document other =
        after(d, of(d, "/colliders/0", {}, 2).all.at(0), quarter_turn({0, -1, 0}), 2);
    check_vector(other, "/colliders/0/normal", {-1, 0});
    const Handles one = of(d, "/objective/0", {ElementKind::marker, 1}, 2);
    check_vector(after(d, one.all.at(0), translation({0, 1, 0}), 2), "/objective/0/targets/1",
                 {2, 3});
    CHECK(of(d, "/objective/0", {}, 2).all.at(0).kind == Handle::Kind::places);
}

TEST_CASE("picking: what a click stands for, by thing and part") {
    using Kind = render::Drawable::Kind;
    render::Stage stage;
    const auto add = [&](Kind kind, const char* name) -> render::Drawable& {
        stage.drawables.emplace_back();
        stage.drawables.back().kind = kind;
        stage.drawables.back().name = name;
        return stage.drawables.back();
    };
    add(Kind::points, "ball").count = 1;
    render::Drawable& anchors = add(Kind::points, "anchors");
    anchors.first = 1;
    anchors.count = 8;
    add(Kind::segments, "cage").indices = {0, 1, 0, 2, 0, 3};
    render::Drawable& beam = add(Kind::surface, "beam");
    beam.indices = {9, 10, 11, 10, 11, 12};
    beam.element_of = {4, 2};
    add(Kind::arrows, "arrows").count = 13;
    render::Pick pick;
    pick.drawable = 1;
    pick.element = {ElementKind::point, 0};
    CHECK(picked_of(stage, pick).name == "anchors");
    CHECK(picked_of(stage, pick).part == pick.element);
    CHECK(scene_points(stage, pick) == std::vector<std::int64_t>{1});
    pick = {2, {ElementKind::segment, 1}, {}};
    CHECK(picked_of(stage, pick).name == "cage");
    CHECK(scene_points(stage, pick) == std::vector<std::int64_t>{0, 2});
    pick = {3, {ElementKind::cell, 2}, {}};
    CHECK(scene_points(stage, pick) == std::vector<std::int64_t>{10, 11, 12});
    // An arrow stands for the point that it starts at.
    pick = {4, {ElementKind::point, 8}, {}};
    CHECK(picked_of(stage, pick).name == "anchors");
    CHECK(picked_of(stage, pick).part == render::Element{ElementKind::point, 7});
    pick = {4, {ElementKind::point, 12}, {}};
    CHECK(picked_of(stage, pick).name == "beam");
    CHECK(picked_of(stage, pick).part == render::Element{});
    CHECK(picked_of(stage, {}).name.empty());

    // Rows of quantities: of those that have one for each such part.
    CHECK(selected_row(&stage, "anchors", {ElementKind::point, 7}, 8) == 7);
    CHECK(selected_row(&stage, "anchors", {ElementKind::point, 7}, 9) == -1);
    CHECK(selected_row(&stage, "anchors", {ElementKind::cell, 7}, 8) == -1);
    CHECK(selected_row(&stage, "cage", {ElementKind::segment, 1}, 3) == 1);
    CHECK(selected_row(&stage, "beam", {ElementKind::cell, 4}, 5) == 4);
    CHECK(selected_row(&stage, "beam", {ElementKind::cell, 4}, 60) == -1);
    CHECK(selected_row(&stage, "target", {ElementKind::marker, 2}, 6) == 2);
    CHECK(selected_row(nullptr, "ball", {ElementKind::point, 0}, 1) == -1);
    CHECK(element_text({ElementKind::point, 3}) == "point 3");
    CHECK(element_text({ElementKind::cell, 17}) == "element 17");
    CHECK(element_text({}).empty());
}
