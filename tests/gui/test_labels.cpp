// Labels on a picture without a window: as they were when somebody looked at them, and where they
// stand.
#include <doctest/doctest.h>

#include "app/gui/draw/offscreen_canvas.hpp"
#include "app/gui/draw/words.hpp"
#include "app/gui/places/labels.hpp"
#include "app/gui/work/picture.hpp"
#include "app/gui/work/state/edited_scene.hpp"
#include "tests/gui/scripts.hpp"
#include "tests/render/gallery.hpp"
#include "tests/render/golden.hpp"
#include "tests/render/studio.hpp"

using namespace hindcast;
using namespace hindcast::test;

TEST_CASE("golden: names, color bar and time stamp on a picture") {
    Studio studio;
    const bool same = golden_machine(studio.context.facts());
    const StageMaker maker = solid_gallery();
    for (const bool dark : {true, false}) {
        const render::View view = gallery_view(maker, 480, 320, dark);
        studio.show(maker);
        gui::OffscreenCanvas offscreen(studio.context, dark);
        const auto labels = [&](ImVec2 at) {
            gui::draw_names(at, view.width, view.height, view.camera,
                            {{{0, 0, 0.5}, "middle"},
                             {{0, 0, 0.5}, "the same place"},
                             {view.camera.eye, "behind"}});
            gui::draw_color_bar(at, view.width, view.height,
                                {"speed (m/s)", {-1, 3}, render::ColorMap::coolwarm});
            gui::draw_time(at, view.height, gui::time_text(0.5, 12, 1));
        };
        const render::Image image = offscreen.annotated(studio.renderer, view, labels);
        compare_golden(image, dark ? "labels_dark" : "labels_light", same);
        CHECK(offscreen.annotated(studio.renderer, view, labels).pixels == image.pixels);
        // Without labels it is the renderer's own picture.
        const render::Image bare = offscreen.annotated(studio.renderer, view, [](ImVec2) {});
        CHECK(bare.pixels == studio.renderer.read_image().pixels);
        // Nothing is written in the upper left quarter but the name in the middle.
        int different = 0;
        for (int y = 0; y < 60; ++y)
            for (int x = 0; x < 200; ++x) different += !(pixel(image, x, y) == pixel(bare, x, y));
        CHECK(different == 0);
    }
    CHECK(gui::time_text(0.5, 12, 1) == "0.500 s, iteration 12");
    CHECK(gui::time_text(1, -1, 30) == "1.000 s");
    CHECK(gui::color_title({{"speed", "m/s", false}}, "speed") == "speed (m/s)");
    CHECK(gui::color_title({}, "speed") == "speed");
}

TEST_CASE("labels: times have a unit that fits what the scene lasts") {
    CHECK(gui::moment_text(12.5, 300) == "12.500 s");
    CHECK(gui::moment_text(0.25, 0.3) == "0.250 s");
    CHECK(gui::moment_text(0.05, 0.09) == "50.000 ms");
    CHECK(gui::moment_text(0.00085, 0.0017) == "0.850 ms");
    CHECK(gui::moment_text(1.5e-6, 2e-5) == "1.500 \u00b5s");
    CHECK(gui::moment_text(3e-9, 5e-9) == "3.000 ns");
    CHECK(gui::moment_text(0, 0) == "0.000 s");
    CHECK(gui::time_text(0.00085, 3, 0.0017) == "0.850 ms, iteration 3");
}

TEST_CASE("labels: the name of a body goes where the body goes") {
    Robot robot;
    robot.run([&](ImGuiTestContext& hands) {
        open(robot, "free_flight.json");
        hands.KeyPress(ImGuiKey_N);
        const auto place_of_ball = [&](std::int64_t step) {
            stop_at(robot, step);
            REQUIRE(robot.wait([&] {
                const render::Frame* const frame = robot.app().picture().frame();
                return frame != nullptr && frame->step == step;
            }));
            gui::Picture& picture = robot.app().picture();
            for (const gui::PlacedName& name :
                 gui::names_in(picture.renderer(), *picture.stage(), robot.work().scene.document(),
                               robot.work().scene.registry()))
                if (name.text == "ball") return name.place;
            throw Error("the ball has no name");
        };
        // From (0, 0, 1) with (3, 0, 4) m/s; semi-implicit steps of 0.01 s fall
        // 9.81 * 0.01^2 * k (k + 1) / 2 in k of them.
        for (const int k : {0, 50, 100}) {
            const render::Vec3 place = place_of_ball(k);
            CHECK(place[0] == doctest::Approx(0.03 * k).epsilon(1e-5));
            CHECK(place[1] == doctest::Approx(0));
            CHECK(place[2] ==
                  doctest::Approx(1 + 0.04 * k - 9.81e-4 * k * (k + 1) / 2).epsilon(1e-5));
        }
        robot.picture("name_of_a_body");
    });
}

TEST_CASE("gui: short numbers have no negative zero") {
    CHECK(gui::number_text(-0.0) == "0");
    CHECK(gui::number_text(-0.5) == "-0.5");
}
