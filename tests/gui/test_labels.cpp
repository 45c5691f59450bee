// Labels on a picture without a window: as they were when somebody looked at them, and where they
// stand.
#include <doctest/doctest.h>

#include "app/gui/labels.hpp"
#include "app/gui/sheet.hpp"
#include "tests/render/gallery.hpp"
#include "tests/render/golden.hpp"
#include "tests/render/studio.hpp"

using namespace hindcast;
using namespace hindcast::test;

TEST_CASE("golden: names, colour bar and time stamp on a picture") {
    Studio studio;
    const bool same = golden_machine(studio.context.facts());
    const StageMaker maker = solid_gallery();
    for (const bool dark : {true, false}) {
        const render::View view = gallery_view(maker, 480, 320, dark);
        studio.show(maker);
        gui::Sheet sheet(studio.context, dark);
        const auto labels = [&](ImVec2 at) {
            gui::draw_names(at, view.width, view.height, view.camera,
                            {{{0, 0, 0.5}, "middle"},
                             {{0, 0, 0.5}, "the same place"},
                             {view.camera.eye, "behind"}});
            gui::draw_colour_bar(at, view.width, view.height,
                                 {"speed (m/s)", {-1, 3}, render::ColourMap::coolwarm});
            gui::draw_time(at, view.height, gui::time_text(0.5, 12));
        };
        const render::Image image = sheet.annotated(studio.renderer, view, labels);
        compare_golden(image, dark ? "labels_dark" : "labels_light", same);
        CHECK(sheet.annotated(studio.renderer, view, labels).pixels == image.pixels);
        // Without labels it is the renderer's own picture.
        const render::Image bare = sheet.annotated(studio.renderer, view, [](ImVec2) {});
        CHECK(bare.pixels == studio.renderer.read_image().pixels);
        // Nothing is written in the upper left quarter but the name in the middle.
        int different = 0;
        for (int y = 0; y < 60; ++y)
            for (int x = 0; x < 200; ++x) different += !(pixel(image, x, y) == pixel(bare, x, y));
        CHECK(different == 0);
    }
    CHECK(gui::time_text(0.5, 12) == "0.500 s, iteration 12");
    CHECK(gui::time_text(1, -1) == "1.000 s");
    CHECK(gui::colour_title({{"speed", "m/s", false}}, "speed") == "speed (m/s)");
    CHECK(gui::colour_title({}, "speed") == "speed");
}
