// What a box or a lasso on the picture holds, by hand: a camera that looks down the z axis, at a
// hundred pixels to the meter.
#include <doctest/doctest.h>

#include "app/gui/making/areas.hpp"

using namespace hindcast;
using gui::contains;
using gui::Pixel;
using Kind = session::Parts::Kind;

namespace {

// x to the right and y upwards about the middle of 200 x 200 pixels, two meters high.
render::Camera from_above() {
    render::Camera camera;
    camera.eye = {0, 0, 10};
    camera.target = {0, 0, 0};
    camera.up = {0, 1, 0};
    camera.orthographic = true;
    camera.height = 2;
    return camera;
}

// Body a: three points and the triangle between them; b: one point, and a spring from it to a.
render::Stage stage() {
    render::Stage stage;
    stage.channels.push_back({"position", 4, 3});
    stage.bodies = {{"a", 0, 3}, {"b", 3, 1}};
    render::Drawable sheet;
    sheet.kind = render::Drawable::Kind::surface;
    sheet.name = "a";
    sheet.places = 0;
    sheet.indices = {0, 1, 2};
    sheet.element_of = {7};
    stage.drawables.push_back(sheet);
    render::Drawable spring;
    spring.kind = render::Drawable::Kind::segments;
    spring.name = "spring";
    spring.places = 0;
    spring.indices = {3, 1};
    stage.drawables.push_back(spring);
    return stage;
}

const std::vector<render::Vec3> places{{0, 0, 0}, {0.6, 0, 0}, {0, 0.6, 0}, {0.6, -0.6, 3}};

session::Parts within(const std::vector<Pixel>& polygon, Kind kind,
                      const std::set<std::string>& hidden = {}) {
    return gui::parts_within(stage(), places, hidden, from_above(), 200, 200, polygon, kind);
}

std::vector<Pixel> box(double left, double top, double right, double bottom) {
    return {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
}

}  // namespace

TEST_CASE("areas: a polygon holds what is inside by the even-odd rule") {
    const std::vector<Pixel> square = box(10, 10, 20, 20);
    CHECK(contains(square, {15, 15}));
    CHECK_FALSE(contains(square, {9, 15}));
    CHECK_FALSE(contains(square, {15, 21}));
    // A notch from above: the middle of it is outside.
    const std::vector<Pixel> notched{{0, 0}, {5, 8}, {10, 0}, {10, 10}, {0, 10}};
    CHECK_FALSE(contains(notched, {5, 2}));
    CHECK(contains(notched, {5, 9}));
    CHECK(contains(notched, {1, 4}));
    CHECK_FALSE(contains({}, {0, 0}));
}

TEST_CASE("areas: points by where they are seen, elements by their middles") {
    // On the picture a is at (100, 100), (160, 100), (100, 40); b at (160, 160).
    const session::Parts right = within(box(150, 50, 170, 170), Kind::points);
    CHECK(*right.find("a") == std::vector<std::int64_t>{1});
    CHECK(*right.find("b") == std::vector<std::int64_t>{0});
    CHECK(within(box(150, 50, 170, 170), Kind::points, {"b"}).find("b") == nullptr);
    CHECK(within(box(110, 110, 120, 120), Kind::points).empty());
    // The triangle's middle is at (120, 80), the spring's at (160, 130).
    const session::Parts triangle = within(box(115, 75, 125, 85), Kind::elements);
    CHECK(*triangle.find("a") == std::vector<std::int64_t>{7});
    CHECK(triangle.count() == 1);
    CHECK(*within(box(155, 125, 165, 135), Kind::elements).find("spring") ==
          std::vector<std::int64_t>{0});
    CHECK(gui::points_of_element(stage(), "a", 7) == std::vector<std::int64_t>{0, 1, 2});
    CHECK(gui::points_of_element(stage(), "a", 0).empty());
}

TEST_CASE("areas: the picked part is the point of the element nearest to the place") {
    render::Pick pick;
    pick.drawable = 0;
    pick.element = {render::ElementKind::cell, 7};
    pick.place = {0.5, 0.05, 0};
    const session::Parts point = gui::picked_part(stage(), places, pick, Kind::points);
    CHECK(*point.find("a") == std::vector<std::int64_t>{1});
    const session::Parts cell = gui::picked_part(stage(), places, pick, Kind::elements);
    CHECK(*cell.find("a") == std::vector<std::int64_t>{7});
    pick = {};
    CHECK(gui::picked_part(stage(), places, pick, Kind::points).empty());
}
