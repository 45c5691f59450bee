// The four ways that frames reach the device: the same picture, bit for bit; slots that neither
// side waits for; and what a device cannot do, said clearly.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "engine/base/error.hpp"
#include "tests/render/gallery.hpp"
#include "tests/render/studio.hpp"
#include "tests/support/skip.hpp"

using namespace hindcast;
using namespace hindcast::render;
using namespace hindcast::test;

namespace {

constexpr TransportKind all_kinds[] = {TransportKind::exported, TransportKind::imported,
                                       TransportKind::staging, TransportKind::mapped};

// Writes a frame through the memory file that lavapipe gives for exported memory: the payload
// starts after one page.
void publish_exported(Exchange& exchange, const StageMaker& maker) {
    Frame frame;
    frame.slot = exchange.begin();
    frame.numbers = maker.numbers;
    frame.meshes = maker.meshes;
    for (std::size_t c = 0; c < maker.channels.size(); ++c) {
        const SharedMemory& shared = exchange.slot(frame.slot)[c];
        constexpr std::size_t page = 4096;
        const std::size_t whole = page + shared.exported_bytes;
        void* const file =
            ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, shared.descriptor, 0);
        REQUIRE(file != MAP_FAILED);
        std::byte* const to = static_cast<std::byte*>(file) + page + shared.offset;
        for (std::size_t k = 0; k < maker.channels[c].size(); ++k) {
            const auto narrow = static_cast<float>(maker.channels[c][k]);
            if (maker.stage.real == RealType::f64) {
                std::memcpy(to + 8 * k, &maker.channels[c][k], 8);
            } else {
                std::memcpy(to + 4 * k, &narrow, 4);
            }
        }
        ::munmap(file, whole);
    }
    exchange.publish(std::move(frame));
}

bool is_lavapipe(const VulkanContext& context) {
    return context.facts().driver.starts_with("llvmpipe");
}

}  // namespace

TEST_CASE("transports: the same picture, bit for bit, in f32 and f64") {
    Studio studio;
    if (!is_lavapipe(studio.context))
        HINDCAST_SKIP("only lavapipe's exported memory can be written without CUDA");
    for (const RealType real : {RealType::f32, RealType::f64})
        for (const bool plane : {false, true}) {
            const StageMaker maker = plane ? plane_gallery(real) : solid_gallery(real);
            const View view = gallery_view(maker, 320, 180);
            std::vector<Image> images;
            for (const TransportKind kind : all_kinds) {
                const auto exchange =
                    studio.renderer.share(std::make_shared<Stage>(maker.stage), kind);
                CHECK(exchange->kind() == kind);
                // Through all three slots, so that each is right.
                for (int k = 0; k < 4; ++k) {
                    if (kind == TransportKind::exported) {
                        publish_exported(*exchange, maker);
                    } else {
                        publish(*exchange, maker);
                    }
                    CHECK(studio.renderer.draw(view));
                    images.push_back(studio.renderer.read_image());
                }
            }
            CHECK(count_drawn(images.front()) > 1000);
            for (const Image& image : images) CHECK(image.pixels == images.front().pixels);
        }
}

TEST_CASE("transports: where points are is read from memory of every kind") {
    Studio studio;
    if (!is_lavapipe(studio.context))
        HINDCAST_SKIP("only lavapipe's exported memory can be written without CUDA");
    CHECK(studio.renderer.points().empty());  // no frame yet
    for (const RealType real : {RealType::f32, RealType::f64})
        for (const bool plane : {false, true}) {
            const StageMaker maker = plane ? plane_gallery(real) : solid_gallery(real);
            const auto number = static_cast<std::size_t>(
                std::ranges::find(maker.stage.channels, "position", &Channel::name) -
                maker.stage.channels.begin());
            REQUIRE(number < maker.stage.channels.size());
            const Channel& channel = maker.stage.channels[number];
            const auto components = static_cast<std::size_t>(channel.components);
            const View view = gallery_view(maker, 64, 36);
            for (const TransportKind kind : all_kinds) {
                const auto exchange =
                    studio.renderer.share(std::make_shared<Stage>(maker.stage), kind);
                if (kind == TransportKind::exported)
                    publish_exported(*exchange, maker);
                else
                    publish(*exchange, maker);
                CHECK(studio.renderer.points().empty());  // not drawn yet
                studio.renderer.draw(view);
                const std::vector<Vec3> all = studio.renderer.points();
                REQUIRE(all.size() == static_cast<std::size_t>(channel.elements));
                for (std::size_t p = 0; p < all.size(); ++p)
                    for (std::size_t c = 0; c < 3; ++c) {
                        const double written =
                            c < components ? maker.channels[number][p * components + c] : 0;
                        CHECK(all[p][c] ==
                              (real == RealType::f64
                                   ? written
                                   : static_cast<double>(static_cast<float>(written))));
                    }
                const std::vector<Vec3> two = studio.renderer.points(1, 2);
                REQUIRE(two.size() == 2);
                CHECK(two[0] == all[1]);
                CHECK(two[1] == all[2]);
                CHECK(studio.renderer.points(channel.elements - 1, 5).size() == 1);
                CHECK(studio.renderer.points(channel.elements, 1).empty());
                CHECK(studio.renderer.points(-1, 1).empty());
            }
        }
}

