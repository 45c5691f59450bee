// The user's hand on the camera, against geometry by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "app/render/color_map.hpp"
#include "app/render/renderer.hpp"

using namespace hindcast::render;

namespace {

double distance(const Vec3& a, const Vec3& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

Camera straight() {
    Camera camera;
    camera.eye = {0, -5, 0};
    camera.target = {0, 0, 0};
    camera.up = {0, 0, 1};
    return camera;
}

}  // namespace

TEST_CASE("camera: to the right, the scene turns right; up, one looks from higher") {
    Camera camera = straight();
    orbit(camera, 90, 0);  // the eye goes to the left
    CHECK(camera.eye[0] == doctest::Approx(-5));
    CHECK(std::abs(camera.eye[1]) < 1e-9);
    camera = straight();
    orbit(camera, 0, 30);
    CHECK(camera.eye[2] == doctest::Approx(2.5));
    CHECK(camera.eye[1] == doctest::Approx(-5 * std::cos(std::acos(-1) / 6)));
    orbit(camera, 0, 1000);  // not over the pole
    CHECK(camera.eye[2] < 5);
    CHECK(camera.eye[2] > 4.99);
    CHECK(distance(camera.eye, camera.target) == doctest::Approx(5));
}

TEST_CASE("camera: panning keeps what is under the cursor there") {
    for (const bool orthographic : {false, true}) {
        Camera camera = straight();
        camera.orthographic = orthographic;
        const Vec3 place{0.3, 0, -0.2};
        const auto before = project(camera, place, 640, 480);
        pan(camera, 25, -10, 480);
        const auto after = project(camera, place, 640, 480);
        REQUIRE(before);
        REQUIRE(after);
        CHECK((*after)[0] == doctest::Approx((*before)[0] + 25));
        CHECK((*after)[1] == doctest::Approx((*before)[1] + 10));
    }
}

TEST_CASE("camera: zooming keeps what is under the cursor there") {
    for (const bool orthographic : {false, true}) {
        Camera camera = straight();
        camera.orthographic = orthographic;
        const Vec3 place{0.4, 0, 0.3};
        const auto before = project(camera, place, 640, 480);
        REQUIRE(before);
        zoom(camera, 2, (*before)[0] / 320 - 1, 1 - (*before)[1] / 240, 640.0 / 480);
        const auto after = project(camera, place, 640, 480);
        REQUIRE(after);
        CHECK((*after)[0] == doctest::Approx((*before)[0]));
        CHECK((*after)[1] == doctest::Approx((*before)[1]));
        if (orthographic) {
            CHECK(camera.height == doctest::Approx(1));
        } else {
            CHECK(distance(camera.eye, camera.target) == doctest::Approx(2.5));
        }
    }
}

TEST_CASE("camera: a framed box is in the picture, and fills most of it") {
    for (const bool orthographic : {false, true})
        for (const double aspect : {0.5, 1.0, 2.2}) {
            Camera camera = straight();
            camera.eye = {2, -5, 3};
            camera.orthographic = orthographic;
            const Vec3 low{1, 2, 3}, high{4, 3, 3.5};
            frame_box(camera, low, high, aspect);
            const int height = 500, width = static_cast<int>(height * aspect);
            double most = 0;
            for (int k = 0; k < 8; ++k) {
                const Vec3 corner{(k & 1) ? high[0] : low[0], (k & 2) ? high[1] : low[1],
                                  (k & 4) ? high[2] : low[2]};
                const auto at = project(camera, corner, width, height);
                REQUIRE(at);
                const double x = std::abs((*at)[0] / width * 2 - 1),
                             y = std::abs((*at)[1] / height * 2 - 1);
                CHECK(x < 1);
                CHECK(y < 1);
                most = std::max({most, x, y});
            }
            CHECK(most > 0.7);
        }
}

TEST_CASE("camera: rays go through what is projected, and matrices agree with both") {
    for (const bool orthographic : {false, true}) {
        Camera camera = straight();
        camera.eye = {1, -4, 2};
        camera.orthographic = orthographic;
        const Vec3 place{0.5, 0.7, -0.3};
        const int width = 640, height = 360;
        const auto at = project(camera, place, width, height);
        REQUIRE(at);
        const Ray ray = ray_through(camera, (*at)[0], (*at)[1], width, height);
        double along = 0;
        for (std::size_t c = 0; c < 3; ++c) along += ray.direction[c] * (place[c] - ray.origin[c]);
        Vec3 on_ray{};
        for (std::size_t c = 0; c < 3; ++c) on_ray[c] = ray.origin[c] + along * ray.direction[c];
        CHECK(distance(on_ray, place) < 1e-9);

        const auto view = view_matrix(camera);
        const auto projection = projection_matrix(camera, static_cast<double>(width) / height);
        const auto times = [](const std::array<double, 16>& m, const std::array<double, 4>& v) {
            std::array<double, 4> r{};
            for (std::size_t row = 0; row < 4; ++row)
                for (std::size_t k = 0; k < 4; ++k) r[row] += m[4 * k + row] * v[k];
            return r;
        };
        const auto clip = times(projection, times(view, {place[0], place[1], place[2], 1}));
        CHECK((clip[0] / clip[3] + 1) / 2 * width == doctest::Approx((*at)[0]));
        CHECK((clip[1] / clip[3] + 1) / 2 * height == doctest::Approx((*at)[1]));
        CHECK(clip[2] / clip[3] > 0);
        CHECK(clip[2] / clip[3] < 1);
    }
    CHECK_FALSE(project(straight(), {0, -6, 0}, 100, 100));  // behind the eye
}

TEST_CASE("camera: the first one looks at everything, from the front and above") {
    Stage stage;
    stage.low = {-1, -1, 0};
    stage.high = {1, 1, 2};
    for (const char up : {'y', 'z'}) {
        stage.up = up;
        const Camera camera = default_camera(stage, 1.5);
        CHECK(camera.target == Vec3{0, 0, 1});
        CHECK(camera.up[up == 'y' ? 1 : 2] == 1);
        CHECK(camera.eye[up == 'y' ? 1 : 2] > camera.target[up == 'y' ? 1 : 2]);
        CHECK_FALSE(camera.orthographic);
    }
    stage.dimension = 2;
    CHECK(default_camera(stage, 1.5).orthographic);
}

TEST_CASE("color maps: ends and middle as published") {
    const auto near = [](ColorMap map, double t, std::array<int, 3> rgb) {
        const Color color = color_at(map, t);
        for (std::size_t c = 0; c < 3; ++c)
            CHECK(std::abs(color[c] * 255 - static_cast<float>(rgb[c])) <= 5);
    };
    // matplotlib's tables, 8 bit; Moreland's table for coolwarm.
    near(ColorMap::viridis, 0, {68, 1, 84});
    near(ColorMap::viridis, 0.5, {33, 145, 140});
    near(ColorMap::viridis, 1, {253, 231, 37});
    near(ColorMap::magma, 0, {0, 0, 4});
    near(ColorMap::magma, 0.5, {183, 55, 121});
    near(ColorMap::magma, 1, {252, 253, 191});
    near(ColorMap::coolwarm, 0, {59, 76, 192});
    near(ColorMap::coolwarm, 0.5, {221, 221, 221});
    near(ColorMap::coolwarm, 1, {180, 4, 38});
    near(ColorMap::turbo, 0, {48, 18, 59});
    near(ColorMap::turbo, 0.25, {40, 188, 235});
    near(ColorMap::turbo, 0.5, {164, 252, 60});
    near(ColorMap::turbo, 1, {122, 4, 3});
    CHECK(color_at(ColorMap::viridis, -3) == color_at(ColorMap::viridis, 0));
    CHECK(color_at(ColorMap::viridis, std::nan("")) == color_at(ColorMap::viridis, 0));
}

TEST_CASE("camera: from each side x, y and z point where they should, from as far as before") {
    struct Row {
        Side side;
        char up;
        Vec3 right, above;  // the directions that point right and up in the picture
    };
    const Row rows[] = {
        {Side::front, 'z', {1, 0, 0}, {0, 0, 1}},  {Side::back, 'z', {-1, 0, 0}, {0, 0, 1}},
        {Side::right, 'z', {0, 1, 0}, {0, 0, 1}},  {Side::left, 'z', {0, -1, 0}, {0, 0, 1}},
        {Side::top, 'z', {1, 0, 0}, {0, 1, 0}},    {Side::bottom, 'z', {1, 0, 0}, {0, -1, 0}},
        {Side::front, 'y', {1, 0, 0}, {0, 1, 0}},  {Side::back, 'y', {-1, 0, 0}, {0, 1, 0}},
        {Side::right, 'y', {0, 0, -1}, {0, 1, 0}}, {Side::left, 'y', {0, 0, 1}, {0, 1, 0}},
        {Side::top, 'y', {1, 0, 0}, {0, 0, -1}},   {Side::bottom, 'y', {1, 0, 0}, {0, 0, 1}}};
    for (const Row& row : rows) {
        Camera camera = straight();
        camera.eye = {2, -5, 3};
        camera.target = {1, 1, 1};
        const double far = distance(camera.eye, camera.target);
        look_from(camera, row.side, row.up);
        CAPTURE(static_cast<int>(row.side));
        CAPTURE(row.up);
        CHECK(camera.target == Vec3{1, 1, 1});
        CHECK(distance(camera.eye, camera.target) == doctest::Approx(far));
        const auto pixels = [&](const Vec3& direction) {
            const auto at =
                project(camera, {1 + direction[0], 1 + direction[1], 1 + direction[2]}, 200, 200);
            REQUIRE(at);
            return *at;
        };
        // Half a thousandth of a degree beside the pole is nothing to see.
        const auto right = pixels(row.right), above = pixels(row.above);
        CHECK(right[0] > 120);
        CHECK(right[1] == doctest::Approx(100).epsilon(0.001));
        CHECK(above[1] < 80);
        CHECK(above[0] == doctest::Approx(100).epsilon(0.001));
        // And from there it is turned as always: up is up.
        orbit(camera, 30, 20);
        CHECK(pixels(row.up == 'y' ? Vec3{0, 1, 0} : Vec3{0, 0, 1})[0] ==
              doctest::Approx(100).epsilon(0.001));
    }
}

TEST_CASE("camera: without perspective what is looked at is as large as with it") {
    Camera camera = straight();
    const Camera before = camera;
    const auto seen = [&] { return *project(camera, {0.4, 0, 0.3}, 300, 200); };
    const auto with = seen();
    set_orthographic(camera, true);
    CHECK(camera.orthographic);
    CHECK(seen()[0] == doctest::Approx(with[0]));
    CHECK(seen()[1] == doctest::Approx(with[1]));
    // What is behind is as large as what is in front.
    const auto front = project(camera, {0.4, -1, 0}, 300, 200),
               behind = project(camera, {0.4, 1, 0}, 300, 200);
    CHECK((*front)[0] == doctest::Approx((*behind)[0]));
    zoom(camera, 2, 0, 0, 1.5);
    set_orthographic(camera, false);
    CHECK_FALSE(camera.orthographic);
    CHECK(distance(camera.eye, camera.target) ==
          doctest::Approx(distance(before.eye, before.target) / 2));
}
