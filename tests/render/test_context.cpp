// The connection to Vulkan: what fails says what to do; nothing leaks; sizes may change at any
// time.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "tests/render/gallery.hpp"
#include "tests/render/studio.hpp"
#include "tests/support/environment.hpp"

using namespace hindcast;
using namespace hindcast::render;
using namespace hindcast::test;

namespace {

template <class Work>
std::string message_of(Work work) {
    try {
        work();
    } catch (const Error& error) {
        CHECK_FALSE(error.what_to_do().empty());
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("context: without Vulkan there is one clear message") {
    const Environment nowhere("HINDCAST_VULKAN_LIBRARY", "/nowhere/libvulkan.so.1");
    const std::string message = message_of([] { VulkanContext context({}); });
    CHECK(contains(message, "there is no Vulkan here"));
    CHECK(contains(message, "/nowhere/libvulkan.so.1"));
    CHECK(contains(message, "mesa-vulkan-drivers"));
}

TEST_CASE("context: a library that is no Vulkan, and a loader that finds no driver") {
    ContextOptions options;
    options.library = "libm.so.6";
    CHECK(contains(message_of([&] { VulkanContext context(options); }), "is not a Vulkan library"));
    const Environment no_drivers("VK_ICD_FILENAMES", "/nowhere/icd.json");
    const Environment no_drivers_either("VK_DRIVER_FILES", "/nowhere/icd.json");
    for (const auto& open : std::vector<std::function<void()>>{[] { VulkanContext context({}); },
                                                               [] { VulkanContext::devices(); }}) {
        const std::string message = message_of(open);
        CHECK(contains(message, "Vulkan found no driver"));
        CHECK(contains(message, "mesa-vulkan-drivers"));
    }
}

TEST_CASE("context: a device that does not exist is refused with those that do") {
    Studio studio;
    ContextOptions options;
    options.device = "Voodoo 2";
    const std::string message = message_of([&] { VulkanContext context(options); });
    CHECK(contains(message, "Voodoo 2"));
    CHECK(contains(message, studio.context.facts().name));
}

TEST_CASE("context: devices in words") {
    const auto devices = VulkanContext::devices();
    REQUIRE_FALSE(devices.empty());
    for (const DeviceFacts& facts : devices) {
        CHECK_FALSE(facts.name.empty());
        CHECK_FALSE(facts.driver.empty());
        CHECK(facts.version.starts_with("1."));
    }
}

TEST_CASE("context: a lost device is an error with what to do, and everything closes") {
    {
        VulkanContext context(validated_options());
        Renderer renderer(context);
        const StageMaker maker = solid_gallery();
        const auto exchange =
            renderer.share(std::make_shared<Stage>(maker.stage), TransportKind::mapped);
        publish(*exchange, maker);
        View view = plain_view();
        CHECK(renderer.draw(view));
        context.lose_device();
        view.width += 1;
        const std::string message = message_of([&] { renderer.draw(view); });
        CHECK(contains(message, "was lost"));
        CHECK(contains(message, "save"));
    }
    // A new one works.
    Studio studio;
    CHECK(count_drawn(studio.draw(solid_gallery(), plain_view())) > 0);
}

TEST_CASE("context: commands that are not done in time stay until they are") {
    Studio studio;
    Image picture = studio.draw(solid_gallery(), plain_view());
    studio.context.wait_idle();
    REQUIRE(studio.context.counters().waiting == 0);
    studio.context.miss_next_wait();
    const std::string message = message_of([&] { studio.renderer.read_image(); });
    CHECK(contains(message, "did not finish a picture in 60 s"));
    CHECK(studio.context.counters().waiting == 1);
    studio.context.wait_idle();
    CHECK(studio.context.counters().waiting == 0);
    CHECK(studio.renderer.read_image().pixels == picture.pixels);

    // A copy in progress keeps both of its buffers.
    const StageMaker maker = solid_gallery();
    studio.context.miss_next_wait();
    CHECK_FALSE(message_of([&] { studio.show(maker); }).empty());
    CHECK(studio.context.counters().waiting >= 3);
    studio.context.wait_idle();
    CHECK(studio.context.counters().waiting == 0);
    CHECK(studio.draw(maker, plain_view()).pixels == picture.pixels);
}

TEST_CASE("context: a thousand frames without growth") {
    Studio studio;
    StageMaker maker = particle_gallery(50);
    const auto exchange = studio.show(maker);
    View view = plain_view(48, 32);
    view.shadows = view.ambient_occlusion = view.floor = true;
    view.trails = true;
    view.trail_lines = {std::vector<Vec3>(50, Vec3{1, 0, 0})};
    VulkanContext::Counters at_start;
    for (int k = 0; k < 1000; ++k) {
        if (k % 2 == 0) publish(*exchange, maker, k);
        orbit(view.camera, 0.36, 0);
        CHECK(studio.renderer.draw(view));
        if (k % 100 == 50) studio.renderer.pick(20, 20);
        if (k == 60) at_start = studio.context.counters();
    }
    studio.context.wait_idle();
    const auto at_end = studio.context.counters();
    CHECK(at_end.allocations == at_start.allocations);
    CHECK(at_end.live_allocations == at_start.live_allocations);
    CHECK(at_end.live_bytes == at_start.live_bytes);
    CHECK(at_end.waiting == 0);
}

TEST_CASE("context: sizes and switches change like a storm, and nothing is left behind") {
    Studio studio;
    const StageMaker maker = solid_gallery();
    studio.show(maker);
    View view = gallery_view(maker, 64, 64);
    std::uint64_t live = 0;
    for (int round = 0; round < 2; ++round) {
        for (int k = 0; k < 60; ++k) {
            view.width = 1 + (k * 37) % 200;
            view.height = 1 + (k * 53) % 150;
            view.samples = k % 3 == 0 ? 1 : 4;
            view.shadows = k % 4 != 0;
            view.ambient_occlusion = k % 5 != 0;
            view.selected_drawable = k % 7 == 0 ? 3 : -1;
            const auto before = studio.renderer.texture();
            CHECK(studio.renderer.draw(view));
            const auto after = studio.renderer.texture();
            CHECK(after.width == view.width);
            CHECK(after.height == view.height);
            if (before.view != after.view) CHECK(before.generation != after.generation);
            if (k % 10 == 0) {
                const Image image = studio.renderer.read_image();
                CHECK(image.width == view.width);
                CHECK(image.pixels.size() == 4UL * view.width * view.height);
            }
        }
        studio.context.wait_idle();
        if (round == 0) live = studio.context.counters().live_allocations;
    }
    CHECK(studio.context.counters().live_allocations == live);
    view.width = 0;
    CHECK_FALSE(studio.renderer.draw(view));
    view.width = 1 << 20;
    CHECK(contains(message_of([&] { studio.renderer.draw(view); }), "larger than"));
}

TEST_CASE("context: a stage that contradicts itself is refused before the device sees it") {
    Studio studio;
    const auto refused = [&](const StageMaker& maker) {
        try {
            studio.renderer.share(std::make_shared<Stage>(maker.stage), TransportKind::mapped);
        } catch (const Error&) {
            return true;
        }
        return false;
    };
    StageMaker maker;
    const int places = maker.channel("position", 3, {0, 0, 0, 1, 1, 1});
    maker.segments(places, {0, 2}, 0.1);
    CHECK(refused(maker));
    maker.stage.drawables.back().indices = {0, 1};
    CHECK_FALSE(refused(maker));
    maker.points(places, 3, 0.1);
    CHECK(refused(maker));
    maker.stage.drawables.back().count = 2;
    maker.stage.drawables.back().values = 7;
    CHECK(refused(maker));
}

TEST_CASE("renderer: the same view gives the same picture, also after others") {
    Studio studio;
    const StageMaker maker = solid_gallery();
    const View view = gallery_view(maker, 200, 120);
    const Image first = studio.draw(maker, view);
    studio.draw(plane_gallery(), gallery_view(plane_gallery(), 320, 200));
    CHECK(studio.draw(maker, view).pixels == first.pixels);
}
