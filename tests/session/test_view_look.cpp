// What the scene's view says of arrows, tubes, slice and distances; where the ends of distances are; an
// order of arrows in which the first are spread evenly; what objectives want of fields.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "app/session/frames/spread.hpp"
#include "app/session/view/view_look.hpp"
#include "engine/base/error.hpp"
#include "tests/session/support.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using namespace session;
using document::Document;
using render::Vec3;
using test::OpenScene;
using test::TemporaryFolder;

namespace {

constexpr const char* everything = R"({"view": {
    "color_by": "speed",
    "arrows": "velocity", "most_arrows": 50, "tubes": {"pixels": 2},
    "slice": {"normal": [0, 0, 1], "offset": "1/4"}, "heights": 0.5,
    "distances": [
        {"from": [1, 2, 3], "to": {"of": "ball", "point": 4}},
        {"from": {"of": "cloth", "points": [0, 1, 2], "weights": [0.5, 0.25, 0.25]},
         "to": {"of": "robot", "part": 1, "place": [0, 0, 0.5]}}]}})";

}  // namespace

TEST_CASE("session: how a scene is drawn is read and written as it is") {
    const Document scene = Document::parse(everything);
    const ViewLook look = ViewLook::of(scene);
    CHECK(look.arrows == "velocity");
    CHECK(look.most_arrows == 50);
    CHECK(look.tubes == render::Tubes{0, 2});
    CHECK(look.slice == render::Slice{{0, 0, 1}, 0.25});
    CHECK(look.heights == 0.5);
    REQUIRE(look.distances.size() == 2);
    CHECK(look.distances[0].from.place == Vec3{1, 2, 3});
    CHECK(look.distances[0].to.of == "ball");
    CHECK(look.distances[0].to.points == std::vector<std::int64_t>{4});
    CHECK(look.distances[1].from.weights == std::vector<double>{0.5, 0.25, 0.25});
    CHECK(look.distances[1].to.part == 1);
    // Written again it is the same, beside what else the view says.
    Document written = Document::parse(R"({"view": {"color_by": "speed"}})");
    written.set("/view", look.in_view_of(written));
    CHECK(ViewLook::of(written) == look);
    CHECK(written.find("/view/color_by")->string() == "speed");
    // Defaults are not written, and take away what was.
    written.set("/view", ViewLook().in_view_of(written));
    CHECK(written == Document::parse(R"({"view": {"color_by": "speed"}})"));
    render::View view;
    look.apply(view);
    CHECK(view.most_arrows == 50);
    CHECK(view.slice == look.slice);
    CHECK(view.tubes == look.tubes);
    CHECK(view.heights);
    CHECK(view.height_scale == 0.5);
    ViewLook().apply(view);
    CHECK_FALSE(view.heights);
}

