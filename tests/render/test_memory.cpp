// However long a scene is drawn, the driver and the renderer keep no memory of past pictures.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/render/gallery.hpp"
#include "tests/render/studio.hpp"
#include "tests/support/memory/memory_in_use.hpp"

using namespace hindcast::render;
using namespace hindcast::test;

namespace {

// Pictures of this view from all around, each with numbers that are new, and what is under a pixel.
void look_around(Studio& studio, Exchange& exchange, const StageMaker& maker, View view,
                 int pictures) {
    const Vec3 eye = view.camera.eye;
    for (int k = 0; k < pictures; ++k) {
        publish(exchange, maker, 0.01 * k);
        view.camera.eye[0] = eye[0] + 0.001 * k;
        CHECK(studio.renderer.draw(view));
        if (k % 10 == 0) studio.renderer.pick(view.width / 2, view.height / 2);
    }
    studio.context.wait_idle();
}

}  // namespace

TEST_CASE("render: drawing again and again keeps no memory") {
    Studio studio;
    struct Case {
        std::string name;
        StageMaker maker;
        std::function<void(View&)> change;
    };
    const auto nothing = [](View&) {};
    const std::vector<Case> cases = {
        {"solids", solid_gallery(), nothing},
        {"solids in f64, bare", solid_gallery(RealType::f64),
         [](View& view) {
             view.samples = 1;
             view.shadows = view.ambient_occlusion = false;
             view.selected_drawable = 5;
         }},
        {"selected", solid_gallery(), [](View& view) { view.selected_drawable = 5; }},
        {"plane", plane_gallery(), nothing},
        {"one of a plane", plane_gallery(),
         [](View& view) {
             view.selected_drawable = 1;
             view.selected_element = 3;
             view.symmetric = true;
         }},
        {"heights", wave_gallery(), [](View& view) { view.heights = true; }},
        {"smooth", wave_gallery(), [](View& view) { view.smooth_fields = true; }},
        {"particles", particle_gallery(500), nothing},
    };
    for (const Case& each : cases) {
        CAPTURE(each.name);
        View view = gallery_view(each.maker, 64, 48);
        each.change(view);
        const auto exchange = studio.show(each.maker);
        look_around(studio, *exchange, each.maker, view, 20);
        // What a driver or a library gets for itself once is no matter: what is kept of each
        // picture grows all the time. A compiled copy of one shader is 32 KiB at least.
        constexpr int pictures = 50;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (int block = 0; block < 3; ++block) {
            const std::int64_t before = memory_in_use();
            look_around(studio, *exchange, each.maker, view, pictures);
            least = std::min(least, memory_in_use() - before);
        }
        CHECK(least < pictures * std::int64_t{16} * 1024);
    }
}