TEST_CASE("transports: exported memory says what an importer needs") {
    Studio studio;
    if (!studio.context.facts().memory_export) HINDCAST_SKIP("no VK_KHR_external_memory_fd here");
    const StageMaker maker = solid_gallery();
    const auto exchange =
        studio.renderer.share(std::make_shared<Stage>(maker.stage), TransportKind::exported);
    std::size_t end = 0;
    for (int slot = 0; slot < 3; ++slot)
        for (const SharedMemory& shared : exchange->slot(slot)) {
            CHECK(shared.host == nullptr);
            CHECK(::fcntl(shared.descriptor, F_GETFD) >= 0);
            CHECK(shared.device_uuid == studio.context.facts().uuid);
            CHECK(shared.offset % 256 == 0);
            CHECK(shared.offset >= end);  // none overlaps another
            end = shared.offset + shared.bytes;
            CHECK(end <= shared.exported_bytes);
        }
}

TEST_CASE("transports: only staging copies on the host, and counts it") {
    Studio studio;
    const StageMaker maker = particle_gallery(1000);
    const View view = plain_view();
    for (const TransportKind kind :
         {TransportKind::imported, TransportKind::mapped, TransportKind::staging}) {
        const auto before = studio.renderer.counters().host_bytes_copied;
        const auto exchange = studio.show(maker, kind);
        for (int k = 0; k < 3; ++k) {
            publish(*exchange, maker);
            studio.renderer.draw(view);
        }
        const auto copied = studio.renderer.counters().host_bytes_copied - before;
        CHECK((copied > 0) == (kind == TransportKind::staging));
        if (kind == TransportKind::staging) CHECK(copied >= sizeof(float) * 3 * 1000 * 4);
    }
}

TEST_CASE("transports: chosen by what works, for a processor and for CUDA on the same device") {
    Studio studio;
    const StageMaker maker = solid_gallery();
    const auto stage = std::make_shared<Stage>(maker.stage);
    const auto& facts = studio.context.facts();
    CHECK(studio.renderer.share(stage, {})->kind() ==
          (facts.host_import ? TransportKind::imported : TransportKind::mapped));
    if (facts.memory_export)
        CHECK(studio.renderer.share(stage, {}, facts.uuid)->kind() == TransportKind::exported);
    auto other = facts.uuid;
    other[0] ^= 1;
    CHECK(studio.renderer.share(stage, {}, other)->kind() != TransportKind::exported);
}

TEST_CASE("transports: a writer never waits, never gets what is drawn, and the newest is drawn") {
    Studio studio;
    StageMaker maker;
    maker.stage.dimension = 2;
    maker.points(maker.channel("position", 2, {0, 0}), 1, 0.1);
    const auto exchange = studio.show(maker);
    const View view = plane_view(maker, 64, 64, 2);
    studio.renderer.draw(view);
    const int drawn = studio.renderer.frame()->slot;
    for (int k = 0; k < 5; ++k) {
        maker.channels[0] = {0.1 * k, 0};
        publish(*exchange, maker, k);
        CHECK(exchange->begin() != drawn);
    }
    CHECK(studio.renderer.draw(view));
    CHECK(studio.renderer.frame()->time == 4);
    CHECK_FALSE(pixel(studio.renderer.read_image(), 32 + 13, 32).black());
    // Nothing new: nothing is submitted.
    const auto before = studio.context.submitted();
    CHECK_FALSE(studio.renderer.draw(view));
    CHECK(studio.context.submitted() == before);
}

