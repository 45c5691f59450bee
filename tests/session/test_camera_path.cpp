// Camera paths: keys, the way between them, and how they stand in a scene.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include "app/session/view/camera_path.hpp"
#include "engine/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace hindcast;
using document::Document;
using render::Camera;
using session::CameraPath;

namespace {

Camera at(double x, double y, double z) {
    Camera camera;
    camera.eye = {x, y, z};
    camera.target = {x + 1, y, z};
    return camera;
}

std::string error_of(const std::string& text) {
    try {
        CameraPath::of(Document::parse(text));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("camera path: keys are kept by time, replaced and removed") {
    CameraPath path;
    CHECK_THROWS_AS(path.at(0), Error);
    path.set(2, at(2, 0, 0));
    path.set(0, at(0, 0, 0));
    path.set(1, at(7, 0, 0));
    path.set(1, at(1, 0, 0));
    REQUIRE(path.keys().size() == 3);
    CHECK(path.keys()[1].camera.eye[0] == 1);
    CHECK(path.find(1) != nullptr);
    CHECK(path.find(1.5) == nullptr);
    CHECK_FALSE(path.remove(1.5));
    CHECK(path.remove(1));
    CHECK(path.keys().size() == 2);
    CHECK_THROWS_AS(path.set(-1, at(0, 0, 0)), Error);
    CHECK_THROWS_AS(path.set(NAN, at(0, 0, 0)), Error);
}

TEST_CASE("camera path: goes through its keys and stands still outside") {
    CameraPath path;
    path.set(1, at(0, 1, 2));
    path.set(1.5, at(3, -1, 2));
    path.set(4, at(2, 5, 0));
    for (const auto& key : path.keys()) {
        const Camera camera = path.at(key.time);
        for (std::size_t c = 0; c < 3; ++c)
            CHECK(camera.eye[c] == doctest::Approx(key.camera.eye[c]).epsilon(1e-12));
    }
    CHECK(path.at(0) == path.keys().front().camera);
    CHECK(path.at(9) == path.keys().back().camera);
}

TEST_CASE("camera path: even motion stays even, and speed does not jump") {
    CameraPath even;
    for (const double t : {0.0, 0.3, 1.7, 2.0}) even.set(t, at(1 + 2 * t, 5 - t, 3));
    for (int k = 0; k <= 16; ++k) {
        const double t = k * 0.125;
        CHECK(even.at(t).eye[0] == doctest::Approx(1 + 2 * t).epsilon(1e-12));
        CHECK(even.at(t).eye[1] == doctest::Approx(5 - t).epsilon(1e-12));
    }
    CameraPath path;
    path.set(0, at(0, 0, 0));
    path.set(1, at(1, 2, 0));
    path.set(3, at(-1, 2, 4));
    path.set(3.5, at(0, 0, 0));
    const double h = 1e-6;
    for (const double t : {1.0, 3.0})
        for (std::size_t c = 0; c < 3; ++c) {
            const double before = (path.at(t).eye[c] - path.at(t - h).eye[c]) / h;
            const double after = (path.at(t + h).eye[c] - path.at(t).eye[c]) / h;
            CHECK(before == doctest::Approx(after).epsilon(1e-4));
        }
    // The slope at 1 is that of the parabola through (0,0), (1,1), (3,-1): 1 - 2/3 * ... = 1/3.
    CHECK((path.at(1 + h).eye[0] - path.at(1 - h).eye[0]) / (2 * h) ==
          doctest::Approx(1.0 / 3).epsilon(1e-5));
}

TEST_CASE("camera path: directions stay of length one, fields of view are interpolated") {
    CameraPath path;
    Camera a = at(0, 0, 0), b = at(4, 0, 0);
    a.up = {0, 0, 1};
    b.up = {0, 1, 0};
    a.field_of_view = 20;
    b.field_of_view = 60;
    path.set(0, a);
    path.set(2, b);
    const Camera middle = path.at(1);
    CHECK(middle.up[1] == doctest::Approx(std::sqrt(0.5)));
    CHECK(middle.up[2] == doctest::Approx(std::sqrt(0.5)));
    CHECK(middle.field_of_view == doctest::Approx(40));
}

TEST_CASE("camera path: in a scene, and back") {
    CameraPath path;
    path.set(0, at(1, 2, 3));
    Camera flat = at(0, 0, 5);
    flat.orthographic = true;
    flat.height = 2.5;
    path.set(0.25, flat);
    Document scene = Document::parse("{\"format\": 1, \"view\": {}}");
    CHECK(CameraPath::of(scene).empty());
    scene.set(CameraPath::pointer, path.to_node());
    const Document again = Document::parse(scene.to_text());
    CHECK(CameraPath::of(again).keys() == path.keys());
    CHECK(again.find("/view/camera_path/1/height")->real() == 2.5);
}

TEST_CASE("camera path: files, and what is wrong in them") {
    const test::TemporaryFolder folder;
    std::ofstream(folder / "path.json")
        << R"({"camera_path": [{"time": 1, "eye": [1, 0, 0], "target": [0, 0, 0]}]})";
    CHECK(CameraPath::load(folder / "path.json").at(0).eye[0] == 1);
    std::ofstream(folder / "none.json") << R"({"format": 1})";
    CHECK_THROWS_WITH_AS(CameraPath::load(folder / "none.json"),
                         doctest::Contains("has no camera path"), Error);
    std::ofstream(folder / "empty.json") << R"({"camera_path": []})";
    CHECK_THROWS_WITH_AS(CameraPath::load(folder / "empty.json"), doctest::Contains("has no keys"),
                         Error);
    const auto with = [](const std::string& keys) {
        return R"({"view": {"camera_path": )" + keys + "}}";
    };
    CHECK(error_of(with("7")) != "");
    CHECK(error_of(with(R"([{"eye": [1, 0, 0], "target": [0, 0, 0]}])")) != "");
    CHECK(error_of(with(R"([{"time": -1, "eye": [1, 0, 0], "target": [0, 0, 0]}])")) != "");
    CHECK(error_of(with(R"([{"time": 1, "eye": [1, 0], "target": [0, 0, 0]}])")) != "");
    CHECK(error_of(with(R"([{"time": 1, "eye": [1, 0, 0], "target": [1, 0, 0]}])")) != "");
    CHECK(error_of(with(R"([{"time": 1, "eye": [1, 0, 0], "target": [0, 0, 0], "zoom": 2}])"))
              .find("zoom") != std::string::npos);
    const std::string key = R"({"time": 1, "eye": [1, 0, 0], "target": [0, 0, 0]})";
    CHECK(error_of(with("[" + key + "," + key + "]")).find("same time") != std::string::npos);
}
