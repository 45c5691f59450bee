// Golden pictures of everything that is drawn.
#include <doctest/doctest.h>

#include "tests/render/gallery.hpp"
#include "tests/render/golden.hpp"
#include "tests/render/studio.hpp"

using namespace hindcast::render;
using namespace hindcast::test;

TEST_CASE("golden: pictures of everything") {
    Studio studio;
    const bool same = golden_machine(studio.context.facts());
    constexpr int width = 320, height = 180;
    for (const bool dark : {true, false}) {
        const std::string theme = dark ? "dark" : "light";
        StageMaker maker = solid_gallery();
        View view = gallery_view(maker, width, height, dark);
        view.selected_drawable = 5;
        compare_golden(studio.draw(maker, view), "solid_" + theme, same);
        maker = plane_gallery();
        compare_golden(studio.draw(maker, gallery_view(maker, width, height, dark)),
                       "plane_" + theme, same);
        maker = solid_gallery();
        view = gallery_view(maker, width, height, dark);
        view.slice = Slice{{0.1, -0.2, 1}, 0.3};
        view.tubes.radius = 0.03;
        view.most_arrows = 9;
        compare_golden(studio.draw(maker, view), "sliced_" + theme, same);
    }
    StageMaker maker = particle_gallery(3000);
    View view = gallery_view(maker, width, height);
    compare_golden(studio.draw(maker, view), "particles", same);
    view.samples = 1;
    view.shadows = view.ambient_occlusion = view.floor = false;
    view.map = ColorMap::magma;
    compare_golden(studio.draw(maker, view), "particles_bare", same);
    maker = wave_gallery();
    view = gallery_view(maker, width, height, false);
    view.heights = true;
    view.height_scale = 0.3;
    view.map = ColorMap::coolwarm;
    view.symmetric = true;
    view.camera = {};
    view.camera.eye = {2.9, -1.6, 1.7};
    view.camera.target = {0.95, 0.95, 0};
    compare_golden(studio.draw(maker, view), "wave_heights", same);
    view = gallery_view(maker, width, height);
    view.smooth_fields = true;
    view.map = ColorMap::turbo;
    compare_golden(studio.draw(maker, view), "wave_smooth", same);
}