TEST_CASE("transports: frames written on another thread while they are drawn are never torn") {
    Studio studio;
    StageMaker maker;
    maker.stage.dimension = 2;
    constexpr std::size_t count = 400;
    const int position = maker.channel("position", 2, std::vector<double>(2 * count, 0.0));
    // All at one place: a torn frame would show two. Whole pixels lie between the places, and
    // more than a point is wide.
    maker.points(position, count, 0.05).color = {1, 1, 1, 1};
    const auto exchange = studio.show(maker);
    const View view = plane_view(maker, 64, 64, 2);
    const int area = count_drawn((studio.renderer.draw(view), studio.renderer.read_image()));
    std::atomic<bool> stop = false;
    std::jthread writer([&] {
        for (int k = 0; !stop; ++k) {
            for (std::size_t i = 0; i < count; ++i) maker.channels[0][2 * i] = 0.125 * (k % 7 - 3);
            publish(*exchange, maker, k);
        }
    });
    for (int k = 0; k < 40; ++k)
        if (studio.renderer.draw(view)) CHECK(count_drawn(studio.renderer.read_image()) == area);
    stop = true;
}

namespace {

// Slots without memory, and a semaphore that the test raises.
class Counted final : public Exchange {
public:
    TransportKind kind() const override { return TransportKind::exported; }
    const Stage& stage() const override { return stage_; }
    const std::vector<SharedMemory>& slot(int) const override { return none_; }
    std::uint64_t raised() const override { return value; }
    std::atomic<std::uint64_t> value = 0;

    // Publishes the next step, which is complete at the value; 0: at once.
    int put(std::uint64_t ready) {
        Frame frame;
        frame.slot = begin();
        frame.step = ++steps_;
        frame.ready = ready;
        const int slot = frame.slot;
        publish(std::move(frame));
        return slot;
    }

private:
    Stage stage_;
    std::vector<SharedMemory> none_;
    std::int64_t steps_ = 0;
};

}  // namespace

TEST_CASE(
    "transports: frames that the device has not completed are neither shown nor overwritten") {
    Counted exchange;
    CHECK_FALSE(exchange.acquire());
    const int first = exchange.put(1);
    CHECK(exchange.expects());
    CHECK(exchange.serial() == 0);
    CHECK_FALSE(exchange.acquire());
    exchange.value = 1;
    CHECK(exchange.acquire()->step == 1);
    const int second = exchange.put(2);
    const int third = exchange.put(3);
    CHECK(std::set{first, second, third}.size() == 3);
    CHECK(exchange.full());
    CHECK(exchange.acquire()->step == 1);
    exchange.value = 2;  // the reader still draws the first: now the second is the latest
    CHECK(exchange.full());
    CHECK(exchange.serial() == 2);
    CHECK(exchange.acquire()->step == 2);  // and gives that back
    CHECK_FALSE(exchange.full());
    CHECK(exchange.put(4) == first);
    exchange.value = 4;  // both at once: the newest is shown, the other one's slot is free
    CHECK_FALSE(exchange.full());
    CHECK(exchange.begin() == third);
    CHECK(exchange.acquire()->step == 4);
    CHECK_FALSE(exchange.expects());
    CHECK(exchange.serial() == 4);
}

TEST_CASE("transports: a writer that waits for its device completes all that was published") {
    Counted exchange;
    exchange.put(1);
    exchange.put(2);
    exchange.put(3);
    CHECK(exchange.full());
    exchange.settle();
    CHECK_FALSE(exchange.full());
    CHECK(exchange.acquire()->step == 3);
    exchange.put(4);
    exchange.put(0);  // the device was synchronized
    CHECK_FALSE(exchange.expects());
    CHECK(exchange.acquire()->step == 5);
}

TEST_CASE("transports: who keeps a picture waits for the frame that is on its way") {
    Counted exchange;
    exchange.put(1);
    std::jthread device([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        exchange.value = 1;
    });
    exchange.await();
    CHECK(exchange.acquire()->step == 1);
}

TEST_CASE("transports: their names, and a word that is none") {
    for (const TransportKind kind : all_kinds) CHECK(*transport_named(name_of(kind)) == kind);
    CHECK_FALSE(transport_named("auto"));
    CHECK_THROWS_AS(transport_named("pigeon"), Error);
}

TEST_CASE("transports: memory that the solver still holds outlives renderer and device") {
    SharedMemory kept;
    {
        VulkanContext context(validated_options());
        Renderer renderer(context);
        const StageMaker maker = solid_gallery();
        const auto exchange =
            renderer.share(std::make_shared<Stage>(maker.stage), TransportKind::mapped);
        publish(*exchange, maker);
        renderer.draw(plain_view());
        kept = exchange->slot(0)[0];
    }
    std::memset(kept.host, 1, kept.bytes);
    kept = {};
    check_silent();
}
