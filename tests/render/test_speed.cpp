// What a picture costs this thread, and (told, not held to anything) the device.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/render/gallery.hpp"
#include "tests/render/studio.hpp"

using namespace hindcast::render;
using namespace hindcast::test;

namespace {

double processor_seconds() {
    rusage use{};
    ::getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

}  // namespace

TEST_CASE("speed: recording a picture of 20 000 particles takes a fraction of a frame") {
    Studio studio;
    const StageMaker maker = particle_gallery(20000);
    const auto exchange = studio.show(maker);
    const auto measure = [&](const std::string& what, auto change) {
        View view = gallery_view(maker, 1280, 720);
        change(view);
        double record = 1e9, device = 1e9, used = 1e9;
        const int pictures = std::getenv("HINDCAST_MEASURE") != nullptr ? 12 : 3;
        for (int k = 0; k < pictures; ++k) {
            orbit(view.camera, 1, 0);
            const double before = processor_seconds();
            studio.renderer.draw(view);
            studio.context.wait_idle();
            used = std::min(used, processor_seconds() - before);
            studio.renderer.pick(0, 0);
            studio.renderer.read_image();
            record = std::min(record, studio.renderer.record_seconds());
            device = std::min(device, studio.renderer.device_seconds());
        }
        CHECK(record < 0.033);
        MESSAGE(what, ": recorded in ", record * 1e3, " ms; device ", device * 1e3,
                " ms; processor time ", used * 1e3, " ms");
    };
    measure("everything", [](View&) {});
    if (std::getenv("HINDCAST_MEASURE") == nullptr) return;
    measure("no occlusion", [](View& v) { v.ambient_occlusion = false; });
    measure("no shadows", [](View& v) { v.shadows = false; });
    measure("no floor", [](View& v) { v.floor = false; });
    measure("1 sample", [](View& v) { v.samples = 1; });
    measure("floor alone", [](View& v) {
        v.samples = 1;
        v.shadows = v.ambient_occlusion = false;
        v.hidden = {true};
    });
    measure("nothing", [](View& v) {
        v.samples = 1;
        v.floor = v.shadows = v.ambient_occlusion = false;
        v.hidden = {true};
    });
    measure("nothing, 4 samples", [](View& v) {
        v.floor = v.shadows = v.ambient_occlusion = false;
        v.hidden = {true};
    });
    measure("nothing but occlusion", [](View& v) {
        v.samples = 1;
        v.floor = v.shadows = false;
        v.hidden = {true};
    });
    measure("bare", [](View& v) {
        v.samples = 1;
        v.floor = v.shadows = v.ambient_occlusion = false;
    });
}