TEST_CASE("session: ends of distances are where their things are") {
    render::Stage stage;
    stage.bodies = {{"pin", 0, 1}, {"cloth", 1, 3}};
    render::Drawable ball;
    ball.kind = render::Drawable::Kind::ball;
    ball.name = "arm";
    render::Drawable solid = ball;
    solid.kind = render::Drawable::Kind::solid;
    render::Drawable ghost = solid;
    ghost.ghost = true;
    stage.drawables = {ghost, ball, solid};
    render::Frame frame;
    // Turned a quarter about z: what was x is y.
    frame.numbers = {{}, {1, 1, 1, 0.5}, {2, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1}};
    const std::vector<Vec3> places = {{9, 9, 9}, {0, 0, 0}, {4, 0, 0}, {0, 8, 4}};
    const PointPlaces points = [&](std::int64_t point) -> std::optional<Vec3> {
        return places[static_cast<std::size_t>(point)];
    };
    const auto place = [&](const DistanceEnd& end) { return place_of(end, stage, frame, points); };
    CHECK(place({.place = {1, 2, 3}}) == Vec3{1, 2, 3});
    CHECK(place({.of = "cloth", .points = {1}, .weights = {1}}) == Vec3{4, 0, 0});
    CHECK(place({.of = "cloth", .points = {0, 1, 2}, .weights = {0.5, 0.25, 0.25}}) ==
          Vec3{1, 2, 1});
    CHECK(place({.of = "arm", .part = 0, .place = {0, 0, 0.5}}) == Vec3{1, 1, 1.5});
    CHECK(place({.of = "arm", .part = 1, .place = {1, 0, 0}}) == Vec3{2, 1, 0});
    const auto problem = [&](const DistanceEnd& end) -> std::string {
        try {
            place(end);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    CHECK(problem({.of = "sail", .points = {0}, .weights = {1}}).find("'sail'") !=
          std::string::npos);
    CHECK(problem({.of = "cloth", .points = {3}, .weights = {1}}).find("point 3 of cloth") !=
          std::string::npos);
    CHECK(problem({.of = "arm", .part = 2}).find("part 2 of 'arm'") != std::string::npos);
    const PointPlaces nowhere = [](std::int64_t) { return std::optional<Vec3>(); };
    CHECK_THROWS_AS(place_of({.of = "pin", .points = {0}, .weights = {1}}, stage, frame, nowhere),
                    Error);
}

TEST_CASE("session: a point of a frame is where the closed form says") {
    OpenScene scene(test::scene_file("free_flight.json"));
    scene.wait_complete();
    scene.session.send(Play{false});
    scene.session.send(Seek{50});
    const render::Frame frame = scene.frame_at(50);
    const std::vector<double> place = scene.exchange->read(frame, "position");
    REQUIRE(place.size() == 3);
    CHECK(place[0] == doctest::Approx(1.5));
    CHECK(place[2] == doctest::Approx(1 + 0.04 * 50 - 9.81e-4 * 50 * 51 / 2).epsilon(1e-5));
}

TEST_CASE("session: the first points of a spread order are one of each part of space") {
    // A square of 16 x 16 points: of the first 16, one in each of 4 x 4 blocks; of the first 64, one
    // in each of 8 x 8.
    std::vector<double> square, cube;
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) square.insert(square.end(), {3.0 + i, -2.0 + j});
    const std::vector<std::uint32_t> order = spread_order(square, 2);
    CHECK(std::set<std::uint32_t>(order.begin(), order.end()).size() == 256);
    for (const std::uint32_t blocks : {2U, 4U, 8U}) {
        std::set<std::uint32_t> seen;
        for (std::size_t k = 0; k < std::size_t{blocks} * blocks; ++k)
            seen.insert(order[k] / 16 * blocks / 16 * 16 + order[k] % 16 * blocks / 16);
        CHECK(seen.size() == std::size_t{blocks} * blocks);
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
            for (int k = 0; k < 8; ++k) cube.insert(cube.end(), {0.1 * i, 0.1 * j, 0.1 * k});
    const std::vector<std::uint32_t> octants = spread_order(cube, 3);
    std::set<std::uint32_t> seen;
    for (std::size_t k = 0; k < 8; ++k)
        seen.insert((octants[k] / 256) * 4 + octants[k] / 32 % 2 * 2 + octants[k] / 4 % 2);
    CHECK(octants.size() == 512);
    // Another number of points loses none; points at one place are all there.
    for (const std::size_t count : {0UL, 1UL, 2UL, 3UL, 100UL}) {
        const std::vector<double> same(3 * count, 1.5);
        const std::vector<std::uint32_t> all = spread_order(same, 3);
        CHECK(std::set<std::uint32_t>(all.begin(), all.end()).size() == count);
    }
}

TEST_CASE("session: what an objective wants of a field is drawn beside it") {
    Document document = Document::load(test::scene_file("wave_image.json"));
    document.set("/bodies/0/nodes", document::Node::array({8, 6}));
    document.set("/bodies/0/spacing", "1/8");
    document.set("/time/steps", 4);
    document.set("/objective/0/target", Document::parse(R"({"formula": "x + 10 * y"})").root());
    const TemporaryFolder folder;
    document.save(folder.path() / "waves.json");
    OpenScene scene(folder.path() / "waves.json");
    const auto complete = scene.wait_complete();
    const render::Stage& stage = *complete->scene.stage;
    const auto wanted = std::ranges::find(stage.drawables, "image", &render::Drawable::name);
    REQUIRE(wanted != stage.drawables.end());
    CHECK(wanted->kind == render::Drawable::Kind::field);
    CHECK(wanted->rows == 8);
    CHECK(wanted->columns == 6);
    // At the right of the field, which ends half a spacing behind its last node.
    CHECK(wanted->origin[0] > 7.0 / 8 + 1.0 / 8);
    CHECK(wanted->origin[1] == 0);
    CHECK(stage.high[0] == doctest::Approx(wanted->origin[0] + 7.0 / 8));
    scene.session.send(Play{false});
    scene.session.send(Seek{2});
    const std::vector<double> shown = scene.exchange->read(scene.frame_at(2), "image target");
    REQUIRE(shown.size() == 48);
    // The formula without its mean: over 8 and 6 nodes x is 3.5 / 8 and y is 2.5 / 8 in the mean.
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 6; ++j)
            CHECK(shown[static_cast<std::size_t>(6 * i + j)] ==
                  doctest::Approx((i - 3.5) / 8 + 10 * (j - 2.5) / 8).epsilon(1e-5));
    // Where the field shows something else, the target is not drawn and has no part in the range.
    const auto number = static_cast<std::size_t>(wanted - stage.drawables.begin());
    const FrameContents start{"membrane.level_0", "", false};
    scene.session.send(start);
    scene.wait([&](const Snapshot& s) {
        return s.view.contents == start && s.view.color_range &&
               s.view.color_range->color == start.color && s.view.color_range->complete &&
               !s.view.frame_waits;
    });
    const render::Frame frame = scene.frame_at(2);
    CHECK(frame.numbers[number] == std::vector<double>{0});
    const std::vector<double> hidden = scene.exchange->read(frame, "image target");
    CHECK(std::ranges::all_of(hidden, [](double x) { return std::isnan(x); }));
}

TEST_CASE(
    "session: solids bring their tetrahedra, and numbers of elements reach the points inside") {
    const TemporaryFolder folder;
    // 4 x 4 x 4 cells of tetrahedra: 27 points are inside.
    std::ofstream(folder.path() / "block.json") << R"({"format": 1, "name": "block",
        "time": {"step": "1/1000", "steps": 2}, "gravity": [0, 0, -10],
        "bodies": [{"type": "solid", "name": "block", "mesh": {"box": {"min": [0, 0, 0],
                    "max": [1, 1, 1], "cells": [4, 4, 4]}},
                    "density": 1000, "young_modulus": 1e5, "poisson_ratio": 0.3}]})";
    OpenScene scene(folder.path() / "block.json");
    const auto complete = scene.wait_complete();
    const auto body = std::ranges::find(complete->scene.stage->drawables,
                                        render::Drawable::Kind::surface, &render::Drawable::kind);
    REQUIRE(body != complete->scene.stage->drawables.end());
    CHECK(body->tetrahedra.size() % 4 == 0);
    CHECK(body->tetrahedra.size() >= 4 * 5 * 64);
    CHECK(std::set<std::uint32_t>(body->tetrahedra.begin(), body->tetrahedra.end()).size() == 125);
    CHECK(std::set<std::uint32_t>(body->indices.begin(), body->indices.end()).size() == 98);
    const auto stress = std::ranges::find_if(complete->view.colors, [](const ShownField& field) {
        return field.name.find("stress") != std::string::npos;
    });
    REQUIRE(stress != complete->view.colors.end());
    scene.session.send(Play{false});
    scene.session.send(Seek{1});
    const FrameContents contents{stress->name, "", false};
    scene.session.send(contents);
    scene.wait(
        [&](const Snapshot& s) { return s.view.contents == contents && !s.view.frame_waits; });
    const std::vector<double> numbers = scene.exchange->read(scene.frame_at(1), "point color");
    CHECK(numbers.size() == 125);
    CHECK(std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }));
}
