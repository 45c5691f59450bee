// Frames into memory that was exported to a CUDA device (the driver in software), and trails.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "tests/session/support.hpp"
#include "tests/support/software_cuda.hpp"

using namespace hindcast;
using test::OpenScene;
using namespace session;

namespace {

// Three slots in memory files as Mesa's software device exports them: a page, then the memory.
class ExportedExchange final : public render::Exchange {
public:
    ExportedExchange(std::shared_ptr<const render::Stage> stage,
                     const std::array<std::uint8_t, 16>& device)
        : stage_(std::move(stage)) {
        for (std::size_t s = 0; s < 3; ++s) {
            std::size_t bytes = 0;
            for (const render::Channel& channel : stage_->channels) {
                render::SharedMemory memory;
                memory.offset = bytes;
                memory.bytes = channel.bytes(stage_->real);
                bytes += (memory.bytes + 255) / 256 * 256;
                slots_[s].push_back(memory);
            }
            const int descriptor = ::memfd_create("slot", MFD_CLOEXEC);
            REQUIRE(::ftruncate(descriptor, static_cast<off_t>(page + bytes)) == 0);
            mapped_[s] = static_cast<std::byte*>(
                ::mmap(nullptr, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
            sizes_[s] = page + bytes;
            for (render::SharedMemory& memory : slots_[s]) {
                memory.descriptor = descriptor;
                memory.exported_bytes = bytes;
                memory.device_uuid = device;
            }
        }
    }
    ~ExportedExchange() override {
        for (std::size_t s = 0; s < 3; ++s) {
            ::munmap(mapped_[s], sizes_[s]);
            ::close(slots_[s].front().descriptor);
        }
    }
    ExportedExchange(const ExportedExchange&) = delete;
    ExportedExchange& operator=(const ExportedExchange&) = delete;
    render::TransportKind kind() const override { return render::TransportKind::exported; }
    const render::Stage& stage() const override { return *stage_; }
    const std::vector<render::SharedMemory>& slot(int slot) const override {
        return slots_[static_cast<std::size_t>(slot)];
    }
    std::vector<float> read(const render::Frame& frame, std::size_t channel) const {
        const auto s = static_cast<std::size_t>(frame.slot);
        const render::SharedMemory& memory = slots_[s][channel];
        std::vector<float> numbers(memory.bytes / 4);
        std::memcpy(numbers.data(), mapped_[s] + page + memory.offset, memory.bytes);
        return numbers;
    }

private:
    static constexpr std::size_t page = 4096;
    std::shared_ptr<const render::Stage> stage_;
    std::array<std::vector<render::SharedMemory>, 3> slots_;
    std::array<std::byte*, 3> mapped_{};
    std::array<std::size_t, 3> sizes_{};
};

}  // namespace

TEST_CASE("session: frames go to memory of a CUDA device, by no way of the host") {
    NEEDS_SOFTWARE_CUDA();
    const test::Software software("");
    SessionOptions options = OpenScene::options(64 << 20);
    options.simulation.device = test::fresh_device();
    OpenScene scene(test::scene_file("spring_cage.json"), options);
    const auto snapshot = scene.wait_complete();
    REQUIRE(snapshot->cuda_uuid);
    auto exported = std::make_shared<ExportedExchange>(snapshot->stage, *snapshot->cuda_uuid);
    const auto frame_at = [&](std::int64_t step) {
        std::optional<render::Frame> frame;
        scene.wait([&](const Snapshot& s) {
            frame = exported->acquire();
            return s.error || (frame && frame->step == step);
        });
        REQUIRE(frame);
        REQUIRE(frame->step == step);
        return *frame;
    };

    for (const char* const colour : {"", "speed", "cage.stiffness"}) {
        scene.session.send(Look{colour, "velocity"});
        for (const std::int64_t step : {0, 17, 30}) {
            scene.session.send(ShowOn{scene.exchange});
            scene.session.send(Seek{step});
            const render::Frame plain = scene.frame_at(step);
            scene.session.send(ShowOn{exported});
            const render::Frame frame = frame_at(step);
            for (std::size_t c = 0; c < snapshot->stage->channels.size(); ++c) {
                const std::vector<float> numbers = exported->read(frame, c);
                const auto expected =
                    scene.exchange->read(plain, snapshot->stage->channels[c].name);
                CAPTURE(snapshot->stage->channels[c].name);
                REQUIRE(numbers.size() == expected.size());
                for (std::size_t k = 0; k < numbers.size(); ++k)  // NaN: not shown
                    CHECK((std::isnan(expected[k]) ? std::isnan(numbers[k])
                                                   : numbers[k] == expected[k]));
            }
        }
    }
    frame_at(30);
    const long long to_host = software.count("copied_to_host_bytes");
    const long long to_device = software.count("copies_to_device");
    for (std::int64_t step = 0; step < 30; ++step) {
        scene.session.send(Seek{step});
        frame_at(step);
    }
    CHECK(software.count("copied_to_host_bytes") == to_host);
    CHECK(software.count("copies_to_device") == to_device);
}

TEST_CASE("session: frames do not go to memory of another GPU than the solver's") {
    NEEDS_SOFTWARE_CUDA();
    SessionOptions options = OpenScene::options(64 << 20);
    options.simulation.device = test::fresh_device();
    OpenScene scene(test::scene_file("spring_cage.json"), options);
    const auto snapshot = scene.wait_complete();
    std::array<std::uint8_t, 16> other = *snapshot->cuda_uuid;
    ++other[3];
    scene.session.send(ShowOn{std::make_shared<ExportedExchange>(snapshot->stage, other)});
    const auto refused = scene.wait([](const Snapshot& s) { return s.error != nullptr; });
    CHECK(std::string(refused->error->what()).find("another GPU") != std::string::npos);
}

TEST_CASE("session: trails are the ways of points up to the step that is shown") {
    OpenScene scene(test::scene_file("spring_cage.json"));
    scene.wait_complete();
    scene.session.send(Look{"", "", true});
    scene.session.send(Seek{12});
    const auto snapshot =
        scene.wait([](const Snapshot& s) { return s.trails && s.trails->front().size() == 13; });
    CHECK(snapshot->trails->size() == 9);
    const auto places = scene.exchange->read(scene.frame_at(12), "position");
    CHECK(snapshot->trails->front().back() == render::Vec3{places[0], places[1], places[2]});
    scene.session.send(Look{});
    scene.wait([](const Snapshot& s) { return s.trails == nullptr; });
}
